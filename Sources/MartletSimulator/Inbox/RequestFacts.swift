// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import Synchronization

/// The rule and the severity of a finding, without its message.
struct FindingMark: Sendable, Hashable {
    let rule: String
    let severity: PushLint.Severity

    init(_ finding: PushLint.Finding) {
        rule = finding.rule
        severity = finding.severity
    }
}

/// The facts of a push that depend only on the request, which never changes: they are determined for the first list or
/// query that needs them, and shared by all copies of the push.
final class RequestFacts: Sendable {
    private struct Facts {
        var marks: [FindingMark]?
        var visibleUntil: Int64?
    }

    private let facts = Mutex(Facts())

    /// Returns the marks of the findings about the request, which `evaluate` determines once.
    func marks(_ evaluate: () -> [FindingMark]) -> [FindingMark] {
        if let known = facts.withLock({ $0.marks }) { return known }
        let evaluated = evaluate()
        facts.withLock { $0.marks = evaluated }
        return evaluated
    }

    /// Returns the time before which a delivery makes the push visible, in milliseconds since 1970, which `evaluate`
    /// determines once.
    func visibleUntil(_ evaluate: () -> Int64) -> Int64 {
        if let known = facts.withLock({ $0.visibleUntil }) { return known }
        let evaluated = evaluate()
        facts.withLock { $0.visibleUntil = evaluated }
        return evaluated
    }
}

extension RequestFacts: Hashable {
    /// Returns true: the facts follow from the other properties of a push.
    static func == (left: RequestFacts, right: RequestFacts) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

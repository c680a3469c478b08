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
        var isVisible: Bool?
    }

    private let facts = Mutex(Facts())

    /// Returns the marks of the findings about the request, which `evaluate` determines once.
    func marks(_ evaluate: () -> [FindingMark]) -> [FindingMark] {
        if let known = facts.withLock({ $0.marks }) { return known }
        let evaluated = evaluate()
        facts.withLock { $0.marks = evaluated }
        return evaluated
    }

    /// Returns whether a phone shows a notification for the push, which `evaluate` determines once.
    func isVisible(_ evaluate: () -> Bool) -> Bool {
        if let known = facts.withLock({ $0.isVisible }) { return known }
        let evaluated = evaluate()
        facts.withLock { $0.isVisible = evaluated }
        return evaluated
    }
}

extension RequestFacts: Hashable {
    /// Returns true: the facts follow from the other properties of a push.
    static func == (left: RequestFacts, right: RequestFacts) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

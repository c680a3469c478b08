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

/// The marks of those findings of a push that depend only on the request, which never changes: they are evaluated for
/// the first list or query that needs them, and shared by all copies of the push.
final class FindingMarks: Sendable {
    private let marks = Mutex<[FindingMark]?>(nil)

    /// Returns the marks, which `evaluate` determines once.
    func value(_ evaluate: () -> [FindingMark]) -> [FindingMark] {
        if let known = marks.withLock({ $0 }) { return known }
        let evaluated = evaluate()
        marks.withLock { $0 = evaluated }
        return evaluated
    }
}

extension FindingMarks: Hashable {
    /// Returns true: the marks follow from the other properties of a push.
    static func == (left: FindingMarks, right: FindingMarks) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

// SPDX-License-Identifier: Apache-2.0

/// The precedence of a push among the waiting pushes of its lane: `apns-priority` in three classes, and behind them the
/// pushes of jobs.
package enum Urgency: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Priority 10, also for a push without a priority, which APNs treats the same.
    case immediate
    /// Priority 5.
    case powerAware
    /// Priority 1.
    case powerFirst
    /// A push of a job, whatever its priority, so that a job does not delay pushes that are sent singly.
    case job

    /// Creates the class for a value of `apns-priority` of a push that is sent singly.
    package init(priority: String?) {
        self =
            switch priority {
            case "1": .powerFirst
            case "5": .powerAware
            default: .immediate
            }
    }

    /// Returns whether an urgency precedes another.
    package static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
}

// SPDX-License-Identifier: Apache-2.0

/// The precedence of a push among the waiting pushes of its lane: `apns-priority` in three classes.
package enum Urgency: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Priority 10, also for a push without a priority, which APNs treats the same.
    case immediate
    /// Priority 5.
    case powerAware
    /// Priority 1.
    case powerFirst

    /// Creates the class for a value of `apns-priority`.
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

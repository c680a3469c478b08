// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The budget of an installation, for all of its surfaces.
struct InstallationBudget: Sendable, Hashable {
    var activities: ActivityBudget
    /// Whether the user allows frequent updates of Live Activities.
    private var isFrequent: Bool

    /// Creates a full budget.
    ///
    /// - Parameters:
    ///   - installation: The installation.
    ///   - now: The time in seconds since 1970.
    init(of installation: Installation, at now: Int64) {
        isFrequent = installation.allowsFrequentUpdates
        activities = ActivityBudget(allowsFrequentUpdates: isFrequent, at: now)
    }

    /// Changes the budget when the app has reported another permission of frequent updates.
    mutating func update(for installation: Installation, at now: Int64) {
        guard installation.allowsFrequentUpdates != isFrequent else { return }
        isFrequent = installation.allowsFrequentUpdates
        activities.allowFrequentUpdates(isFrequent, at: now)
    }
}

extension Installation {
    fileprivate var allowsFrequentUpdates: Bool { permissions[.frequentUpdates] ?? false }
}

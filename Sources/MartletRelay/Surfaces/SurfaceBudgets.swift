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

/// The budgets of the installations whose surfaces changed last, by ``StoredInstallation/number``.
///
/// They are not stored: after a restart, and when very many installations are active, a budget is full again.
struct SurfaceBudgets {
    /// The number of budgets after which the older ones are dropped; at most twice as many are kept.
    private let limit: Int
    private var recent: [Int64: InstallationBudget] = [:]
    private var older: [Int64: InstallationBudget] = [:]

    /// Creates budgets without entries.
    init(limit: Int = 50_000) {
        self.limit = limit
    }

    /// Returns the budget of an installation; nil if it is not known, which means that it is full.
    subscript(installation: Int64) -> InstallationBudget? { recent[installation] ?? older[installation] }

    /// Stores the budgets of installations.
    mutating func store(_ budgets: [Int64: InstallationBudget]) {
        for (installation, budget) in budgets {
            older[installation] = nil
            recent[installation] = budget
        }
        guard recent.count >= limit else { return }
        older = recent
        recent = [:]
    }
}

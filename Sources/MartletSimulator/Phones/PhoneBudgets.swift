// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The budgets of one app on a phone, in milliseconds.
struct PhoneBudgets: Sendable {
    /// The push starts.
    var starts: Allowance
    /// The updates with priority 10.
    var updates: Allowance
    /// The background pushes.
    var backgroundPushes: Allowance
    private let limits: SimulatedPhone.Limits
    private var reloads: Allowance
    private var reloadedAt: Int64?

    init(_ limits: SimulatedPhone.Limits, allowsFrequentUpdates: Bool, at now: Int64) {
        self.limits = limits
        starts = Allowance(limits.starts, interval: limits.startInterval.clampedMilliseconds, at: now)
        updates = PhoneBudgets.updates(limits, allowsFrequentUpdates, at: now)
        reloads = PhoneBudgets.allowance(limits.widgetReloadsPerDay, in: 86_400_000, at: now)
        backgroundPushes = PhoneBudgets.allowance(limits.backgroundPushesPerHour, in: 3_600_000, at: now)
    }

    private static func allowance(_ count: Int, in time: Int64, at now: Int64) -> Allowance {
        Allowance(count, interval: time / Int64(max(1, count)), at: now)
    }

    private static func updates(_ limits: SimulatedPhone.Limits, _ areFrequent: Bool, at now: Int64) -> Allowance {
        allowance(areFrequent ? limits.frequentUpdatesPerHour : limits.updatesPerHour, in: 3_600_000, at: now)
    }

    /// Gives updates the budget that a setting allows.
    mutating func allowFrequentUpdates(_ isAllowed: Bool, at now: Int64) {
        updates = PhoneBudgets.updates(limits, isAllowed, at: now)
    }

    /// Takes a reload of the widgets; returns false when none is left, and too early after the last.
    mutating func takeReload(at now: Int64) -> Bool {
        let isEarly = reloadedAt.map { now - $0 < limits.widgetReloadInterval.clampedMilliseconds } ?? false
        guard !isEarly, reloads.take(at: now) else { return false }
        reloadedAt = now
        return true
    }
}

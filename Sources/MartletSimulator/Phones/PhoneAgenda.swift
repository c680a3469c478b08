// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The actions that a phone will take by itself, in the order of their times, without I/O or a clock.
struct PhoneAgenda: Sendable {
    /// An action; one whose subject no longer exists has no effect.
    enum Action: Sendable {
        /// The phone takes a push that it delayed.
        case take(DeliveredPush)
        /// The system issues the update token of an activity.
        case issueToken(Int)
        /// The screen shows the newest content of an activity.
        case render(Int)
        /// The system ends an activity because of its age.
        case expire(Int)
        /// The card of an ended activity disappears.
        case remove(Int)
        /// The system may replace a token.
        case rotate(PhoneTokens.Purpose, DeviceToken)
    }

    /// The actions, the next one last.
    private var entries: [(time: Int64, action: Action)] = []

    /// The time of the next action in milliseconds since 1970; nil for none.
    var nextTime: Int64? { entries.last?.time }

    /// Adds an action after those of the same time.
    mutating func schedule(_ action: Action, at time: Int64) {
        let later = entries.firstIndex { $0.time <= time } ?? entries.endIndex
        entries.insert((time, action), at: later)
    }

    /// Removes and returns the next action that is due at a time; nil for none.
    mutating func next(by time: Int64) -> (time: Int64, action: Action)? {
        guard let next = entries.last, next.time <= time else { return nil }
        return entries.removeLast()
    }
}

/// The budgets of one app on a phone, in milliseconds.
struct PhoneBudgets: Sendable {
    private let limits: SimulatedPhone.Limits
    private var starts: Allowance
    private var updates: Allowance
    private var reloads: Allowance
    private var backgroundPushes: Allowance
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

    /// Takes a push start; returns false when none is left.
    mutating func takeStart(at now: Int64) -> Bool { starts.take(at: now) }

    /// Takes an update with priority 10; returns false when none is left.
    mutating func takeUpdate(at now: Int64) -> Bool { updates.take(at: now) }

    /// Takes a background push; returns false when none is left.
    mutating func takeBackgroundPush(at now: Int64) -> Bool { backgroundPushes.take(at: now) }

    /// Takes a reload of the widgets; returns false when none is left, and too early after the last.
    mutating func takeReload(at now: Int64) -> Bool {
        let isEarly = reloadedAt.map { now - $0 < limits.widgetReloadInterval.clampedMilliseconds } ?? false
        guard !isEarly, reloads.take(at: now) else { return false }
        reloadedAt = now
        return true
    }
}

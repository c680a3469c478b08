// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The limits and intervals of Live Activities, in seconds.
///
/// "Displaying live data with Live Activities": an activity is active for at most eight hours and stays on the Lock
/// Screen for at most four more. Apple publishes no numbers for the budgets; these stay below what applications have
/// observed.
struct ActivityPolicy: Sendable, Hashable {
    /// The longest time that a card is on the phone after its start.
    var longestLife: Int64 = 12 * 3600
    /// The age at which a card is replaced by a new one, before the system ends it after eight hours.
    var restartAfter: Int64 = 27_000
    /// The minimum interval between updates that are not urgent.
    var updateInterval: Int64 = 15
    /// The minimum interval between urgent updates.
    ///
    /// Timestamps are whole seconds and rise with each update: without an interval they would run ahead of the clock.
    var urgentInterval: Int64 = 1
    /// The time after an update from which the card is marked as outdated.
    var staleAfter: Int64 = 7_200
    /// The lead with which the content is sent again before it is outdated.
    var refreshLead: Int64 = 300
    /// The time for which APNs stores a start for a phone that is offline, as its `apns-expiration` says.
    var startExpiration: Int64 = 600
    /// The time after an accepted start in which a phone that is online has joined the channel of the card.
    var joinTime: Int64 = 5
    /// The time after a change in which a start with the content before may reach a phone that was offline; then the
    /// change is broadcast again.
    var lateStart: Int64 = 660
    /// The time after an accepted start in which the token of the card usually arrives; urgent changes after that are
    /// sent as alerts.
    var tokenWait: Int64 = 300
    /// The time after a report in which the app usually has reported all of its activities.
    var reportDelay: Int64 = 60
    /// The number of updates with priority 10 per hour, without and with frequent updates.
    var urgentUpdatesPerHour = 12
    var frequentUrgentUpdatesPerHour = 120
    /// The number of starts that an installation may have at once, and the time after which it may have another.
    var startLimit = 6
    var startInterval: Int64 = 7_200
    /// The number of cards of an installation that may be ended at once, and the time after which another one may be.
    ///
    /// An app has few: only one that reports cards it does not have reaches the limit.
    var endLimit = 32
    var endInterval: Int64 = 60
}

/// The starts, urgent updates and ends that the Live Activities of an installation may still have.
///
/// Apple limits updates with priority 10 per hour, and starts by push per app and device.
struct ActivityBudget: Sendable, Hashable {
    private let policy: ActivityPolicy
    private var starts: Allowance
    private var updates: Allowance
    private var ends: Allowance

    init(_ policy: ActivityPolicy = ActivityPolicy(), allowsFrequentUpdates: Bool = false, at now: Int64) {
        self.policy = policy
        starts = Allowance(policy.startLimit, interval: policy.startInterval, at: now)
        updates = ActivityBudget.updates(policy, allowsFrequentUpdates, at: now)
        ends = Allowance(policy.endLimit, interval: policy.endInterval, at: now)
    }

    /// Changes the budget of updates when the user allows frequent updates, for which the app declares
    /// `NSSupportsLiveActivitiesFrequentUpdates`, or no longer allows them.
    mutating func allowFrequentUpdates(_ isAllowed: Bool, at now: Int64) {
        updates = ActivityBudget.updates(policy, isAllowed, at: now)
    }

    private static func updates(_ policy: ActivityPolicy, _ areFrequent: Bool, at now: Int64) -> Allowance {
        let count = max(1, areFrequent ? policy.frequentUrgentUpdatesPerHour : policy.urgentUpdatesPerHour)
        return Allowance(count, interval: 3600 / Int64(count), at: now)
    }

    /// Takes one start from the budget; returns false when none is left.
    mutating func takeStart(at now: Int64) -> Bool { starts.take(at: now) }

    /// Takes one update with priority 10 from the budget; returns false when none is left.
    mutating func takeUpdate(at now: Int64) -> Bool { updates.take(at: now) }

    /// Takes the end of one card from the budget; returns false when none is left.
    mutating func takeEnd(at now: Int64) -> Bool { ends.take(at: now) }
}

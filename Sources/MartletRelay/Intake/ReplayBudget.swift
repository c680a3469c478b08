// SPDX-License-Identifier: Apache-2.0

/// A limit for the replays of stored events by each caller.
///
/// A replay of all stored events takes about 0.4 seconds of CPU time.
struct ReplayBudget {
    /// The number of replays that a caller may begin at once: one for each of its event streams.
    static let burst = OutcomeEvents.listenersPerCaller
    /// The time after which a caller may begin one more replay, in milliseconds.
    static let interval: Int64 = 3_000

    /// The time at which all replays of each caller are available again, in milliseconds since 1970.
    private var recoveries: [String: Int64] = [:]

    /// Counts a replay; returns nil when the caller may begin it, else the seconds until it may.
    mutating func take(for caller: String, at now: Int64) -> Int? {
        let longest = Int64(ReplayBudget.burst) * ReplayBudget.interval
        // A clock that was set back must not keep a caller waiting for longer than a full recovery.
        let recovery = min(max(now, recoveries[caller] ?? now), now + longest)
        recoveries = recoveries.filter { $0.value > now }
        recoveries[caller] = recovery
        let wait = recovery + ReplayBudget.interval - now - longest
        guard wait <= 0 else { return Int((wait + 999) / 1_000) }
        recoveries[caller] = recovery + ReplayBudget.interval
        return nil
    }
}

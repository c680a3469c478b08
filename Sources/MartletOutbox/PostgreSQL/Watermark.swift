// SPDX-License-Identifier: Apache-2.0

/// The start of the search for due pushes of one urgency of a lane.
///
/// Claimed pushes leave dead rows in the database, which a claim should not read each time.
struct Watermark {
    /// The range before the frontier that is searched again at intervals, in milliseconds, because pushes are not
    /// committed in the order of their times and clocks differ.
    static let lookBack: Int64 = 2_000
    private static let interval = Duration.milliseconds(250)

    /// The time up to which all pushes have been claimed, except those that were committed late.
    private var frontier = Int64.min
    private var nextLookBack = ContinuousClock.now
    /// The earliest due time of the pushes that this node has made due since the last claim.
    private var earliestOwn = Int64.max

    /// Returns the start of the next claim's range.
    mutating func startOfClaim(at clock: ContinuousClock.Instant) -> Int64 {
        defer { earliestOwn = .max }
        return min(startOfPoll(at: clock), earliestOwn)
    }

    /// Returns the start of the next poll's range.
    mutating func startOfPoll(at clock: ContinuousClock.Instant) -> Int64 {
        guard clock >= nextLookBack else { return frontier }
        nextLookBack = clock + Watermark.interval
        return frontier < .min + Watermark.lookBack ? .min : frontier - Watermark.lookBack
    }

    mutating func recordPush(due time: Int64) { earliestOwn = min(earliestOwn, time) }

    /// Records that all pushes up to a time have been claimed.
    mutating func advance(to time: Int64) { frontier = max(frontier, time) }

    /// Makes the next search include ``lookBack``, because a push may have been committed late.
    mutating func expectLatePushes() { nextLookBack = .now }

    /// Makes the next claim search all times, because a push was committed very late.
    mutating func searchAllTimes() { self = Watermark() }
}

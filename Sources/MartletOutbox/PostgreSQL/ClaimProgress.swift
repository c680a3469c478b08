// SPDX-License-Identifier: Apache-2.0

/// The progress of this node's claims: the pushes that it has claimed, and the start of the next search in each queue.
struct ClaimProgress {
    /// A queue with the start of a search for due pushes.
    struct Search {
        var key: LaneQueue
        var start: Int64
    }

    /// The maximum number of queues in one poll.
    private static let maximumQueues = 4_096
    /// The time for which the server may finish a claim whose connection was lost.
    private static let lostClaimTime = Duration.seconds(120)

    /// The numbers of pushes that are claimed and not settled, each with the number of its claim.
    private var claimed: [Int64: Int64] = [:]
    /// The number of the last claim.
    private var lastClaim: Int64 = 0
    /// The number of claims without a result.
    private var pendingClaims = 0
    /// The time until which the server may still finish a claim whose connection was lost.
    private var lostClaimsUntil: ContinuousClock.Instant?
    private var watermarks: [LaneQueue: Watermark] = [:]
    /// The time that a caller passed last.
    private var latestTime = Int64.min / 2

    // MARK: Claims

    /// Begins a claim; returns its number and the start of its search.
    mutating func beginClaim(of key: LaneQueue, at clock: ContinuousClock.Instant) -> (number: Int64, start: Int64) {
        pendingClaims += 1
        lastClaim += 1
        return (lastClaim, watermarks[key, default: Watermark()].startOfClaim(at: clock))
    }

    /// Records that a claim that was begun has ended, whether or not it succeeded.
    mutating func endClaim() { pendingClaims -= 1 }

    /// Records the pushes of a claim, which has claimed all pushes that were due up to a time.
    mutating func recordClaim(_ pushes: some Sequence<ClaimedPush>, of key: LaneQueue, through time: Int64) {
        for push in pushes { claimed[push.number] = push.claim }
        watermarks[key]?.advance(to: time)
    }

    /// Records that the results of pushes have been stored.
    mutating func recordSettled(_ settlements: some Sequence<Settlement>, at now: Int64) {
        for settlement in settlements where claimed[settlement.number] == settlement.claim {
            claimed[settlement.number] = nil
        }
        // Pushes that waited behind those that have ended are due now.
        recordPushes(due: now)
    }

    /// Forgets the claims of this node, which other nodes have taken over.
    mutating func loseClaims() { claimed = [:] }

    /// Records that the connection of claims was opened again: the results of some claims may be lost.
    mutating func recordReconnection(at clock: ContinuousClock.Instant) {
        lostClaimsUntil = clock.advanced(by: Self.lostClaimTime)
    }

    /// Returns the numbers of the claims with claimed pushes while claims whose results were lost must be released; nil
    /// otherwise.
    ///
    /// Nil while a claim is under way, too, as its pushes are not known yet. The server may notice the lost connection
    /// late, and finish a claim, so the release is repeated for two minutes.
    func claimsToKeep(at clock: ContinuousClock.Instant) -> Set<Int64>? {
        guard pendingClaims == 0, let lostClaimsUntil, clock < lostClaimsUntil else { return nil }
        return Set(claimed.values)
    }

    // MARK: Times

    /// Searches earlier times again when the clock was set back, because new pushes are due before those already
    /// claimed.
    mutating func recordTime(_ now: Int64) {
        if now < latestTime - Watermark.lookBack {
            searchAllTimes()
        } else if now < latestTime {
            for key in watermarks.keys { watermarks[key]?.expectLatePushes() }
        }
        latestTime = now
    }

    /// Records that this node has made pushes due at a time.
    ///
    /// All watermarks are updated, which costs less than finding the lanes concerned.
    mutating func recordPushes(due now: Int64) {
        for key in watermarks.keys { watermarks[key]?.recordPush(due: now) }
    }

    /// Makes the next search of each queue find pushes of all times.
    mutating func searchAllTimes() { watermarks = watermarks.mapValues { _ in Watermark() } }

    // MARK: Polls

    /// Whether this node has claimed from any queue.
    var hasQueues: Bool { !watermarks.isEmpty }

    /// Returns the searches of a poll; a complete poll searches all times.
    mutating func searches(isComplete: Bool, at clock: ContinuousClock.Instant) -> [Search] {
        watermarks.keys.prefix(Self.maximumQueues).map { key in
            Search(key: key, start: isComplete ? .min : watermarks[key]?.startOfPoll(at: clock) ?? .min)
        }
    }

    /// Records that a poll has found due pushes in a queue, so that the next claim searches the same times.
    mutating func recordDuePushes(in key: LaneQueue, isComplete: Bool) {
        if isComplete { watermarks[key]?.searchAllTimes() } else { watermarks[key]?.expectLatePushes() }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletOutbox

/// The decisions about claims and polls of a shared outbox, without a database.
@Suite struct ClaimProgressTests {
    private let key = LaneQueue(lane: .orders, urgency: .immediate)
    /// A time after the creation of every watermark of a test.
    private let now = ContinuousClock.now + .seconds(3_600)

    /// Returns the start of the next claim's search, of a claim that finds nothing.
    private func start(_ progress: inout ClaimProgress, at clock: ContinuousClock.Instant) -> Int64 {
        defer { progress.endClaim() }
        return progress.beginClaim(of: key, at: clock).start
    }

    /// Returns claimed pushes by their numbers.
    private func pushes(_ numbers: Int64..., claim: Int64 = 1) throws -> [ClaimedPush] {
        try numbers.map { number in
            let push = try OutboxPush.numbered(UInt64(number))
            var claimed = ClaimedPush(number: number, push: push, acceptedAt: 0, attempts: 0, unknownTries: 0)
            claimed.claim = claim
            return claimed
        }
    }

    @Test func `a claim searches from the last one, or two seconds before it`() throws {
        var progress = ClaimProgress()
        #expect(start(&progress, at: now) == .min)
        progress.recordClaim(try pushes(1, 2), of: key, through: 10_000)
        #expect(start(&progress, at: now) == 10_000)
        #expect(start(&progress, at: now + .milliseconds(250)) == 8_000)
        #expect(start(&progress, at: now + .milliseconds(251)) == 10_000)
    }

    @Test func `an earlier push of this node is found by the next claim`() throws {
        var progress = ClaimProgress()
        _ = start(&progress, at: now)
        progress.recordClaim(try pushes(1), of: key, through: 10_000)
        progress.recordPushes(due: 9_500)
        #expect(start(&progress, at: now) == 9_500)
        #expect(start(&progress, at: now) == 10_000)
        progress.recordSettled(try pushes(1).map(\.ended), at: 9_900)
        #expect(start(&progress, at: now) == 9_900)
    }

    @Test func `a clock that was set back makes claims search earlier times`() {
        var progress = ClaimProgress()
        _ = start(&progress, at: now)
        progress.recordClaim([], of: key, through: 10_000)
        progress.recordTime(10_000)
        progress.recordTime(9_999)
        #expect(start(&progress, at: .now) == 8_000)
        progress.recordTime(7_000)
        #expect(start(&progress, at: .now) == .min)
    }

    @Test func `claims with lost results are released for two minutes`() throws {
        var progress = ClaimProgress()
        #expect(progress.claimsToKeep(at: now) == nil)
        progress.recordReconnection(at: now)
        #expect(progress.beginClaim(of: key, at: now).number == 1)
        #expect(progress.claimsToKeep(at: now) == nil)
        progress.recordClaim(try pushes(1, 2), of: key, through: 1_000)
        progress.endClaim()
        #expect(progress.claimsToKeep(at: now) == [1])
        #expect(progress.beginClaim(of: key, at: now).number == 2)
        progress.recordClaim(try pushes(2, 3, claim: 2), of: key, through: 1_000)
        progress.endClaim()
        // The first result of the second push is stored once more.
        progress.recordSettled(try pushes(1, 2).map(\.ended), at: 1_000)
        #expect(progress.claimsToKeep(at: now + .seconds(119)) == [2])
        #expect(progress.claimsToKeep(at: now + .seconds(120)) == nil)
        progress.loseClaims()
        #expect(progress.claimsToKeep(at: now) == [])
    }

    @Test func `a poll searches the queues that were claimed from, and a complete poll all times`() {
        var progress = ClaimProgress()
        #expect(!progress.hasQueues)
        _ = start(&progress, at: now)
        progress.recordClaim([], of: key, through: 10_000)
        #expect(progress.hasQueues)
        #expect(progress.searches(isComplete: false, at: now).map(\.start) == [10_000])
        #expect(progress.searches(isComplete: true, at: now).map(\.start) == [.min])
        progress.recordDuePushes(in: key, isComplete: false)
        #expect(start(&progress, at: .now) == 8_000)
        progress.recordDuePushes(in: key, isComplete: true)
        #expect(start(&progress, at: .now) == .min)
    }

    @Test func `the backlog is counted less often when a count of many pushes takes long`() {
        var count = BacklogCount()
        #expect(count.isDue)
        let few = [Backlog(lane: .orders, count: 3, oldest: 1), Backlog(lane: .rides, count: 4, oldest: nil)]
        count.update(few, after: .zero)
        #expect(count.pushes == 7 && count.isDue)
        // On a busy machine, a count of few pushes takes long, too.
        count.update(few, after: .seconds(60))
        #expect(count.pushes == 7 && count.isDue)
        count.update([Backlog(lane: .orders, count: 1_000_000, oldest: 1)], after: .seconds(60))
        #expect(count.pushes == 1_000_000 && !count.isDue)
    }
}

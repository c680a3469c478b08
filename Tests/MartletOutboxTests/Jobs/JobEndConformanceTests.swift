// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import Testing

/// Tests of the ends of jobs and of changed requests that every engine of the outbox passes.
@Suite(.timeLimit(.minutes(10))) struct JobEndConformanceTests {
    @Test(arguments: OutboxEngine.allCases)
    func `the end of a job is recorded once`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let first = try await outbox.jobs.addNew(.numbered(1))
        let second = try await outbox.jobs.addNew(.numbered(2))
        let rides = try await outbox.jobs.addNew(.numbered(3, app: "rides"))
        _ = try await outbox.jobs.expand(first, [.numbered(1)], isLast: true)
        #expect(try await outbox.jobs.recordEnds(limit: 9).isEmpty)
        _ = try await outbox.jobs.expand(second, [], leftOut: [.noToken: 2], isLast: true)
        let ended = try await outbox.jobs.recordEnds(limit: 9)
        let current = try await outbox.jobs.current(second)
        #expect(ended == [current] && current.endCursor != nil)
        for push in try await outbox.claimAll(.orders, .job, at: 20) { try await outbox.end(push, .dead, at: 20) }
        _ = try await outbox.jobs.cancel(rides.job.id, of: "rides", at: 30)
        #expect(try await outbox.jobs.recordEnds(limit: 1).map(\.number) == [first.number])
        let last = try await outbox.jobs.recordEnds(limit: 9)
        #expect(last.map(\.number) == [rides.number])
        // A push that is sent again changes the job, but not its place.
        #expect(try await outbox.requeueDeadLetters(nil, of: "orders", at: 40) == 1)
        for push in try await outbox.claimAll(.orders, .job, at: 50) { try await outbox.end(push, at: 50) }
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        #expect(try await outbox.jobs.recordEnds(limit: 9).isEmpty)
        let all = try await outbox.jobs.endedJobs(of: "orders", after: 0, limit: 9)
        #expect(all.map(\.number) == [second.number, first.number] && all.last?.outcomes == [.delivered: 1])
        let cursor = try #require(all.first?.endCursor)
        #expect(try await outbox.jobs.endedJobs(of: "orders", after: cursor, limit: 9).map(\.number) == [first.number])
        #expect(try await outbox.jobs.endedJobs(of: "orders", after: 0, limit: 1).map(\.number) == [second.number])
        // No place is used again.
        #expect(try await outbox.jobs.deleteJobs(endedBefore: 100, limit: 9) == 3)
        let next = try await outbox.jobs.addNew(.numbered(4), at: 110)
        _ = try await outbox.jobs.cancel(next.job.id, of: "orders", at: 120)
        let newest = try #require(try await outbox.jobs.recordEnds(limit: 9).first?.endCursor)
        let newestBefore = try #require(last.first?.endCursor)
        #expect(newest > newestBefore)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a job with another request has its fingerprint and progress`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let other = try await outbox.jobs.addNew(.numbered(1))
        let stored = try await outbox.jobs.addNew(.numbered(2))
        _ = try await outbox.jobs.expand(stored, [.numbered(1)])
        var expected = try await outbox.jobs.current(stored)
        expected.job.request = Array("{}".utf8)
        try await outbox.jobs.replaceRequest(of: stored, with: expected.job.request)
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        #expect(try await outbox.jobs.current(stored) == expected)
        #expect(try await outbox.jobs.add(.numbered(2), at: 20) == .duplicate(expected))
        #expect(try await outbox.jobs.current(other) == other)
        await outbox.close(isInOrder: true)
    }
}

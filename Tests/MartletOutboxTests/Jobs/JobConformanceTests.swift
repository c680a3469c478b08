// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import Testing

/// Tests of jobs that every engine of the outbox passes.
@Suite(.timeLimit(.minutes(10))) struct JobConformanceTests {
    @Test(arguments: OutboxEngine.allCases)
    func `a repeated job is a duplicate, another with its id conflicts`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        var job = Job.numbered(1, notBefore: 50)
        job.expiresAt = 90
        let stored = try await outbox.jobs.addNew(job, at: 10)
        #expect(stored == StoredJob(number: stored.number, job: job, createdAt: 10, highMark: 0))
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        #expect(try await outbox.jobs.add(job, at: 20) == .duplicate(stored))
        #expect(try await outbox.jobs.add(.numbered(1, request: "other"), at: 20) == .conflict)
        let ofOtherApp = try await outbox.jobs.addNew(.numbered(1, app: "rides"), at: 20)
        #expect(ofOtherApp.number > stored.number)
        #expect(try await outbox.jobs.job(job.id, of: "rides") == ofOtherApp)
        #expect(try await outbox.jobs.job(Job.numbered(2).id, of: "orders") == nil)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `jobs are listed newest first, and those with work`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let jobs = outbox.jobs
        let first = try await jobs.addNew(.numbered(1))
        let second = try await jobs.addNew(.numbered(2, notBefore: 50))
        let third = try await jobs.addNew(.numbered(3))
        let rides = try await jobs.addNew(.numbered(4, app: "rides"))
        #expect(try await jobs.jobs(of: "orders", before: nil, limit: 2) == [third, second])
        #expect(try await jobs.jobs(of: "orders", before: second.number, limit: 2) == [first])
        #expect(try await jobs.jobs(of: "games", before: nil, limit: 2).isEmpty)
        #expect(try await jobs.activeJobs(at: 49, limit: 9) == [first, third, rides])
        #expect(try await jobs.activeJobs(at: 50, limit: 2) == [first, second])
        #expect(try await jobs.expandingJobCount(of: "orders") == 3)
        _ = try await jobs.expand(first, [.numbered(1)])
        _ = try await jobs.expand(third, [.numbered(2)], isLast: true)
        #expect(try await jobs.cancel(rides.job.id, of: "rides", at: 60)?.endedAt == 60)
        #expect(try await jobs.cancel(first.job.id, of: "orders", at: 60)?.state == .cancelled)
        #expect(try await jobs.activeJobs(at: 60, limit: 9).map(\.number) == [first.number, second.number])
        _ = try await jobs.cancelAllPushes(of: first, limit: 9, at: 61)
        #expect(try await jobs.activeJobs(at: 62, limit: 9).map(\.number) == [second.number])
        for (app, count) in ["orders": 1, "rides": 0, "games": 0] {
            #expect(try await jobs.expandingJobCount(of: app) == count, "\(app)")
        }
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a job has the last installation at its creation`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        try await outbox.installations.enroll(Installation.numbered(1))
        try await outbox.installations.enroll(Installation.numbered(2, user: "bob"))
        try await outbox.installations.enroll(Installation.numbered(3, app: "rides"))
        let stored = try await outbox.jobs.addNew(.numbered(1))
        try await outbox.installations.enroll(Installation.numbered(4, user: "carl"))
        let all = try await outbox.installations.installations(of: "orders", .all, after: 0, limit: 9)
        #expect(all.count == 3 && stored.highMark == all[1].number && stored.cursor == 0)
        #expect(try await outbox.jobs.current(stored) == stored)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a page is stored once, and only at the cursor of its job`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let stored = try await outbox.jobs.addNew(.numbered(1))
        let pushes = try (1...4).map { try OutboxPush.numbered($0) }
        let first = JobPage(
            of: stored.number,
            after: 0,
            through: 7,
            isLast: false,
            pushes: Array(pushes[..<2]),
            leftOut: [.noToken: 3]
        )
        #expect(try await outbox.jobs.expand(first, at: 20) == .stored(pushes: 2, leftOut: [:]))
        #expect(try await outbox.jobs.expand(first, at: 21) == .outdated)
        let last = JobPage(
            of: stored.number,
            after: 7,
            through: 9,
            isLast: true,
            pushes: [pushes[2]],
            leftOut: [.noToken: 1, .notAllowed: 2]
        )
        let unknown = JobPage(of: stored.number + 1, after: 0, through: 9, isLast: true, pushes: [pushes[3]])
        #expect(try await outbox.jobs.expand(unknown, at: 22) == .outdated)
        #expect(try await outbox.jobs.expand(last, at: 23) == .stored(pushes: 1, leftOut: [:]))
        let after = JobPage(of: stored.number, after: 9, through: 12, isLast: true, pushes: [pushes[3]])
        #expect(try await outbox.jobs.expand(after, at: 24) == .outdated)
        let current = try await outbox.jobs.current(stored)
        #expect(current.state == .expanded && current.cursor == 9 && current.expandedAt == 23)
        #expect(current.stored == 3 && current.leftOut == [.noToken: 4, .notAllowed: 2] && current.matched == 9)
        #expect(current.unfinished == 3 && current.endedAt == nil)
        #expect(try await outbox.claimAll(.orders, .job, at: 30).map(\.push.id) == pushes[..<3].map(\.id))
        #expect(try await outbox.status(of: pushes[3].id, of: "orders") == nil)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `pushes of a job wait in their own urgency`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let stored = try await outbox.jobs.addNew(.numbered(1))
        let pushes = try ["10", "5", "1"].enumerated().map { try OutboxPush.numbered(UInt64($0 + 1), priority: $1) }
        _ = try await outbox.jobs.expand(stored, pushes, at: 10)
        _ = try await outbox.accept([.numbered(9)], at: 20)
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        for urgency in [Urgency.powerAware, .powerFirst] {
            #expect(try await outbox.claimAll(.orders, urgency, at: 30).isEmpty)
        }
        let single = try await outbox.claimAll(at: 30)
        #expect(single.map(\.push.id) == [try OutboxPush.numbered(9).id])
        let claimed = try await outbox.claimAll(.orders, .job, at: 30)
        #expect(claimed.map(\.push.headers.priority) == ["10", "5", "1"])
        #expect(claimed.allSatisfy { $0.push.job == stored.number && !$0.isDamaged })
        // A dead letter returns to the same urgency.
        try await outbox.end(claimed[1], .dead, at: 40)
        #expect(try await outbox.records.deadLetters(of: "orders", limit: 9).map(\.push.job) == [stored.number])
        #expect(try await outbox.requeueDeadLetters(nil, of: "orders", at: 50) == 1)
        #expect(try await outbox.claimAll(.orders, .job, at: 60).map(\.push.id) == [pushes[1].id])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `pushes that the store leaves out are counted by reason`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        try await outbox.installations.enroll(Installation.numbered(1).with("aa"))
        try await outbox.installations.enroll(Installation.numbered(2, user: "bob").with("bb"))
        let gone = try OutboxPush.numbered(1, token: "cc")
        let earlier = try OutboxPush.numbered(2, token: "aa")
        _ = try await outbox.accept([gone, earlier], at: 10)
        for push in try await outbox.claimAll(at: 10) {
            let isGone = push.push.id == gone.id
            let outcome = isGone ? Outcome(.refused, status: 410, reason: "Unregistered") : Outcome(.delivered)
            let settlement = Settlement(number: push.number, .ended(outcome), isTokenUnregistered: isGone)
            try await outbox.settle([settlement], at: 20)
        }
        let stored = try await outbox.jobs.addNew(.numbered(1), at: 20)
        let pushes = [
            try OutboxPush.numbered(3, token: "aa", user: "anna"),
            try OutboxPush.numbered(4, token: "bb", user: "anna"),
            try OutboxPush.numbered(5, token: "cc"),
            earlier,
            try OutboxPush.numbered(3, token: "aa", user: "anna"),
        ]
        let refused: [LeftOutReason: Int] = [.moved: 1, .unregistered: 1, .duplicate: 2]
        let expansion = try await outbox.jobs.expand(stored, pushes, leftOut: [.noToken: 2, .moved: 1], at: 30)
        #expect(expansion == .stored(pushes: 1, leftOut: refused))
        let current = try await outbox.jobs.current(stored)
        #expect(current.leftOut == [.noToken: 2, .moved: 2, .unregistered: 1, .duplicate: 2])
        #expect(current.stored == 1 && current.matched == 8)
        #expect(try await outbox.claimAll(.orders, .job, at: 40).map(\.push.id) == [pushes[0].id])
        #expect(try await outbox.outcome(of: earlier) == Outcome(.delivered))
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `every end of a push is counted for its job`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let jobs = outbox.jobs
        try await outbox.installations.enroll(Installation.numbered(1, user: "anna").with("aa"))
        try await outbox.installations.enroll(Installation.numbered(2, user: "bob").with("bb"))
        let stored = try await jobs.addNew(.numbered(1))
        let other = try await jobs.addNew(.numbered(2))
        var pushes = try (1...9).map { try OutboxPush.numbered($0, token: $0 == 6 ? "bb" : "aa") }
        pushes[4].expiresAt = 40
        pushes[6].lane = .orderTests
        _ = try await jobs.expand(stored, pushes, isLast: true)
        _ = try await jobs.expand(other, [.numbered(20, token: "aa")])
        _ = try await outbox.accept([.numbered(30, token: "aa")], at: 10)
        let claimed = try await outbox.claim(.orders, .job, limit: 3, at: 20).pushes
        #expect(claimed.map(\.push.id) == pushes[..<3].map(\.id))
        for (push, state) in zip(claimed, [Outcome.State.delivered, .refused, .dead]) {
            try await outbox.end(push, state, at: 30)
        }
        #expect(try await jobs.current(stored).outcomes == [.delivered: 1, .refused: 1, .dead: 1])
        #expect(try await outbox.cancel(pushes[3].id, of: "orders", at: 31) != nil)
        #expect(try await outbox.expire(at: 41, limit: 9).map(\.id) == [pushes[4].id])
        #expect(try await outbox.erasePushes(ofUser: "bob", at: 42).flatMap(\.cancelled).map(\.id) == [pushes[5].id])
        #expect(try await outbox.purge(.orderTests, upTo: nil, limit: 9, at: 43).pushes.map(\.id) == [pushes[6].id])
        var current = try await jobs.current(stored)
        #expect(current.outcomes == [.delivered: 1, .refused: 1, .dead: 1, .cancelled: 3, .expired: 1])
        #expect(current.unfinished == 2 && current.endedAt == nil && current.outcomesChangedAt == 43)
        for push in try await outbox.claimAll(.orders, .job, at: 50) { try await outbox.end(push, at: 50) }
        current = try await jobs.current(stored)
        #expect(current.outcomes[.delivered] == 3 && current.endedAt == 50)
        // A dead letter that is queued again has not ended.
        #expect(try await outbox.requeueDeadLetters(nil, of: "orders", at: 60) == 1)
        current = try await jobs.current(stored)
        #expect(current.outcomes[.dead] == nil && current.unfinished == 1 && current.endedAt == nil)
        let again = try #require(try await outbox.claimAll(.orders, .job, at: 60).first)
        try await outbox.end(again, .dead, at: 70)
        // A deleted one has ended.
        #expect(try await outbox.records.deleteDeadLetters([again.push.id], of: "orders") == 1)
        #expect(try await jobs.current(stored).endedAt == 70)
        #expect(try await jobs.current(other).outcomes == [.delivered: 1])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a cancelled job is expanded no further`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let stored = try await outbox.jobs.addNew(.numbered(1))
        let pushes = try (1...5).map { try OutboxPush.numbered($0, orderKey: $0 > 2 ? "game" : nil) }
        _ = try await outbox.jobs.expand(stored, pushes)
        _ = try await outbox.accept([.numbered(9)], at: 10)
        let claimed = try await outbox.claim(.orders, .job, limit: 1, at: 20).pushes
        let cancelled = try #require(try await outbox.jobs.cancel(stored.job.id, of: "orders", at: 30))
        #expect(cancelled.state == .cancelled && cancelled.expandedAt == 30 && cancelled.unfinished == 5)
        #expect(try await outbox.jobs.cancel(stored.job.id, of: "rides", at: 30) == nil)
        #expect(try await outbox.jobs.expand(stored, [.numbered(10)], at: 31) == .outdated)
        let ids = pushes.map(\.id)
        let steps = try await outbox.jobs.cancelAllPushes(of: cancelled, limit: 2, at: 40)
        let expected: [Set<APNsID>] = [[ids[4], ids[3]], [ids[2], ids[1]], []]
        #expect(steps.map { Set($0) } == expected, "a claimed push stays")
        #expect(try await outbox.status(of: ids[4], of: "orders")?.outcome == Outcome(.cancelled))
        let postponed = Settlement.Change.postponed(until: 60, attempts: 1, unknownTries: 0)
        try await outbox.settle([Settlement(number: claimed[0].number, postponed)], at: 50)
        #expect(try await outbox.jobs.activeJobs(at: 50, limit: 9).map(\.unfinished) == [1])
        #expect(try await outbox.jobs.cancelAllPushes(of: cancelled, limit: 9, at: 51) == [[ids[0]]])
        let current = try await outbox.jobs.current(stored)
        #expect(current.outcomes == [.cancelled: 5] && current.endedAt == 51)
        #expect(try await outbox.jobs.cancel(stored.job.id, of: "orders", at: 60) == current)
        #expect(try await outbox.claimAll(at: 60).count == 1, "other pushes stay")
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a job that has ended is not cancelled`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let stored = try await outbox.jobs.addNew(.numbered(1))
        _ = try await outbox.jobs.expand(stored, [.numbered(1)], isLast: true)
        for push in try await outbox.claimAll(.orders, .job, at: 20) { try await outbox.end(push, at: 20) }
        let cancelled = try await outbox.jobs.cancel(stored.job.id, of: "orders", at: 30)
        #expect(cancelled?.state == .expanded && cancelled?.endedAt == 20)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `ended jobs are deleted, and their dead letters stay`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let jobs = outbox.jobs
        let stored = try await jobs.addNew(.numbered(1))
        let waiting = try await jobs.addNew(.numbered(2))
        let expanding = try await jobs.addNew(.numbered(3))
        _ = try await jobs.expand(stored, [.numbered(1)], isLast: true)
        _ = try await jobs.expand(waiting, [.numbered(2)], isLast: true)
        let claimed = try await outbox.claim(.orders, .job, limit: 1, at: 20).pushes
        try await outbox.end(claimed[0], .dead, at: 30)
        #expect(try await jobs.deleteJobs(endedBefore: 30, limit: 9) == 0)
        #expect(try await jobs.deleteJobs(endedBefore: 31, limit: 9) == 1)
        let left = try await jobs.jobs(of: "orders", before: nil, limit: 9)
        #expect(left.map(\.number) == [expanding.number, waiting.number])
        // Nothing is counted for the deleted job, also not for the next one with its identifier.
        #expect(try await outbox.requeueDeadLetters(nil, of: "orders", at: 40) == 1)
        let next = try await jobs.addNew(.numbered(1), at: 40)
        #expect(next.number > expanding.number)
        let again = try await outbox.claimAll(.orders, .job, at: 50)
        #expect(again.map(\.push.job) == [waiting.number, stored.number])
        for push in again { try await outbox.end(push, at: 50) }
        #expect(try await jobs.current(next) == next)
        #expect(try await jobs.current(waiting).endedAt == 50)
        // The identifiers of its pushes are known until their outcomes are deleted.
        #expect(try await jobs.expand(next, [.numbered(1)], at: 60) == .stored(pushes: 0, leftOut: [.duplicate: 1]))
        #expect(try await outbox.forgetOutcomes(before: 61, limit: 9) == 2)
        #expect(try await jobs.expand(next, [.numbered(1)], at: 70) == .stored(pushes: 1, leftOut: [:]))
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a page that does not fit is refused as a whole`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open(limit: 3)
        let stored = try await outbox.jobs.addNew(.numbered(1))
        _ = try await outbox.accept([.numbered(1), .numbered(2)], at: 10)
        #expect(try await outbox.jobs.expand(stored, [.numbered(3), .numbered(4)], isLast: true) == .full)
        #expect(try await outbox.jobs.current(stored) == stored)
        #expect(try await outbox.jobs.expand(stored, [.numbered(3)], isLast: true) == .stored(pushes: 1, leftOut: [:]))
        #expect(try await outbox.accept([.numbered(5)], at: 20) == [.full])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a crash loses and repeats no page of a job`(engine: OutboxEngine) async throws {
        var place = try await engine.place()
        let before = try await place.open()
        let stored = try await before.jobs.addNew(.numbered(1))
        let pushes = try (1...6).map { try OutboxPush.numbered($0) }
        let page = JobPage(of: stored.number, after: 0, through: 4, isLast: false, pushes: Array(pushes[..<4]))
        #expect(try await before.jobs.expand(page, at: 10) == .stored(pushes: 4, leftOut: [:]))
        let claimed = try await before.claim(.orders, .job, limit: 2, at: 20).pushes
        try await before.end(claimed[0], at: 30)
        place = try await place.afterCrash()
        let outbox = try await place.open()
        // A relay that did not get the answer stores its page again.
        #expect(try await outbox.jobs.expand(page, at: 40) == .outdated)
        let current = try await outbox.jobs.current(stored)
        #expect(current.cursor == 4 && current.stored == 4 && current.outcomes == [.delivered: 1])
        _ = try await outbox.jobs.expand(current, Array(pushes[4...]), isLast: true, at: 50)
        let again = try await outbox.claimAll(.orders, .job, at: 60)
        #expect(again.map(\.push.id) == pushes[1...].map(\.id) && again.first?.unknownTries == 1)
        for push in again { try await outbox.end(push, at: 60) }
        let ended = try await outbox.jobs.current(stored)
        #expect(ended.outcomes == [.delivered: 6] && ended.endedAt == 60)
        withExtendedLifetime(before) {}
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `concurrent callers store a page once`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let outbox = try await place.open()
        // Another relay, in a database that several share.
        let other = try await engine == .postgresql ? place.open() : outbox
        let stored = try await outbox.jobs.addNew(.numbered(1))
        let pushes = try (1...50).map { try OutboxPush.numbered($0) }
        let page = JobPage(of: stored.number, after: 0, through: 50, isLast: true, pushes: pushes)
        let answers = try await withThrowingTaskGroup { group in
            for index in 0..<8 {
                let store = index.isMultiple(of: 2) ? outbox : other
                group.addTask { try await store.jobs.expand(page, at: 20) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { $0 == .stored(pushes: 50, leftOut: [:]) } == 1)
        #expect(answers.count { $0 == .outdated } == 7)
        #expect(try await outbox.jobs.current(stored).stored == 50)
        #expect(try await outbox.claimAll(.orders, .job, at: 30).count == 50)
        if engine == .postgresql { await other.close(isInOrder: true) }
        await outbox.close(isInOrder: true)
    }
}

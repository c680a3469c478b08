// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletSQLite
import Testing

@testable import MartletOutbox

/// Tests of the lists of a job's pushes that every engine of the outbox passes.
@Suite(.timeLimit(.minutes(10))) struct JobPushListTests {
    /// A job with a push to each of five phones: delivered, refused, abandoned, claimed and waiting.
    private struct List {
        var phones: [StoredInstallation] = []
        let job: StoredJob
        private let outbox: any OutboxStore

        init(in outbox: any OutboxStore) async throws {
            self.outbox = outbox
            for number in 1...5 as ClosedRange<UInt64> {
                let phone = try Installation.numbered(number, user: "user \(number)").with("a\(number)")
                phones.append(try #require(try await outbox.installations.enroll(phone)))
            }
            job = try await outbox.jobs.addNew(.numbered(1))
            let pushes = try phones.enumerated().map { index, phone in
                try OutboxPush.numbered(
                    UInt64(index + 1),
                    token: "a\(index + 1)",
                    user: phone.installation.user,
                    installation: phone.number
                )
            }
            _ = try await outbox.jobs.expand(job, pushes, isLast: true)
            let claimed = try await outbox.claim(.orders, .job, limit: 4, at: 20).pushes
            let gone = Outcome(.refused, status: 410, reason: "Unregistered")
            // All end at the same time.
            let settlements = [
                claimed[0].ended, Settlement(claimed[1], .ended(gone), isTokenUnregistered: true),
                Settlement(claimed[2], .ended(Outcome(.dead, status: 503, attempts: 16))),
            ]
            try await outbox.settle(settlements, at: 30)
            // Neither of these belongs to the job.
            let other = try await outbox.jobs.addNew(.numbered(2))
            _ = try await outbox.jobs.expand(other, [.numbered(20)], isLast: true)
            _ = try await outbox.accept([.numbered(30)], at: 10)
        }

        /// Returns pushes of the job.
        func pushes(
            _ states: [JobPushState] = JobPushState.allCases,
            after place: Int64 = 0,
            limit: Int = 9,
            in outbox: (any OutboxStore)? = nil
        ) async throws -> [JobPush] {
            try await (outbox ?? self.outbox).jobs.pushes(of: job, in: states, after: place, limit: limit)
        }

        /// Returns the positions of the phones of listed pushes, from 0.
        func places(_ states: [JobPushState] = JobPushState.allCases) async throws -> [Int] {
            places(of: try await pushes(states))
        }

        /// Returns the positions of the phones of pushes, from 0.
        func places(of pushes: [JobPush]) -> [Int] {
            pushes.map { push in phones.firstIndex { $0.number == push.place } ?? -1 }
        }
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the pushes of a job are listed with phones and ends`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let list = try await List(in: outbox)
        var pushes = try await list.pushes()
        #expect(list.places(of: pushes) == [0, 1, 2, 3, 4])
        #expect(pushes.compactMap(\.installation) == list.phones.map(\.installation.id))
        #expect(pushes.compactMap(\.user) == list.phones.map(\.installation.user))
        #expect(pushes.map(\.status.outcome?.state) == [.delivered, .refused, .dead, nil, nil])
        #expect(pushes[3].status.state == .inFlight && pushes[4].status.state == .accepted)
        #expect(pushes[1].status.outcome?.reason == "Unregistered")
        #expect(pushes[2].status.state == .ended(Outcome(.dead, status: 503, attempts: 16), at: 30))
        let ids = try (1...5).map { try OutboxPush.numbered($0).id }
        #expect(pushes.map(\.status.id) == ids)
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        pushes = try await list.pushes(in: outbox)
        #expect(list.places(of: pushes) == [0, 1, 2, 3, 4])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the pushes of a job are listed by state, page by page`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let list = try await List(in: outbox)
        let expected: [(JobPushState, [Int])] = [
            (.waiting, [3, 4]), (.ended(.delivered), [0]), (.ended(.refused), [1]), (.ended(.dead), [2]),
            (.ended(.expired), []), (.ended(.cancelled), []), (.ended(.superseded), []),
        ]
        for (state, places) in expected {
            #expect(try await list.places([state]) == places, "\(state)")
        }
        let several: [([JobPushState], [Int])] = [
            (JobPushState.allCases, [0, 1, 2, 3, 4]), ([.waiting, .ended(.refused)], [1, 3, 4]),
        ]
        for (states, places) in several {
            var found: [JobPush] = []
            var page: [JobPush]
            repeat {
                page = try await list.pushes(states, after: found.last?.place ?? 0, limit: 2)
                #expect(page.count <= 2)
                found += page
            } while !page.isEmpty
            #expect(list.places(of: found) == places)
        }
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push keeps its position in the list of a job`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let list = try await List(in: outbox)
        #expect(try await outbox.requeueDeadLetters(nil, of: "orders", at: 40) == 1)
        #expect(try await list.places([.waiting]) == [2, 3, 4])
        let ids = try (1...5).map { try OutboxPush.numbered($0).id }
        for push in try await outbox.claimAll(.orders, .job, at: 50) where push.push.id == ids[4] {
            try await outbox.end(push, .dead, at: 60)
        }
        #expect(try await list.places([.ended(.dead)]) == [4])
        #expect(try await outbox.records.deleteDeadLetters([ids[4]], of: "orders") == 1)
        #expect(try await list.places() == [0, 1, 2, 3])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a list of a job names no removed phone`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let list = try await List(in: outbox)
        let phones = list.phones.map(\.installation)
        #expect(try await outbox.installations.remove(phones[0].id, of: "orders"))
        #expect(try await outbox.installations.removeUser(phones[1].user, of: "orders") == 1)
        let pushes = try await list.pushes()
        #expect(list.places(of: pushes) == [0, 1, 2, 3, 4])
        #expect(pushes.prefix(2).allSatisfy { $0.installation == nil && $0.user == nil })
        #expect(pushes.dropFirst(2).compactMap(\.installation) == phones.dropFirst(2).map(\.id))
        #expect(pushes.dropFirst(2).compactMap(\.user) == phones.dropFirst(2).map(\.user))
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a list of a job ends with its outcomes`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let list = try await List(in: outbox)
        #expect(try await outbox.forgetOutcomes(before: 31, limit: 9) == 3)
        #expect(try await list.places() == [3, 4])
        #expect(try await outbox.jobs.current(list.job).stored == 5)
        await outbox.close(isInOrder: true)
    }

    @Test func `a page of the pushes of a job is a range of an index`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        await store.close(isInOrder: true)
        let ranges: [(JobPushState, String)] = [
            (.waiting, "push USING INDEX push_job (job=? AND installation>?)"),
            (.ended(.dead), "outcome USING COVERING INDEX outcome_job (job=? AND state=? AND installation>?)"),
        ]
        for (state, range) in ranges {
            let plan = try Connection(path: place.file).prepare("EXPLAIN QUERY PLAN \(state.fileRows)")
            #expect(try plan.step() && plan.text(at: 3) == "SEARCH \(range)")
            #expect(try plan.step() == false, "nothing is sorted")
        }
    }
}

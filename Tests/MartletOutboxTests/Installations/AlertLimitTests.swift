// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// The limits of the alerts that users get on a day.
@Suite(.timeLimit(.minutes(10))) struct AlertLimitTests {
    private static let day: Int64 = 86_400_000
    private static let tokens = ["aa", "bb", "cc"]

    /// Opens an outbox with three phones of anna and one of bob.
    private func open(_ engine: OutboxEngine, limit: Int = 1_000_000) async throws -> any OutboxStore {
        let outbox = try await engine.place().open(limit: limit)
        for (index, token) in Self.tokens.enumerated() {
            try await outbox.installations.enroll(Installation.numbered(UInt64(index) + 1).with(token))
        }
        try await outbox.installations.enroll(Installation.numbered(9, user: "bob").with("dd"))
        return outbox
    }

    /// A push of a request with a limit.
    private func push(
        _ number: UInt64,
        of request: UInt64?,
        perDay limit: Int = 2,
        to token: String = "aa",
        user: String = "anna",
        notBefore: Int64? = nil
    ) throws -> OutboxPush {
        var push = try OutboxPush.numbered(
            number,
            token: token,
            hasCallersID: true,
            notBefore: notBefore,
            user: user
        )
        push.alertLimit = request.map { AlertLimit(perDay: limit, request: APNsID(randomBits: ($0, 1 << 32))) }
        return push
    }

    /// The pushes of a request to the phones of anna.
    private func pushes(of request: UInt64) throws -> [OutboxPush] {
        try Self.tokens.enumerated().map { try push(request * 10 + UInt64($0), of: request, to: $1) }
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a request to three phones counts once`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        let first = try pushes(of: 1)
        #expect(try await outbox.accept(Array(first[..<2]), at: 10) == [.accepted, .accepted])
        #expect(try await outbox.accept(pushes(of: 2), at: 20) == [.accepted, .accepted, .accepted])
        // The rest of a request that is counted, beside others of the same user.
        let answers = try await outbox.accept(pushes(of: 3) + [first[2]] + [push(40, of: nil)], at: 30)
        #expect(answers == [.limited, .limited, .limited, .accepted, .accepted])
        #expect(try await outbox.accept([push(50, of: 5, to: "dd", user: "bob")], at: 30) == [.accepted])
        #expect(try await outbox.backlog().map(\.count) == [8])
        #expect(try await outbox.status(of: pushes(of: 3)[0].id, of: "orders") == nil)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `requests that are accepted together keep to the limit`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        let all = try (1...4).map { try push($0, of: $0) }
        #expect(try await outbox.accept(all, at: 10) == [.accepted, .accepted, .limited, .limited])
        // A greater limit of a new configuration.
        let more = try push(5, of: 5, perDay: 3)
        #expect(try await outbox.accept([more], at: 20) == [.accepted])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an alert of one environment does not take the place of one in the other`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        func state(_ number: UInt64, _ environment: PushEnvironment = .production) throws -> OutboxPush {
            var state = try push(number, of: number, perDay: 1, notBefore: 100)
            state.orderKey = "order-1"
            state.lane.environment = environment
            return state.superseding
        }
        #expect(try await outbox.accept([state(1)], at: 10) == [.accepted])
        let answers = try await outbox.accept([state(2, .development), state(3)], at: 20)
        #expect(answers.map(\.isStored) == [false, true])
        #expect(try await outbox.outcome(of: state(1)) == Outcome(.superseded))
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `only stored pushes count, and repeated ones do not`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine, limit: 3)
        let first = try push(1, of: 1)
        #expect(try await outbox.accept([first], at: 10) == [.accepted])
        var status = try #require(try await outbox.status(of: first.id, of: "orders"))
        // A duplicate is described without it.
        status.dueAt = nil
        #expect(try await outbox.accept([push(2, of: 2, to: "dd")], at: 10) == [.formerUser])
        var repeated = first
        repeated.alertLimit?.request = APNsID(randomBits: (3, 3))
        #expect(try await outbox.accept([repeated], at: 20) == [.duplicate(status)])
        #expect(try await outbox.accept([push(4, of: nil), push(5, of: nil)], at: 30) == [.accepted, .accepted])
        #expect(try await outbox.accept([push(6, of: 6)], at: 30) == [.full])
        for push in try await outbox.claimAll(at: 40) { try await outbox.end(push, at: 40) }
        // The end of a push makes no room for another one on the day.
        #expect(try await outbox.accept([push(7, of: 7), push(8, of: 8)], at: 50) == [.accepted, .limited])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push counts on the day on which it is due`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        let day = Self.day
        let today = try [push(1, of: 1, perDay: 1), push(2, of: 2, perDay: 1)]
        #expect(try await outbox.accept(today, at: day - 1) == [.accepted, .limited])
        let later = try [push(3, of: 3, perDay: 1, notBefore: 3 * day), push(4, of: 4, perDay: 1, notBefore: 2 * day)]
        #expect(try await outbox.accept(later, at: day - 1) == [.accepted, .accepted])
        #expect(try await outbox.accept([push(5, of: 5, perDay: 1)], at: day) == [.accepted])
        #expect(try await outbox.accept([push(6, of: 6, perDay: 1)], at: 3 * day + 5) == [.limited])
        #expect(try await outbox.records.forgetAlerts(before: 3 * day - 1, limit: 1) == 1)
        #expect(try await outbox.records.forgetAlerts(before: 3 * day - 1, limit: 9) == 1)
        #expect(try await outbox.records.forgetAlerts(before: 3 * day, limit: 9) == 1)
        #expect(try await outbox.accept([push(7, of: 7, perDay: 1)], at: 3 * day + 5) == [.limited])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an alert that ends before its first attempt does not count`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        for end in UInt64(1)...3 {
            var alert = try push(end, of: end, perDay: 1)
            if end == 3 { alert.expiresAt = 40 }
            #expect(try await outbox.accept([alert], at: 10) == [.accepted], "end \(end)")
            #expect(try await outbox.accept([push(10 + end, of: 10 + end, perDay: 1)], at: 20) == [.limited])
            switch end {
            case 1: _ = try await outbox.cancel(alert.id, of: "orders", at: 30)
            case 2: #expect(try await outbox.purge(.orders, upTo: nil, limit: 9, at: 30).pushes.count == 1)
            default: #expect(try await outbox.expire(at: 40, limit: 9).map(\.id) == [alert.id])
            }
        }
        // Two of them at once: the day has one place all the same.
        let others = try [push(20, of: 20, perDay: 1), push(21, of: 21, perDay: 1)]
        #expect(try await outbox.accept(others, at: 50) == [.accepted, .limited])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a request counts until all of its pushes have ended untried`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        let first = try pushes(of: 1).map { push in
            var push = push
            push.alertLimit?.perDay = 1
            return push
        }
        #expect(try await outbox.accept(first, at: 10) == [.accepted, .accepted, .accepted])
        for (place, alert) in first.enumerated() {
            let other = try push(UInt64(place) + 50, of: 5, perDay: 1)
            #expect(try await outbox.accept([other], at: 20) == [.limited], "push \(place)")
            _ = try await outbox.cancel(alert.id, of: "orders", at: 20)
        }
        #expect(try await outbox.accept([push(60, of: 6, perDay: 1)], at: 30) == [.accepted])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an alert counts from its first attempt`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        let (attempts, unknownTries) = ([1, 0], [0, 1])
        for (place, user) in ["anna", "bob"].enumerated() {
            func alert(_ number: UInt64) throws -> OutboxPush {
                var alert = try push(
                    number + UInt64(place) * 10,
                    of: number,
                    perDay: 1,
                    to: user == "bob" ? "dd" : "aa",
                    user: user
                )
                alert.orderKey = user
                return alert
            }
            let start = Int64(place) * 1_000
            let first = try alert(1)
            #expect(try await outbox.accept([first], at: start) == [.accepted])
            let claimed = try await outbox.claimAll(at: start)
            try #require(claimed.map(\.push.id) == [first.id])
            // In flight.
            #expect(try await outbox.cancel(first.id, of: "orders", at: start)?.state == .inFlight)
            #expect(try await outbox.accept([alert(2).superseding], at: start) == [.limited])
            let retry = claimed[0].postponed(
                until: start + 90,
                attempts: attempts[place],
                unknownTries: unknownTries[place]
            )
            try await outbox.settle([retry], at: start)
            #expect(try await outbox.accept([alert(3).superseding], at: start) == [.limited])
            #expect(try await outbox.cancel(first.id, of: "orders", at: start)?.outcome?.state == .cancelled)
            #expect(try await outbox.accept([alert(4)], at: start) == [.limited])
        }
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a superseding alert takes the place of the one it replaces`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        // All of them wait for the end of quiet hours.
        func state(_ number: UInt64, notBefore: Int64 = 100) throws -> OutboxPush {
            var state = try push(number, of: number, perDay: 1, notBefore: notBefore)
            state.orderKey = "order-1"
            return state.superseding
        }
        #expect(try await outbox.accept([state(1)], at: 10) == [.accepted])
        #expect(try await outbox.accept([push(9, of: 9, perDay: 1)], at: 10) == [.limited])
        for number in UInt64(2)...3 {
            let older = try state(number - 1)
            let answers = try await outbox.accept([state(number)], at: 10)
            #expect(answers.map { $0.superseded.map(\.id) } == [[older.id]], "state \(number)")
        }
        let both = try await outbox.accept([state(4), state(5)], at: 20)
        #expect(both.map(\.isStored) == [true, true])
        for number in UInt64(1)...4 {
            #expect(try await outbox.outcome(of: state(number)) == Outcome(.superseded), "state \(number)")
        }
        // One that counts on another day, which has no place for it, replaces none.
        let day = Self.day
        #expect(try await outbox.accept([push(6, of: 6, perDay: 1, notBefore: day)], at: 30) == [.accepted])
        #expect(try await outbox.accept([state(7, notBefore: day)], at: 30) == [.limited])
        #expect(try await outbox.status(of: state(5).id, of: "orders")?.state == .accepted)
        #expect(try await outbox.accept([push(8, of: 8, perDay: 1)], at: 30) == [.limited])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `removing a user removes the counts of that user in that app`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        let bob = try push(1, of: 1, perDay: 1, to: "dd", user: "bob")
        #expect(try await outbox.accept([bob, push(2, of: 2, perDay: 1)], at: 10) == [.accepted, .accepted])
        #expect(try await outbox.installations.removeUser("anna", of: "orders") == 3)
        #expect(try await outbox.records.forgetAlerts(before: 2 * Self.day, limit: 9) == 1)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a job leaves out the users with enough alerts`(engine: OutboxEngine) async throws {
        let outbox = try await open(engine)
        #expect(try await outbox.accept([push(1, of: 1)], at: 10) == [.accepted])
        let pages = try ([10, 11] as [UInt64]).map { request -> [OutboxPush] in
            try pushes(of: request).map { push in
                var push = push
                push.hasCallersID = false
                return push
            }
        }
        let job = try await outbox.jobs.addNew(.numbered(1))
        #expect(try await outbox.jobs.expand(job, Array(pages[0][..<1])) == .stored(pushes: 1, leftOut: [:]))
        #expect(try await outbox.jobs.expand(job, Array(pages[0][1...])) == .stored(pushes: 2, leftOut: [:]))
        let other = try await outbox.jobs.addNew(.numbered(2))
        let bob = try push(200, of: 11, to: "dd", user: "bob")
        let answer = try await outbox.jobs.expand(other, pages[1] + [bob], isLast: true)
        #expect(answer == .stored(pushes: 1, leftOut: [.alertLimit: 3]))
        let stored = try await outbox.jobs.current(other)
        #expect(stored.stored == 1 && stored.leftOut == [.alertLimit: 3] && stored.matched == 4)
        await outbox.close(isInOrder: true)
    }

    @Test func `relays that share a database keep to the limit together`() async throws {
        let place = try await OutboxEngine.postgresql.place()
        let first = try await place.open()
        let second = try await place.open()
        let outboxes = [first, second]
        for (index, token) in Self.tokens.enumerated() {
            try await outboxes[0].installations.enroll(Installation.numbered(UInt64(index) + 1).with(token))
        }
        try await outboxes[0].installations.enroll(Installation.numbered(9, user: "bob").with("dd"))
        // In two orders, so that locks in the order of the pushes would deadlock.
        let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<40 {
                let (outbox, number) = (outboxes[index % 2], UInt64(index) * 2 + 1)
                let anna = try push(number, of: number, perDay: 5)
                let bob = try push(number + 1, of: number + 1, perDay: 5, to: "dd", user: "bob")
                group.addTask {
                    let answers = try await outbox.accept(index % 2 == 0 ? [anna, bob] : [bob, anna], at: 10)
                    return answers.count { $0 == .accepted }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(accepted == 10)
        for outbox in outboxes { await outbox.close(isInOrder: true) }
    }
}

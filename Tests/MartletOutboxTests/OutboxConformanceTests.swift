// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

/// Tests that every engine of the outbox passes.
@Suite struct OutboxConformanceTests {
    @Test(arguments: OutboxEngine.allCases)
    func `a push is claimed once and unchanged, and its outcome is stored`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        var push = try OutboxPush.numbered(1, payload: #"{"aps":{},"b":1,"a":1e400,"a":"\u0000"}"#)
        push.headers = PushHeaders(
            pushType: "alert",
            expiration: "1795000000",
            priority: "5",
            topic: "com.example.orders",
            collapseID: "o-1"
        )
        push.expiresAt = 1_795_000_000_000
        push.traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let broadcast = OutboxPush(
            lane: .orders,
            id: APNsID(randomBits: (2, 2)),
            destination: .channel("dHN0LWNo", bundle: "com.example.orders"),
            headers: PushHeaders(pushType: "liveactivity", priority: "5"),
            payload: []
        )
        #expect(try await store.accept([push, broadcast], at: 1_000) == [.accepted, .accepted])
        #expect(try await store.status(of: push.id, of: "orders")?.state == .accepted)
        #expect(try await store.claimAll(.orders, .immediate, at: 1_000).isEmpty)
        let claimed = try await store.claimAll(.orders, .powerAware, at: 1_000)
        #expect(claimed.map(\.push) == [push, broadcast])
        #expect(claimed.map(\.acceptedAt) == [1_000, 1_000])
        #expect(try await store.claimAll(.orders, .powerAware, at: 2_000).isEmpty)
        #expect(try await store.status(of: push.id, of: "orders")?.state == .inFlight)
        let outcome = Outcome(
            .refused,
            status: 410,
            reason: "Unregistered",
            uniqueID: "u",
            unregisteredAt: 900,
            attempts: 2,
            unknownTries: 1
        )
        try await store.settle([Settlement(claimed[0], .ended(outcome))], at: 3_000)
        #expect(try await store.status(of: push.id, of: "orders")?.state == .ended(outcome, at: 3_000))
        #expect(try await store.status(of: push.id, of: "rides") == nil)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `pushes that are stored together keep their own times`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try (1...20).map { try OutboxPush.numbered($0) }
        try await withThrowingTaskGroup { group in
            for (index, push) in pushes.enumerated() {
                group.addTask { _ = try await store.accept([push], at: Int64(index)) }
            }
            try await group.waitForAll()
        }
        for (index, push) in pushes.enumerated() {
            #expect(try await store.status(of: push.id, of: "orders")?.acceptedAt == Int64(index))
        }
        #expect(try await store.claimAll(at: 20).count == 20)
        await store.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `only pushes without an outcome are claimed after a restart`(
        engine: OutboxEngine
    ) async throws {
        let place = try await engine.place()
        var store = try await place.open()
        let pushes = try (1...5).map { try OutboxPush.numbered($0) }
        _ = try await store.accept(pushes, at: 1_000)
        let claimed = try await store.claim(.orders, .immediate, limit: 3, at: 1_000).pushes
        try await store.end(claimed[1], at: 1_500)
        let postponed = Settlement.Change.postponed(until: 9_000, attempts: 2, unknownTries: 1)
        try await store.settle([Settlement(claimed[2], postponed)], at: 1_500)
        await store.close(isInOrder: true)
        store = try await place.open()
        let again = try await store.claim(.orders, .immediate, limit: 10, at: 2_000)
        #expect(again.pushes.map(\.push.id) == [pushes[0], pushes[3], pushes[4]].map(\.id))
        #expect(again.nextDue == 9_000)
        let late = try await store.claimAll(at: 9_000)
        #expect(late.map(\.push.id) == [pushes[2].id] && late.map(\.attempts) == [2] && late.map(\.unknownTries) == [1])
        #expect(try await store.outcome(of: pushes[1])?.state == .delivered)
        let backlog = Backlog(lane: .orders, count: 4, oldest: 1_000, retrying: 1, oldestRetry: 1_000)
        #expect(try await store.backlog() == [backlog])
        try await store.end(late[0], .dead, at: 9_000)
        #expect(try await store.backlog() == [Backlog(lane: .orders, count: 3, oldest: 1_000)])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push that was claimed before a crash has an unknown attempt`(
        engine: OutboxEngine
    ) async throws {
        var place = try await engine.place()
        let store = try await place.open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0, notBefore: $0 == 3 ? 60_000 : nil) }
        _ = try await store.accept(pushes, at: 1_000)
        let claimed = try await store.claimAll(at: 1_000)
        try await store.end(claimed[1], at: 1_100)
        place = try await place.afterCrash()
        let next = try await place.open()
        let again = try await next.claimAll(at: 60_000)
        #expect(again.map(\.push.id) == [pushes[0].id, pushes[2].id])
        #expect(again.map(\.unknownTries) == [1, 0])
        if engine == .sqlite { #expect(await next.measures.possiblySent == 1) }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an unknown attempt is counted once over several restarts`(
        engine: OutboxEngine
    ) async throws {
        var place = try await engine.place()
        let store = try await place.open()
        _ = try await store.accept([try .numbered(1)], at: 1_000)
        #expect(try await store.claimAll(at: 1_000).map(\.unknownTries) == [0])
        place = try await place.afterCrash()
        for isClaimed in [false, true] {
            let next = try await place.open()
            // A claim without a send in the meantime is no further attempt.
            if isClaimed { #expect(try await next.claimAll(at: 60_000).map(\.unknownTries) == [1]) }
            await next.close(isInOrder: true)
        }
        let last = try await place.open()
        #expect(try await last.claimAll(at: 60_000).map(\.unknownTries) == [1])
        withExtendedLifetime(store) {}
    }

    @Test(arguments: OutboxEngine.allCases)
    func `cancelling a later push does not let an earlier one overtake`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let late = try OutboxPush.numbered(1, notBefore: 500, orderKey: "game")
        let later = try OutboxPush.numbered(2, notBefore: 9_000, orderKey: "game")
        let now = try OutboxPush.numbered(3, orderKey: "game")
        _ = try await store.accept([late, later, now], at: 100)
        let first = try await store.claimAll(at: 600)
        #expect(first.map(\.push.id) == [now.id])
        #expect(try await store.cancel(later.id, of: "orders", at: 700) != nil)
        #expect(try await store.claimAll(at: 800).isEmpty)
        try await store.end(first[0], at: 900)
        #expect(try await store.claimAll(at: 1_000).map(\.push.id) == [late.id])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a repeated push is a duplicate, and another with its id conflicts`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open()
        let push = try OutboxPush.numbered(1, hasCallersID: true)
        let other = try OutboxPush.numbered(1, payload: #"{"aps":{}}"#, hasCallersID: true)
        let ofOtherApp = try OutboxPush.numbered(1, .rides, hasCallersID: true)
        let status = PushStatus(id: push.id, lane: .orders, acceptedAt: 1, state: .accepted)
        #expect(
            try await store.accept([push, push, other, ofOtherApp], at: 1)
                == [.accepted, .duplicate(status), .conflict, .accepted]
        )
        let claimed = try await store.claimAll(at: 2)
        try await store.end(claimed[0], at: 3)
        let answers = try await store.accept([push, other], at: 4)
        #expect(answers[1] == .conflict)
        guard case .duplicate(let known) = answers[0], case .ended(let outcome, at: 3) = known.state else {
            Issue.record("\(answers[0])")
            return
        }
        #expect(outcome.state == .delivered)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a repeated source request is a duplicate despite another payload`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open()
        let pushes = try ["A", "A", "B"].enumerated().map { number, order in
            var push = try OutboxPush.numbered(1, payload: #"{"time":\#(number)}"#, hasCallersID: true)
            push.headers.expiration = "\(1_800_000_000 + number)"
            push.sourceRequest = Array(order.utf8)
            return push
        }
        let status = PushStatus(id: pushes[0].id, lane: .orders, acceptedAt: 1, state: .accepted)
        #expect(try await store.accept(pushes, at: 1) == [.accepted, .duplicate(status), .conflict])
        #expect(try await store.claimAll(at: 2).map(\.push.payload) == [pushes[0].payload])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `pushes with an order key are claimed one after the other`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open()
        let line = try [(1, nil), (2, "5"), (3, nil), (4, nil)].map { number, priority in
            try OutboxPush.numbered(number, priority: priority, orderKey: "activity-7")
        }
        let free = try OutboxPush.numbered(5)
        let elsewhere = try OutboxPush.numbered(6, .orderTests, orderKey: "activity-7")
        _ = try await store.accept(line + [free, elsewhere], at: 10)
        var claimed = try await store.claimAll(at: 10)
        #expect(claimed.map(\.push.id) == [line[0].id, free.id])
        #expect(try await store.claimAll(.orderTests, at: 10).count == 1)
        // A postponed push delays the others.
        try await store.settle(
            [Settlement(claimed[0], .postponed(until: 20, attempts: 1, unknownTries: 0))],
            at: 11
        )
        #expect(try await store.claimAll(.orders, .powerAware, at: 15).isEmpty)
        let backlog = try await store.backlog().first { $0.lane == .orders }
        #expect(backlog?.count == 5 && backlog?.blocked == 3)
        claimed = try await store.claimAll(at: 25)
        #expect(claimed.map(\.push.id) == [line[0].id])
        try await store.end(claimed[0], .refused, at: 25)
        claimed = try await store.claimAll(.orders, .powerAware, at: 30)
        #expect(claimed.map(\.push.id) == [line[1].id])
        #expect(try await store.claimAll(at: 30).isEmpty)
        // A cancelled push in the middle does not change the order of the others.
        #expect(try await store.cancel(line[2].id, of: "orders", at: 31) != nil)
        #expect(try await store.claimAll(at: 32).isEmpty)
        try await store.end(claimed[0], .dead, at: 33)
        #expect(try await store.claimAll(at: 40).map(\.push.id) == [line[3].id])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a scheduled push waits for its time and its order key`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let late = try OutboxPush.numbered(1, notBefore: 500, orderKey: "game")
        let now = try OutboxPush.numbered(2, orderKey: "game")
        let next = try OutboxPush.numbered(3, orderKey: "game")
        _ = try await store.accept([late, now, next], at: 100)
        let first = try await store.claim(.orders, .immediate, limit: 9, at: 100)
        #expect(first.pushes.map(\.push.id) == [now.id] && first.nextDue == 500)
        #expect(try await store.claimAll(at: 600).isEmpty)
        try await store.end(first.pushes[0], at: 610)
        let second = try await store.claimAll(at: 620)
        #expect(second.map(\.push.id) == [late.id], "it was accepted first")
        try await store.end(second[0], at: 630)
        #expect(try await store.claimAll(at: 640).map(\.push.id) == [next.id])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `cancelled and expired pushes are not claimed`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let cancelled = try OutboxPush.numbered(1, notBefore: 50)
        let expired = try OutboxPush.numbered(2, notBefore: 50, expiresAt: 40)
        let claimed = try OutboxPush.numbered(3, expiresAt: 40)
        _ = try await store.accept([cancelled, expired, claimed], at: 10)
        #expect(try await store.claimAll(at: 10).count == 1)
        #expect(try await store.cancel(claimed.id, of: "orders", at: 11)?.state == .inFlight)
        #expect(try await store.cancel(cancelled.id, of: "rides", at: 11) == nil)
        let status = try await store.cancel(cancelled.id, of: "orders", at: 12)
        #expect(status?.state == .ended(Outcome(.cancelled), at: 12))
        #expect(try await store.expire(at: 39, limit: 10).isEmpty)
        let ended = PushStatus.State.ended(Outcome(.expired), at: 41)
        let status41 = PushStatus(id: expired.id, lane: .orders, acceptedAt: 10, state: ended)
        #expect(try await store.expire(at: 41, limit: 10) == [status41])
        #expect(try await store.claimAll(at: 60).isEmpty)
        #expect(try await store.outcome(of: expired)?.state == .expired)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a cancelled or expired push has the number of its attempts`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = [try OutboxPush.numbered(1), try OutboxPush.numbered(2, expiresAt: 60)]
        _ = try await store.accept(pushes, at: 10)
        for claimed in try await store.claimAll(at: 10) {
            let postponed = Settlement.Change.postponed(until: 90, attempts: 2, unknownTries: 1)
            try await store.settle([Settlement(claimed, postponed)], at: 20)
        }
        #expect(try await store.cancel(pushes[0].id, of: "orders", at: 30) != nil)
        let expired = try await store.expire(at: 70, limit: 10)
        #expect(expired.map(\.state) == [.ended(Outcome(.expired, attempts: 2, unknownTries: 1), at: 70)])
        #expect(try await store.outcome(of: pushes[0]) == Outcome(.cancelled, attempts: 2, unknownTries: 1))
        #expect(try await store.outcome(of: pushes[1]) == Outcome(.expired, attempts: 2, unknownTries: 1))
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the cursors of readers are stored`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var store = try await place.open()
        #expect(try await store.records.cursor(of: "webhook") == 0)
        try await store.records.setCursor(7, of: "webhook")
        try await store.records.setCursor(9, of: "webhook")
        await store.close(isInOrder: true)
        store = try await place.open()
        #expect(try await store.records.cursor(of: "webhook") == 9)
        #expect(try await store.records.cursor(of: "other") == 0)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a dead letter is stored until it is requeued`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var store = try await place.open()
        let push = try OutboxPush.numbered(1, orderKey: "game")
        _ = try await store.accept([push], at: 10)
        let outcome = Outcome(.dead, status: 503, reason: "ServiceUnavailable", attempts: 9, unknownTries: 2)
        let claimed = try await store.claimAll(at: 10)
        try await store.settle([Settlement(claimed[0], .ended(outcome))], at: 20)
        await store.close(isInOrder: true)
        store = try await place.open()
        let letters = try await store.records.deadLetters(of: "orders", limit: 10)
        #expect(letters == [DeadLetter(push: push, acceptedAt: 10, outcome: outcome, endedAt: 20)])
        #expect(try await store.records.deadLetterCounts() == ["orders": DeadLetterCount(count: 1, newest: 20)])
        #expect(try await store.backlog().isEmpty)
        #expect(try await store.requeueDeadLetters([], of: "orders", at: 30) == 0)
        #expect(try await store.requeueDeadLetters(nil, of: "orders", at: 30) == 1)
        #expect(try await store.outcome(of: push) == nil)
        #expect(try await store.records.deadLetterCounts().isEmpty)
        let again = try await store.claimAll(at: 31)
        #expect(again.map(\.push.id) == [push.id] && again.map(\.unknownTries) == [2])
        try await store.end(again[0], at: 40)
        #expect(try await store.forgetOutcomes(before: 40, limit: 10) == 0)
        #expect(try await store.forgetOutcomes(before: 41, limit: 10) == 1)
        #expect(try await store.status(of: push.id, of: "orders") == nil)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a repeated settlement changes no push that is claimed again`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0) }
        _ = try await store.accept(pushes, at: 10)
        let first = try await store.claimAll(at: 10)
        let returned = first.map(\.returned)
        try await store.settle(returned, at: 20)
        let second = try await store.claimAll(at: 30)
        #expect(second.map(\.push.id) == pushes.map(\.id))
        try await store.settle([returned[0]], at: 40)
        try await store.settle([returned[1], second[1].ended, returned[1]], at: 40)
        try await store.end(first[2], at: 40)
        #expect(try await store.claimAll(at: 50).isEmpty)
        #expect(try await store.status(of: pushes[0].id, of: "orders")?.state == .inFlight)
        #expect(try await store.outcome(of: pushes[1])?.state == .delivered)
        #expect(try await store.status(of: pushes[2].id, of: "orders")?.state == .inFlight)

        try await store.end(second[0], .dead, at: 60)
        #expect(try await store.requeueDeadLetters(nil, of: "orders", at: 70) == 1)
        let third = try await store.claimAll(at: 70)
        #expect(third.map(\.push.id) == [pushes[0].id])
        try await store.end(second[0], .dead, at: 80)
        #expect(try await store.status(of: pushes[0].id, of: "orders")?.state == .inFlight)
        try await store.end(third[0], at: 90)
        #expect(try await store.outcome(of: pushes[0])?.state == .delivered)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `dead letters are discarded by their identifiers`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0) }
        _ = try await store.accept(pushes, at: 10)
        for push in try await store.claimAll(at: 10) {
            let outcome = push.push.id == pushes[2].id ? Outcome(.cancelled) : Outcome(.dead, status: 503, attempts: 9)
            try await store.settle([Settlement(push, .ended(outcome))], at: 20)
        }
        let ids = [pushes[0].id, pushes[2].id, pushes[0].id, try OutboxPush.numbered(9).id]
        #expect(try await store.records.deleteDeadLetters(ids, of: "rides") == 0)
        #expect(try await store.records.deleteDeadLetters(ids, of: "orders") == 1)
        #expect(try await store.records.deleteDeadLetters(ids, of: "orders") == 0)
        #expect(try await store.records.deadLetters(of: "orders", limit: 10).map(\.push.id) == [pushes[1].id])
        #expect(try await store.status(of: pushes[0].id, of: "orders") == nil)
        #expect(try await store.status(of: pushes[2].id, of: "orders") != nil)
        #expect(try await store.accept([pushes[0]], at: 30) == [.accepted], "its identifier is forgotten")
        #expect(try await store.claimAll(at: 30).map(\.push.id) == [pushes[0].id])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `postponed and new pushes are claimed after the clock is set back`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        _ = try await store.accept([try .numbered(1), try .numbered(2)], at: 1_000)
        let claimed = try await store.claimAll(at: 1_000)
        let postponed = Settlement.Change.postponed(until: 0, attempts: 1, unknownTries: 0)
        try await store.settle([Settlement(claimed[0], postponed)], at: 900)
        _ = try await store.accept([try .numbered(3)], at: 800)
        let ids = try await store.claimAll(at: 1_001).map(\.push.id)
        #expect(Set(ids) == Set([claimed[0].push.id, try OutboxPush.numbered(3).id]))
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a full outbox accepts no push until one has ended`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open(limit: 2)
        let pushes = try (1...3).map { try OutboxPush.numbered($0) }
        #expect(try await store.accept(pushes, at: 1) == [.accepted, .accepted, .full])
        let claimed = try await store.claimAll(at: 1)
        try await store.end(claimed[0], at: 2)
        #expect(try await store.accept([pushes[2]], at: 3) == [.accepted])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `concurrent callers each get their own answer`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let answers = try await withThrowingTaskGroup { group in
            for number in 1...500 {
                group.addTask {
                    let push = try OutboxPush.numbered(UInt64(number % 250 + 1), hasCallersID: true)
                    let answer = try await store.accept([push], at: Int64(number))[0]
                    // The status of a duplicate has the time of the first one.
                    if answer == .accepted {
                        #expect(try await store.status(of: push.id, of: "orders")?.acceptedAt == Int64(number))
                    }
                    return answer
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { $0 == .accepted } == 250)
        let claimed = try await store.claimAll(at: 500)
        #expect(claimed.count == 250)
        try await withThrowingDiscardingTaskGroup { group in
            for (number, push) in claimed.enumerated() {
                group.addTask {
                    let outcome = Outcome(.delivered, status: 200)
                    let settlement = Settlement(push, .ended(outcome))
                    let time = try await store.settle([settlement], at: 1_000 + Int64(number))
                    #expect(try await store.status(of: push.push.id, of: "orders")?.state == .ended(outcome, at: time))
                }
            }
        }
    }

    @Test(arguments: OutboxEngine.allCases)
    func `after the clock is set back, pushes are claimed in time and once`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open()
        _ = try await store.accept([.numbered(1), .numbered(2)], at: 100_000)
        let first = try await store.claimAll(at: 100_000)
        #expect(first.count == 2)
        let now = try OutboxPush.numbered(3)
        let later = try OutboxPush.numbered(4, notBefore: 60_000)
        _ = try await store.accept([now, later], at: 50_000)
        #expect(try await store.claimAll(at: 50_000).map(\.push.id) == [now.id])
        let again = Settlement.Change.postponed(until: 51_000, attempts: 1, unknownTries: 0)
        try await store.settle([Settlement(first[1], again)], at: 50_000)
        #expect(try await store.claimAll(at: 50_500).isEmpty)
        #expect(try await store.claimAll(at: 51_000).map(\.push.id) == [first[1].push.id])
        #expect(try await store.claimAll(at: 59_999).isEmpty)
        #expect(try await store.claimAll(at: 60_000).map(\.push.id) == [later.id])
        #expect(try await store.claimAll(at: 200_000).isEmpty)
    }
}

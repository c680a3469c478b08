// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// The functions of every engine for an operator: pauses, purges, searches and due times.
@Suite struct LaneConformanceTests {
    @Test(arguments: OutboxEngine.allCases)
    func `a pause is stored until the lane is resumed, also over a restart`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var store = try await place.open()
        let pause = LanePause(lane: .orders, since: 1_000, caller: "operator")
        #expect(try await store.records.pause(.orders, by: "operator", at: 1_000) == pause)
        #expect(try await store.records.pause(.orders, by: "another", at: 2_000) == pause)
        _ = try await store.records.pause(.orderTests, by: "another", at: 3_000)
        await store.close(isInOrder: true)
        store = try await place.open()
        #expect(Set(try await store.records.pauses().map(\.lane)) == [.orders, .orderTests])
        #expect(try await store.records.pauses().contains(pause))
        #expect(try await store.records.resume(.orderTests))
        #expect(try await store.records.resume(.orderTests) == false)
        #expect(try await store.records.resume(.rides) == false)
        #expect(try await store.records.pauses() == [pause])
        await store.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a purge cancels all that waits in a lane, step by step, and nothing else`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open()
        var pushes = try (1...12).map { try OutboxPush.numbered($0) }
        for index in 2..<7 { pushes[index].orderKey = "line" }
        pushes[7].notBefore = 90_000
        pushes[8].notBefore = 90_000
        pushes[8].orderKey = "line"
        pushes[9].headers.priority = "5"
        pushes[10].lane = .orderTests
        pushes[11].lane = .rides
        _ = try await store.accept(pushes, at: 1_000)
        // Two pushes are in flight: one without an order key, and one that others wait for.
        let claimed = try await store.claim(.orders, .immediate, limit: 3, at: 1_000).pushes
        #expect(claimed.map(\.push.id) == pushes[0..<3].map(\.id))
        let postponed = Settlement.Change.postponed(until: 50_000, attempts: 2, unknownTries: 1)
        try await store.settle([Settlement(claimed[1], postponed)], at: 1_100)

        var last: Int64?
        var ended: [PushStatus] = []
        var isFirst = true
        while true {
            let step = try await store.purge(.orders, upTo: last, limit: 3, at: 2_000)
            last = step.last
            ended += step.pushes
            // A push that is accepted meanwhile stays, whatever step it meets.
            if isFirst { _ = try await store.accept([.numbered(20)], at: 2_000) }
            isFirst = false
            if step.pushes.count < 3 { break }
        }
        let waiting = [1] + Array(3...9)
        #expect(Set(ended.map(\.id)) == Set(waiting.map { pushes[$0].id }) && ended.count == waiting.count)
        for index in waiting {
            let status = try await store.status(of: pushes[index].id, of: "orders")
            let tries = index == 1 ? (attempts: 2, unknown: 1) : (attempts: 0, unknown: 0)
            let outcome = Outcome(.cancelled, attempts: tries.attempts, unknownTries: tries.unknown)
            #expect(status?.state == .ended(outcome, at: 2_000), "\(index)")
            #expect(ended.contains { $0 == status }, "\(index)")
        }
        for index in [0, 2] {
            #expect(try await store.status(of: pushes[index].id, of: "orders")?.state == .inFlight)
        }
        let backlog = Dictionary(uniqueKeysWithValues: try await store.backlog().map { ($0.lane, $0.count) })
        #expect(backlog == [.orders: 3, .orderTests: 1, .rides: 1])
        try await store.end(claimed[2], at: 3_000)
        #expect(try await store.claimAll(at: 99_000).map(\.push.id) == [APNsID(randomBits: (20, 20))])
        #expect(try await store.purge(.rides, upTo: nil, limit: 3, at: 3_000).pushes.map(\.id) == [pushes[11].id])
        let none = Lane(app: "nobody", environment: .production)
        #expect(try await store.purge(none, upTo: nil, limit: 3, at: 3_000).pushes.isEmpty)
        await store.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the status of a waiting push has its due time`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try [
            OutboxPush.numbered(1), .numbered(2, notBefore: 90_000), .numbered(3, orderKey: "line"),
            .numbered(4, orderKey: "line"),
        ]
        _ = try await store.accept(pushes, at: 1_000)
        func dueTimes() async throws -> [Int64?] {
            var times: [Int64?] = []
            for push in pushes { times.append(try await store.status(of: push.id, of: "orders")?.dueAt) }
            return times
        }
        // A claim lines up the last one.
        #expect(try await Array(dueTimes().prefix(3)) == [1_000, 90_000, 1_000])
        let claimed = try await store.claimAll(at: 1_000)
        #expect(claimed.map(\.push.id) == [pushes[0].id, pushes[2].id])
        #expect(try await dueTimes() == [nil, 90_000, nil, nil])
        try await store.settle([claimed[0].postponed(until: 50_000)], at: 2_000)
        try await store.end(claimed[1], at: 2_000)
        #expect(try await dueTimes() == [50_000, 90_000, nil, 2_000])
        await store.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a search finds the pushes and dead letters to a token, page by page`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open()
        let token = try DeviceToken(hex: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d")
        var pushes = try (1...7).map { try OutboxPush.numbered($0, token: token.hex) }
        pushes[3].lane = .rides
        pushes[4].lane = .orderTests
        pushes[5].destination = .device(try DeviceToken(hex: "5d3a6a1c"))
        pushes[6].destination = .channel("dHN0LWNo", bundle: "com.example.orders")
        _ = try await store.accept(pushes, at: 1_000)
        let claimed = try await store.claim(.orders, .immediate, limit: 3, at: 1_000).pushes
        try await store.end(claimed[0], at: 2_000)
        try await store.end(claimed[1], .dead, at: 2_000)

        let found = try await store.records.pushes(to: token, of: "orders", after: 0, limit: 10)
        #expect(found.map(\.status.id) == [1, 2, 4].map { pushes[$0].id })
        #expect(found.map(\.status.lane) == [.orders, .orders, .orderTests])
        guard case .ended(let outcome, at: 2_000)? = found.first?.status.state else {
            Issue.record("\(found)")
            return
        }
        #expect(outcome.state == .dead)
        #expect(found[1].status.state == .inFlight && found[2].status.state == .accepted)
        let first = try await store.records.pushes(to: token, of: "orders", after: 0, limit: 2)
        #expect(first == Array(found[..<2]))
        #expect(try await store.records.pushes(to: token, of: "orders", after: first[1].number, limit: 2) == [found[2]])
        #expect(
            try await store.records.pushes(to: token, of: "rides", after: 0, limit: 9).map(\.status.id) == [
                pushes[3].id
            ]
        )
        #expect(try await store.records.pushes(to: token, of: "nobody", after: 0, limit: 9).isEmpty)
        await store.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a dead letter is returned whole by its identifier`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0, payload: #"{"aps":{},"b":1e400}"#) }
        _ = try await store.accept(pushes, at: 1_000)
        let claimed = try await store.claim(.orders, .immediate, limit: 2, at: 1_000).pushes
        for push in claimed { try await store.end(push, .dead, at: 2_000) }
        let letter = try #require(try await store.records.deadLetter(pushes[1].id, of: "orders"))
        #expect(letter.push == pushes[1] && letter.endedAt == 2_000 && letter.outcome.state == .dead)
        #expect(try await store.records.deadLetter(pushes[2].id, of: "orders") == nil)
        #expect(try await store.records.deadLetter(pushes[1].id, of: "rides") == nil)
        await store.close(isInOrder: true)
    }
}

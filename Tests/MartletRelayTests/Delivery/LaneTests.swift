// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// Lanes that an operator pauses and purges, over the interface in JSON.
@Suite(.timeLimit(.minutes(10))) struct LaneTests {
    private static let lane = Lane(app: "orders", environment: .production)
    private static let place = "/v1/apps/orders/lanes/production"
    private static let order = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#

    private func untilStored(_ count: Int, _ bench: RelayBench) async throws {
        try await eventually("the backlog is \(count)") {
            await bench.parts.monitor.backlog()?[Self.lane]?.count ?? 0 == count
        }
    }

    @Test func `a paused lane stores pushes and sends none, also after a restart, until it is resumed`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger(.info))
        let paused = await bench.ask("POST", Self.place + "/pause")
        #expect(paused.status == 200 && paused.json["caller"] == "back end", "\(paused.text)")
        #expect(await bench.ask("POST", Self.place + "/pause").json == paused.json)
        #expect(await bench.ask("POST", "/v1/pushes", Self.order).status == 202)
        #expect(await bench.ask("GET", "/v1/status").json["lanes"]?.elements?[0]["manual-pause"] == paused.json)
        let readiness = await bench.ask("GET", "/readyz?verbose")
        #expect(readiness.status == 200 && readiness.text.contains("orders production: paused manually since 20"))
        let metrics = await bench.ask("GET", "/metrics").text
        #expect(metrics.contains(#"martlet_relay_lane_paused_manually{app="orders",env="production"} 1"#))
        #expect(metrics.contains(#"martlet_relay_lane_paused{app="orders",env="production"} 0"#))
        await bench.relay.stop()

        let next = try await bench.another()
        #expect(await next.ask("GET", "/v1/status").json["lanes"]?.elements?[0]["manual-pause"] == paused.json)
        #expect(await next.ask("POST", "/v1/pushes?wait=0", Self.order).json["state"] == "accepted")
        #expect(await next.parts.dispatcher.machine.inFlight == 0)
        #expect(await bench.apple.pushCount == 0)
        #expect(await next.ask("POST", Self.place + "/resume").json == ["resumed": true])
        #expect(await next.ask("POST", Self.place + "/resume").json == ["resumed": false])
        #expect(await next.push().json["state"] == "delivered")
        try await untilStored(0, next)
        #expect(await bench.apple.pushCount == 3)
        await next.relay.stop()
        await bench.apple.stop()
        let line = lines.objects.filter { $0["msg"] == "lane paused" }
        #expect(line.count == 1 && line[0]["caller"] == "back end" && line[0]["app"] == "orders")
    }

    @Test func `a purge cancels waiting pushes and answers their callers`() async throws {
        let bench = try await RelayBench()
        _ = await bench.ask("POST", Self.place + "/pause")
        let events = try #require(await bench.parts.intake.listen(for: RelayBench.listener(to: "orders"), after: nil))
        async let waiting = bench.push()
        let many = (0..<1_100).map { OutboxPush.sample($0, Self.lane) }
        _ = await bench.parts.intake.accept(many.map(HashedPush.init), from: RelayBench.listener(to: "orders"))
        try await untilStored(1_101, bench)
        let purged = await bench.ask("POST", Self.place + "/purge")
        #expect(purged.status == 200 && purged.json == ["purged": 1_101], "\(purged.text)")
        let answer = await waiting
        #expect(answer.status == 200 && answer.json["state"] == "cancelled", "\(answer.text)")
        var cancelled = 0
        for await event in events {
            #expect(String(decoding: event, as: UTF8.self).contains("cancelled"))
            cancelled += 1
            if cancelled == 1_101 { break }
        }
        #expect(await bench.ask("POST", Self.place + "/purge").json == ["purged": 0])
        #expect(await bench.apple.pushCount == 0)
        await bench.stop()
    }

    @Test func `a lane that does not exist, and one of another app, are refused`() async throws {
        let bench = try await RelayBench()
        for action in ["pause", "resume", "purge"] {
            let missing = await bench.ask("POST", "/v1/apps/orders/lanes/development/\(action)")
            #expect(missing.status == 404 && missing.text.contains("orders has no lane development; known: production"))
            #expect(await bench.ask("POST", "/v1/apps/rides/lanes/production/\(action)").status == 403)
        }
        await bench.stop()
    }

    @Test func `nothing is sent before the paused lanes are read`() async throws {
        let bench = try await RelayBench()
        await bench.relay.stop()
        let outbox = try await SQLiteOutbox(file: bench.directory.path + "/relay.sqlite")
        _ = try await outbox.records.pause(Self.lane, by: "operator", at: 1)
        _ = try await outbox.accept([.sample(1, Self.lane)], at: 1)
        // The relay starts while its file is in use, and opens it when it is closed.
        let next = try await bench.another()
        #expect(await next.parts.dispatcher.laneControl.isKnown == false)
        await outbox.close(isInOrder: true)
        try await eventually("the paused lanes are read") { await next.parts.dispatcher.laneControl.isKnown }
        #expect(await next.parts.dispatcher.laneControl.lanes == [Self.lane])
        #expect(await next.parts.dispatcher.machine.inFlight == 0)
        #expect(await bench.apple.pushCount == 0)
        await next.relay.stop()
        await bench.apple.stop()
    }
}

extension OutboxPush {
    /// A push with nothing special about it.
    static func sample(_ number: Int, _ lane: Lane) -> OutboxPush {
        OutboxPush(
            lane: lane,
            id: APNsID(randomBits: (UInt64(number), 7)),
            destination: .device(RelayBench.token),
            headers: PushHeaders(pushType: "alert", topic: "com.example.orders"),
            payload: Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
        )
    }

    /// A broadcast whose headers break no rule.
    static func broadcast(_ number: Int64, _ lane: Lane, priority: String = "10", expiresAt: Int64? = nil) -> OutboxPush
    {
        OutboxPush(
            lane: lane,
            id: APNsID(randomBits: (UInt64(number), 0)),
            destination: .channel("AAAA", bundle: "com.example.app"),
            headers: PushHeaders(pushType: "liveactivity", expiration: "0", priority: priority),
            payload: [],
            expiresAt: expiresAt
        )
    }
}

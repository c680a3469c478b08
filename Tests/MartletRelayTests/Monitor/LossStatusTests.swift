// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of the numbers of lost pushes that a relay reports through its interfaces.
@Suite(.timeLimit(.minutes(10))) struct LossStatusTests {
    private static let lane = Lane(app: "orders", environment: .production)

    private let clock = TestClock()
    private let lines = LogLines()

    private func incident(_ kind: String, of bench: RelayBench) async -> JSONValue? {
        await bench.ask("GET", "/v1/status").json["incidents"]?.elements?.first { $0["kind"]?.stringValue == kind }
    }

    private func send(_ count: Int, expiringIn seconds: Int64, to bench: RelayBench) async {
        let push = #"{"to":"5d3a6a1c","expiration":\#(clock.now + seconds),"payload":{"aps":{"alert":"Hi"}}}"#
        for _ in 0..<count { #expect(await bench.ask("POST", "/v1/pushes", push).status == 202) }
    }

    private func waitForExpiry(of count: Int, in bench: RelayBench) async throws {
        try await eventually("expired pushes have ended", in: bench.parts.dispatcher) {
            $0.snapshot.counts.outcomes[Self.lane]?[.expired] == count
        }
    }

    @Test func `an outage has the same number of losses on every surface`() async throws {
        let reserved = try SilentServer.unusedPort()
        let nowhere = LaneEndpoint(APNsEndpoint(host: "127.0.0.1", port: reserved.port, isEncrypted: false))
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger(.warning)) {
            $0.endpoints = [.production: nowhere]
        }
        await send(3, expiringIn: 90, to: bench)
        try await eventually("the lane is down", in: bench.parts.dispatcher) {
            $0.machine.lanes[Self.lane]?.outage != nil
        }
        clock.advance(by: 120)
        try await waitForExpiry(of: 3, in: bench)
        let outage = try #require(await incident("apple-unreachable", of: bench))
        let text = outage["text"]?.stringValue ?? ""
        #expect(outage["lost"] == 3 && !text.contains("none is lost"), "\(outage)")
        let lane = await bench.ask("GET", "/v1/status").json["lanes"]?.elements?.first
        #expect(lane?["outcomes"]?["expired"] == 3)
        let metrics = await bench.ask("GET", "/metrics").text
        #expect(metrics.contains("martlet_relay_expired_total{app=\"orders\",env=\"production\"} 3\n"), "\(metrics)")
        try await eventually("the losses are logged") {
            lines.objects.contains { $0["msg"] == "pushes expired" && $0["app"] == "orders" }
        }
        #expect(await incident("pushes-expire", of: bench) == nil, "the outage explains them")
        await bench.stop()
    }

    @Test func `expiries without an outage are a problem of their own`() async throws {
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger(.warning))
        let times = #""not-before":\#(clock.now + 60),"expiration":\#(clock.now + 90)"#
        let later = #"{"to":"5d3a6a1c",\#(times),"payload":{"aps":{"alert":"Hi"}}}"#
        for _ in 0..<4 { #expect(await bench.ask("POST", "/v1/pushes", later).status == 202) }
        clock.advance(by: 120)
        try await waitForExpiry(of: 4, in: bench)
        let expiry = try #require(await incident("pushes-expire", of: bench))
        #expect(expiry["severity"] == "warning" && expiry["lost"] == 4, "\(expiry)")
        let headline = await bench.ask("GET", "/v1/status").json["headline"]?.stringValue
        #expect(headline?.hasPrefix("Accepted pushes of orders expire since ") == true, "\(headline ?? "")")
        clock.advance(by: 60)
        await bench.parts.monitor.postHealth()
        let over = try #require(await incident("outage-over", of: bench))
        #expect(over["lost"] == 4 && over["runbook"] == "MartletRelayPushesExpire", "\(over)")
        await bench.stop()
    }

    @Test func `losses are shown after a restart`() async throws {
        let directory = try ScratchDirectory()
        var bench = try await RelayBench(directory: directory, clock: clock.wall)
        let times = #""not-before":\#(clock.now + 60),"expiration":\#(clock.now + 90)"#
        let later = #"{"to":"5d3a6a1c",\#(times),"payload":{"aps":{"alert":"Hi"}}}"#
        for _ in 0..<4 { #expect(await bench.ask("POST", "/v1/pushes", later).status == 202) }
        clock.advance(by: 120)
        try await waitForExpiry(of: 4, in: bench)
        let records = bench.parts.outbox.records
        try await eventually("the problem is stored while the relay runs") {
            (try? await records.problems(of: "relay"))?.contains("\"expired\":4") == true
        }
        await bench.stop()
        bench = try await RelayBench(directory: directory, clock: clock.wall)
        let expiry = try #require(await incident("pushes-expire", of: bench))
        #expect(expiry["lost"] == 4, "\(expiry)")
        clock.advance(by: 600)
        await bench.parts.monitor.postHealth()
        await bench.stop()
        bench = try await RelayBench(directory: directory, clock: clock.wall)
        let over = try #require(await incident("outage-over", of: bench))
        #expect(over["lost"] == 4 && over["runbook"] == "MartletRelayPushesExpire", "\(over)")
        clock.advance(by: 3_600)
        #expect(await incident("outage-over", of: bench) == nil, "it was over more than an hour ago")
        await bench.stop()
    }

    @Test func `a problem of long ago is not shown after the second restart`() async throws {
        let directory = try ScratchDirectory()
        var bench = try await RelayBench(directory: directory, clock: clock.wall)
        let now = clock.now * 1_000
        let lane = #""app":"orders","environment":"production""#
        let text = #"[{"kind":"outage",\#(lane),"start":\#(now - 60_000),"losses":[{\#(lane),"expired":4}]}]"#
        try await bench.parts.outbox.records.storeProblems(text, of: "relay", at: now, deletingBefore: 0)
        await bench.stop()
        clock.advance(by: 7_200)
        for _ in 0..<2 {
            bench = try await RelayBench(directory: directory, clock: clock.wall)
            #expect(await incident("outage-over", of: bench) == nil)
            await bench.stop()
        }
    }

    @Test func `a relay restores the problems of its name in a shared database`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let address = server.address(of: try await server.makeDatabase())
        try await OutboxSchema.create(in: address)
        let first = try await RelayBench(data: .database(address), clock: clock.wall) { $0.node = "relay-1" }
        let (start, end) = ((clock.now - 90) * 1_000, (clock.now - 60) * 1_000)
        let lane = #""app":"orders","environment":"production""#
        let text = #"[{"kind":"outage",\#(lane),"start":\#(start),"end":\#(end),"losses":[{\#(lane),"expired":1239}]}]"#
        let records = first.parts.outbox.records
        let now = clock.now * 1_000
        try await records.storeProblems(text, of: "relay-2", at: now, deletingBefore: 0)
        let second = try await RelayBench(data: .database(address), clock: clock.wall) { $0.node = "relay-2" }
        #expect(await incident("outage-over", of: second)?["lost"] == 1_239)
        #expect(await incident("outage-over", of: first) == nil)
        await second.stop()
        await first.stop()
    }
}

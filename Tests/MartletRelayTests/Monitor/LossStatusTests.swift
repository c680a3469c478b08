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
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The states of a lane that delivers nothing although no attempt has failed, or has nothing to deliver.
@Suite(.timeLimit(.minutes(10))) struct LaneProblemTests {
    private static let lane = Lane(app: "orders", environment: .production)
    private static let order = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#

    private let clock = TestClock()
    private let lines = LogLines()

    private func status(_ bench: RelayBench) async -> JSONValue {
        await bench.ask("GET", "/v1/status").json["lanes"]?.elements?.first ?? .null
    }

    @Test func `a missing answer is reported after ten seconds until one arrives`() async throws {
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger(.info))
        // Apple allows more than one stream from the first answer on.
        #expect(await bench.push().json["state"] == "delivered")
        await bench.apple.setFaults([
            SimulatedAPNs.Fault(.hang, with: SimulatedAPNs.Fault.Match(devicePrefix: "5d3a6a1c"))
        ])
        let start = clock.now
        _ = await bench.ask("POST", "/v1/pushes", Self.order)
        try await eventually("the push is in flight", in: bench.parts.dispatcher) {
            $0.machine.lanes[Self.lane]?.inFlight == 1
        }
        #expect(await status(bench)["state"] == "delivers")
        clock.advance(by: 10)
        try await eventually("the missing answer is noticed", in: bench.parts.dispatcher) {
            $0.deliveryLog.outages[Self.lane]?.isSilent == true
        }
        let lane = await status(bench)
        #expect(lane["state"] == "down" && lane["reason"] == "NoAnswer" && lane["since"] == .whole(start * 1_000))
        #expect(lane["backlog"] == 1 && lane["waiting"] == 0 && lane["in-flight"] == 1, "\(lane)")
        let line = lines.objects.first { $0["msg"] == "no answer from APNs" }
        #expect(line?["level"] == "warning" && line?["app"] == "orders" && line?["in-flight"] == 1, "\(lines.all)")
        let metrics = await bench.ask("GET", "/metrics").text
        let sample = #"lane_down_since_timestamp_seconds{app="orders",env="production",reason="NoAnswer"} "#
        #expect(metrics.contains(sample + "\(Double(start))"), "\(metrics)")
        _ = await bench.ask("POST", "/v1/apps/orders/lanes/production/pause")
        await bench.parts.monitor.postHealth()
        let ready = await bench.ask("GET", "/readyz?verbose").text
        #expect(ready.contains(/orders production: paused manually since .*, and down since .*: NoAnswer/), "\(ready)")
        _ = await bench.ask("POST", "/v1/apps/orders/lanes/production/resume")

        // Other pushes are sent as before, and the first answer ends it.
        #expect(await bench.push(to: "5d3a6a1d").json["state"] == "delivered")
        #expect(await status(bench)["state"] == "delivers")
        try await eventually("the answer ends the outage", in: bench.parts.dispatcher) {
            $0.deliveryLog.outages[Self.lane]?.isSilent == false
        }
        #expect(lines.objects.filter { $0["msg"] == "APNs answers again" }.count == 1)
        await bench.apple.stop()
        await bench.relay.stop(within: .zero)
    }

    @Test func `a lane whose connections are reset is down immediately`() async throws {
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger(.info))
        #expect(await bench.push().json["state"] == "delivered")
        await bench.apple.setFaults([SimulatedAPNs.Fault(.resetConnection)])
        for number in 0..<60 {
            let order = #"{"to":"5d3a6a\#(number + 100)0","payload":{"aps":{"alert":"Hi"}}}"#
            #expect(await bench.ask("POST", "/v1/pushes", order).status == 202)
        }
        try await eventually("the lane is down and idle", in: bench.parts.dispatcher) {
            $0.machine.lanes[Self.lane]?.outage != nil && $0.machine.isIdle
        }
        let lane = await status(bench)
        #expect(lane["state"] == "down" && lane["reason"] == "ConnectionLost" && lane["in-flight"] == 0, "\(lane)")
        #expect(lines.objects.filter { $0["msg"] == "lane down" }.map { $0["reason"] } == ["ConnectionLost"])

        // One push at a time shows whether that lasts.
        let tried = await bench.parts.dispatcher.snapshot.counts.sent[Self.lane] ?? 0
        clock.advance(by: 1)
        try await eventually("one more push was tried", in: bench.parts.dispatcher) {
            ($0.snapshot.counts.sent[Self.lane] ?? 0) > tried && $0.machine.isIdle
        }
        #expect(await status(bench)["reason"] == "ConnectionLost")
        #expect(await bench.parts.dispatcher.snapshot.counts.sent[Self.lane] == tried + 1)
        await bench.stop()
    }

    @Test func `a lane that is down is not tried when it has no pushes`() async throws {
        let reserved = try SilentServer.unusedPort()
        let nowhere = LaneEndpoint(APNsEndpoint(host: "127.0.0.1", port: reserved.port, isEncrypted: false))
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger(.info)) {
            $0.endpoints = [.production: nowhere]
        }
        let id = await bench.ask("POST", "/v1/pushes", Self.order).json["id"]?.stringValue ?? ""
        try await eventually("the lane is down and idle", in: bench.parts.dispatcher) {
            $0.machine.lanes[Self.lane]?.outage != nil && $0.machine.isIdle
        }
        #expect(await status(bench)["state"] == "down")
        #expect(await bench.ask("POST", "/v1/apps/orders/lanes/production/pause").status == 200)
        #expect(await bench.ask("DELETE", "/v1/pushes/\(id)").status == 200)
        #expect(await bench.ask("POST", "/v1/apps/orders/lanes/production/resume").status == 200)
        clock.advance(by: 20)
        let metrics = await bench.ask("GET", "/metrics").text
        #expect(!metrics.contains("martlet_relay_lane_down_since_timestamp_seconds{"), "\(metrics)")
        let lane = await status(bench)
        #expect(lane["state"] == "not-tried" && lane["reason"] == "ConnectionFailed", "nothing has succeeded since")
        #expect(!lines.objects.contains { $0["msg"] == "lane recovered" })
        await bench.stop()
    }

    @Test func `a lane whose device tokens are refused is logged as down once`() async throws {
        let faults = [SimulatedAPNs.Fault(.respond(.badDeviceToken))]
        let bench = try await RelayBench(faults: faults, clock: clock.wall, log: lines.logger(.info))
        for number in 0..<120 {
            let order = #"{"to":"5d3a6a\#(number + 100)0","payload":{"aps":{"alert":"Hi"}}}"#
            #expect(await bench.ask("POST", "/v1/pushes", order).status == 202)
        }
        try await eventually("the lane is down because of refused tokens", in: bench.parts.dispatcher) {
            $0.machine.lanes[Self.lane]?.outage?.reason == "BadDeviceToken" && $0.machine.isIdle
        }
        let rests = lines.objects.filter { $0["msg"] == "lane down" }
        #expect(rests.count == 1 && rests[0]["because"]?.stringValue == "400 BadDeviceToken", "\(rests)")
        #expect(!lines.objects.contains { $0["msg"] == "lane recovered" })
        await bench.stop()
    }
}

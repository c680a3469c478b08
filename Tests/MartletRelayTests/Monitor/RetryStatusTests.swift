// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// Pushes that Apple refuses for now: how many wait for another attempt, since when, and why.
@Suite(.timeLimit(.minutes(10))) struct RetryStatusTests {
    private static let lane = Lane(app: "orders", environment: .production)

    private let clock = TestClock()
    private let lines = LogLines()

    @Test(arguments: [
        (APNsReason.tooManyRequests, "429 TooManyRequests"), (.serviceUnavailable, "503 ServiceUnavailable"),
    ])
    func `pushes that wait for another attempt are in status, metrics, log and command`(
        reason: APNsReason,
        text: String
    )
        async throws
    {
        let refusal = SimulatedAPNs.Fault(.respond(reason), with: SimulatedAPNs.Fault.Match(devicePrefix: "0429"))
        let bench = try await RelayBench(faults: [refusal], clock: clock.wall, log: lines.logger(.warning)) {
            $0.http = RelayConfiguration.Address(port: 0)
        }
        let start = clock.now
        let order = #"{"to":"04290000","payload":{"aps":{"alert":"Hi"}}}"#
        for _ in 0..<2 {
            #expect(await bench.ask("POST", "/v1/pushes", order).status == 202)
            try await eventually("the attempt has ended", in: bench.parts.dispatcher) {
                $0.machine.isIdle && $0.machine.lanes[Self.lane]?.hasClaimed == false
            }
        }
        try await eventually("both pushes were sent", in: bench.parts.dispatcher) {
            $0.snapshot.counts.sent[Self.lane] == 2 && $0.machine.isIdle
        }
        clock.advance(by: 5)
        #expect(await bench.push().json["state"] == "delivered", "others are delivered")
        let lane = await bench.ask("GET", "/v1/status").json["lanes"]?.elements?.first ?? .null
        #expect(lane["retrying"] == 2 && lane["retrying-since"] == .whole(start * 1_000), "\(lane)")
        #expect(lane["retry-reason"]?.stringValue == text && lane["state"] == "delivers", "\(lane)")
        let metrics = await bench.ask("GET", "/metrics").text
        let labels = #"{app="orders",env="production"}"#
        #expect(metrics.contains("martlet_relay_outbox_retrying\(labels) 2\n"), "\(metrics)")
        #expect(metrics.contains("martlet_relay_outbox_oldest_retry_seconds\(labels) 5.0\n"), "\(metrics)")
        // One line now, the next one later.
        let logged = lines.objects.filter { $0["msg"] == "push postponed" }
        #expect(logged.count == 1 && logged[0]["reason"]?.stringValue == text, "\(lines.all)")

        let key = try bench.directory.write(RelayBench.callerKey, to: "caller.key")
        let url = "http://127.0.0.1:\(await bench.relay.httpPort ?? 0)"
        let run = try await ProgramRun(MartletProcess.program, ["relay", "status", "--url", url, "--key-file", key])
        let line =
            "orders production: 2 pushes wait for another attempt, the oldest accepted 5 s ago; last reason: \(text)\n"
        #expect(run.status == 0 && run.text.contains(line), "\(run.text)\(run.errorOutput)")
        await bench.stop()
    }

    @Test func `the start of an outage and the age of pushes survive a restart`()
        async throws
    {
        let reserved = try SilentServer.unusedPort()
        let nowhere = LaneEndpoint(APNsEndpoint(host: "127.0.0.1", port: reserved.port, isEncrypted: false))
        let start = clock.now * 1_000
        let directory = try ScratchDirectory()
        for restart in 0..<3 as Range<Int64> {
            let bench = try await RelayBench(directory: directory, clock: clock.wall) {
                $0.endpoints = [.production: nowhere]
            }
            if restart == 0 { _ = await bench.ask("POST", "/v1/pushes", #"{"to":"04290000","payload":{"aps":{}}}"#) }
            try await eventually("the lane is down", in: bench.parts.dispatcher) {
                $0.machine.lanes[Self.lane]?.outage != nil
            }
            let lane = await bench.ask("GET", "/v1/status").json["lanes"]?.elements?.first ?? .null
            #expect(lane["state"] == "down" && lane["since"] == .whole(start), "\(restart): \(lane)")
            #expect(lane["oldest-seconds"] == .whole(restart * 600), "\(restart): \(lane)")
            await bench.parts.dispatcher.syncOutages()
            await bench.relay.stop(within: .zero)
            await bench.apple.stop()
            clock.advance(by: 600)
        }
        // Once Apple has accepted a push, the outage is over for the next process, too.
        for _ in 0..<2 {
            let bench = try await RelayBench(directory: directory, clock: clock.wall)
            #expect(await bench.push().json["state"] == "delivered")
            await bench.parts.dispatcher.syncOutages()
            #expect(await bench.parts.dispatcher.storedOutages[Self.lane] == 0)
            await bench.stop()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The rates and states of a lane with a known history, in each place where the relay reports them.
@Suite(.timeLimit(.minutes(10))) struct LaneStateTests {
    private static let lane = Lane(app: "orders", environment: .production)
    private static let browser = "/usr/bin/chromium"

    /// The numbers and the state of the lane at one time.
    private struct Expected {
        var sent: Int
        var rate: String
        var delivered: Int
        var refused = 2
        /// The reason and the time since then in seconds; nil for a lane that sends.
        var outage: (reason: String, since: Int64)?
    }

    private let clock = TestClock()

    @Test func `status, metrics, command and page report the sent pushes`() async throws {
        let bench = try await RelayBench(clock: clock.wall) { $0.http = RelayConfiguration.Address(port: 0) }
        for token in ["dead00f1", "dead00f2"] { await bench.apple.unregister(try DeviceToken(hex: token)) }
        await bench.apple.setFaults([
            SimulatedAPNs.Fault(.resetConnection, with: SimulatedAPNs.Fault.Match(devicePrefix: "0bad"), count: 1)
        ])
        let start = clock.now

        // 20 pushes are delivered, two are refused, and one is sent twice because Apple did not answer the first time.
        for _ in 0..<20 { #expect(await bench.push().json["state"] == "delivered") }
        for token in ["dead00f1", "dead00f2"] { #expect(await bench.push(to: token).json["state"] == "refused") }
        _ = await bench.push(to: "0bad", waiting: false)
        try await eventually("23 pushes were sent", in: bench.parts.dispatcher) {
            $0.snapshot.counts.sent[Self.lane] == 23
        }
        clock.advance(by: 5)
        try await eventually("the push without an answer was sent again", in: bench.parts.dispatcher) {
            $0.snapshot.counts.sent[Self.lane] == 24 && $0.machine.isIdle
        }
        clock.advance(by: 5)
        await check(bench, Expected(sent: 24, rate: "2.4", delivered: 21))
        let metrics = await bench.ask("GET", "/metrics").text
        let lost = #"sent_total{app="orders",env="production",push_type="alert",status="0",reason="ConnectionLost"} 1"#
        #expect(metrics.contains(lost), "\(metrics)")

        // Apple goes away at second 10: three pushes wait, and no try of theirs is a send.
        let port = await bench.apple.port
        await bench.apple.stop()
        try await eventually("the relay notices that its connection is closed", in: bench.parts.dispatcher) {
            $0.connections[Self.lane]?.count == 0
        }
        let down = clock.now
        #expect(down == start + 10)
        for _ in 0..<3 { _ = await bench.push(waiting: false) }
        try await eventually("the lane is down while Apple is away", in: bench.parts.dispatcher) {
            $0.machine.lanes[Self.lane]?.outage != nil
        }
        clock.advance(by: 20)
        let outage = Expected(sent: 24, rate: "0", delivered: 21, outage: ("ConnectionFailed", down))
        await check(bench, outage)
        let waiting = await bench.ask("GET", "/v1/status").json["lanes"]?.elements?.first
        #expect(waiting?["backlog"] == 3 && waiting?["oldest-seconds"] == 20, "each try makes a push due anew")
        #expect((await bench.parts.dispatcher.snapshot.counts.unsent.values.reduce(0, +)) >= 1)
        let ready = await bench.ask("GET", "/readyz?verbose").text
        #expect(ready.contains("orders production: down since 2026-11-18T11:06:50.000Z: ConnectionFailed"), "\(ready)")

        // Apple is back at second 30.
        var configuration = SimulatedAPNs.Configuration()
        configuration.isEncrypted = false
        configuration.environment = .production
        configuration.port = port
        let apple = try await SimulatedAPNs.start(configuration)
        clock.advance(by: 5)
        try await eventually("the waiting pushes are delivered", in: bench.parts.dispatcher) {
            $0.snapshot.counts.outcomes[Self.lane]?[.delivered] == 24 && $0.machine.isIdle
        }
        clock.advance(by: 5)
        await check(bench, Expected(sent: 27, rate: "0.3", delivered: 24))

        // Apple refuses the credentials from second 40 on: what it answered was sent.
        await apple.setFaults([SimulatedAPNs.Fault(.respond(.invalidProviderToken))])
        let refused = clock.now
        _ = await bench.push(waiting: false)
        try await eventually("the push with refused credentials was sent", in: bench.parts.dispatcher) {
            $0.snapshot.counts.sent[Self.lane] == 28
        }
        _ = await bench.push(to: "5d3a6a1d", waiting: false)
        try await eventually("the lane is down because of the credentials", in: bench.parts.dispatcher) {
            $0.machine.lanes[Self.lane]?.outage != nil
        }
        let credentials = Expected(sent: 29, rate: "0.3", delivered: 24, outage: ("InvalidProviderToken", refused))
        await check(bench, credentials)
        await bench.relay.stop()
        await apple.stop()
    }

    private func check(_ bench: RelayBench, _ expected: Expected) async {
        await bench.parts.monitor.recordRates()
        await checkStatus(bench, expected)
        await checkMetrics(bench, expected)
        do {
            try await checkCommand(bench, expected)
            try await checkPage(bench, expected)
        } catch {
            Issue.record("\(error)")
        }
    }

    private func checkStatus(_ bench: RelayBench, _ expected: Expected) async {
        let lane = await bench.ask("GET", "/v1/status").json["lanes"]?.elements?.first ?? .null
        let words = "\(String(decoding: lane.encoded(), as: UTF8.self))"
        let rate = lane["sent-per-second"].map { String(decoding: $0.encoded(), as: UTF8.self) }
        #expect(lane["sent"] == .whole(expected.sent) && rate == expected.rate, "\(words)")
        let outcomes = lane["outcomes"]
        #expect(outcomes?["delivered"] == .whole(expected.delivered), "\(words)")
        #expect(outcomes?["refused"] == .whole(expected.refused), "\(words)")
        #expect(lane["state"]?.stringValue == (expected.outage == nil ? "delivers" : "down"), "\(words)")
        #expect(lane["reason"]?.stringValue == expected.outage?.reason, "\(words)")
        #expect(lane["since"]?.integerValue == expected.outage.map { $0.since * 1_000 }, "\(words)")
        let pausedUntil = lane["paused-until"]?.integerValue
        #expect(pausedUntil.map { expected.outage != nil && $0 > clock.now * 1_000 } ?? true, "\(words)")
    }

    private func checkMetrics(_ bench: RelayBench, _ expected: Expected) async {
        let lines = await bench.ask("GET", "/metrics").text.split(separator: "\n")
        let labels = #"{app="orders",env="production""#
        let sent = lines.filter { $0.hasPrefix("martlet_relay_sent_total" + labels) }
        #expect(sent.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +) == expected.sent)
        #expect(lines.contains("martlet_relay_lane_paused\(labels)} \(expected.outage == nil ? 0 : 1)"))
        #expect(lines.contains("martlet_relay_outcomes_total\(labels),state=\"delivered\"} \(expected.delivered)"))
        let since = lines.filter { $0.hasPrefix("martlet_relay_lane_down_since_timestamp_seconds{") }
        let wanted = expected.outage.map {
            "martlet_relay_lane_down_since_timestamp_seconds\(labels),reason=\"\($0.reason)\"} \(Double($0.since))"
        }
        #expect(since.map(String.init) == [wanted].compactMap(\.self))
        for line in lines where line.hasPrefix("martlet_relay_unsent_tries_total{") {
            #expect(line.contains(#"reason="ConnectionFailed""#), "\(line)")
        }
    }

    private func checkCommand(_ bench: RelayBench, _ expected: Expected) async throws {
        let key = try bench.directory.write(RelayBench.callerKey, to: "caller.key")
        let url = await url(of: bench)
        let run = try await ProgramRun(
            MartletProcess.program,
            ["relay", "status", "--url", url, "--key-file", key]
        )
        let line = run.text.split(separator: "\n").first { $0.hasPrefix("orders  ") } ?? ""
        let row = line.split(separator: " ").joined(separator: " ")
        let numbers = "\(expected.rate) \(expected.delivered) \(expected.refused) 0 0 \(state(expected))"
        #expect(row.hasPrefix("orders production ") && row.hasSuffix(" " + numbers), "\(run.text)\(run.errorOutput)")
    }

    private func checkPage(_ bench: RelayBench, _ expected: Expected) async throws {
        // Without a browser only the other places are checked; `make test` installs one.
        guard FileManager.default.isExecutableFile(atPath: Self.browser),
            FileManager.default.isExecutableFile(atPath: Python.interpreter)
        else { return }
        let url = await url(of: bench)
        let run = try await ProgramRun(
            Python.interpreter,
            ["Tests/Peers/relay/read_lanes.py", url, RelayBench.callerKey]
        )
        let page = try JSONReader.read(run.output)
        let lane = page["lanes"]?.elements?.first
        #expect(lane?["Lane"] == "orders production", "\(run.text)\(run.errorOutput)")
        #expect(lane?["Sent a second"]?.stringValue == expected.rate, "\(run.text)")
        let state = expected.outage.map { "Down \($0.reason)" } ?? "Delivers"
        let since = expected.outage.map { "\(clock.now - $0.since) s" } ?? "–"
        #expect(lane?["State"]?.stringValue == state && lane?["Since"]?.stringValue == since, "\(run.text)")
        let outcomes = "\(expected.delivered) delivered, \(expected.refused) refused, "
        #expect(page["outcomes"]?.stringValue?.hasPrefix(outcomes) == true, "\(run.text)")
    }

    private func url(of bench: RelayBench) async -> String {
        let port = await bench.relay.httpPort
        return "http://127.0.0.1:\(port ?? 0)"
    }

    private func state(_ expected: Expected) -> String {
        expected.outage.map { "down for \(clock.now - $0.since) s: \($0.reason)" } ?? "delivers"
    }
}

extension RelayBench {
    /// Hands in an alert; with a wait for its end unless it is not wanted.
    fileprivate func push(to token: String = "5d3a6a1c", waiting: Bool) async -> Answer {
        await ask(
            "POST",
            "/v1/pushes" + (waiting ? "?wait=10" : ""),
            #"{"to":"\#(token)","payload":{"aps":{"alert":"Hi"}}}"#
        )
    }
}

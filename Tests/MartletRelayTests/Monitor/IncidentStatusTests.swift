// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletSimulator
import TestSupport
import Testing

@testable import MartletOutbox
@testable import MartletRelay

/// Tests of the incidents and events that a relay reports through its interfaces.
@Suite(.timeLimit(.minutes(10))) struct IncidentStatusTests {
    private static let lane = Lane(app: "orders", environment: .production)

    private let clock = TestClock()

    /// Returns the kinds of events, without the jumps of the wall clock that a test makes.
    private func kinds(of events: JSONValue) -> [String] {
        (events["events"]?.elements ?? []).compactMap { $0["kind"]?.stringValue }.filter { $0 != "clock-jumped" }
    }

    @Test func `an outage is the headline of status, health and command, and an event until it ends`() async throws {
        let bench = try await RelayBench(clock: clock.wall) { $0.http = RelayConfiguration.Address(port: 0) }
        #expect(await bench.push().json["state"] == "delivered")
        let calm = await bench.ask("GET", "/v1/status").json
        #expect(calm["headline"] == "orders delivers. No push waits." && calm["incidents"] == [])
        #expect(calm["lanes"]?.elements?.first?["state"] == "delivers")
        let port = await bench.apple.port
        await bench.apple.stop()
        try await eventually("the relay notices that its connection is closed", in: bench.parts.dispatcher) {
            $0.connections[Self.lane]?.count == 0
        }
        _ = await bench.ask("POST", "/v1/pushes", #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#)
        try await eventually("the lane is down", in: bench.parts.dispatcher) {
            $0.machine.lanes[Self.lane]?.outage != nil
        }
        clock.advance(by: 180)
        let status = await bench.ask("GET", "/v1/status").json
        let time = StatusText.time((clock.now - 180) * 1_000, at: clock.now * 1_000)
        let headline = "Apple cannot be reached for orders since \(time) (3 min)."
        let text = "\(headline) 1 push waits, none is lost. Nothing to do unless it lasts 10 min or pushes expire."
        #expect(status["headline"]?.stringValue == headline)
        #expect(status["lanes"]?.elements?.first?["state"] == "down")
        let incident = status["incidents"]?.elements?.first
        #expect(incident?["kind"] == "apple-unreachable" && incident?["waiting"] == 1 && incident?["lost"] == 0)
        #expect(incident?["scope"] == ["apps": ["orders"], "environments": ["production"]])
        #expect(incident?["since"] == .whole((clock.now - 180) * 1_000))
        await bench.parts.monitor.postHealth()
        let ready = await bench.ask("GET", "/readyz?verbose")
        #expect(ready.status == 200 && ready.text.contains("headline: \(headline)\ncritical: \(text)"), "\(ready.text)")
        let anonymous = await bench.ask("GET", "/readyz?verbose", key: nil)
        #expect(!anonymous.text.contains("headline"), "\(anonymous.text)")
        let began = await bench.ask("GET", "/v1/status/events").json
        #expect(kinds(of: began) == ["started", "outage-began"], "\(began)")

        let key = try bench.directory.write(RelayBench.callerKey, to: "caller.key")
        let url = "http://127.0.0.1:\(await bench.relay.httpPort ?? 0)"
        let run = try await ProgramRun(MartletProcess.program, ["relay", "status", "--url", url, "--key-file", key])
        #expect(run.status == 1 && run.text.contains("critical: \(text) (ConnectionFailed)\n"), "\(run.text)")

        var configuration = SimulatedAPNs.Configuration()
        configuration.isEncrypted = false
        configuration.environment = .production
        configuration.port = port
        let apple = try await SimulatedAPNs.start(configuration)
        clock.advance(by: 5)
        try await eventually("the lane has recovered", in: bench.parts.dispatcher) {
            $0.machine.lanes[Self.lane]?.outage == nil && $0.machine.isIdle
        }
        // Whether the push is within the last minute depends on when the numbers were recorded. Its outcome is stored
        // after the lane is idle.
        try await eventually("the headline says that no push waits") {
            await bench.parts.monitor.postHealth()
            let recovered = await bench.ask("GET", "/v1/status").json["headline"]?.stringValue ?? ""
            return recovered.hasPrefix("orders ") && recovered.hasSuffix(" No push waits.")
        }
        let ended = await bench.ask("GET", "/v1/status/events").json
        #expect(kinds(of: ended) == ["started", "outage-began", "outage-ended"], "\(ended)")
        await bench.relay.stop()
        await apple.stop()
    }

    @Test func `pauses and reloads are events, and a key sees those of its apps only`() async throws {
        let bench = try await RelayBench {
            guard let other = try? RelayConfiguration.Caller(key: "other", apps: ["rides"], scopes: [.read, .manage])
            else { return }
            $0.callers.append(other)
        }
        #expect(await bench.ask("POST", "/v1/apps/orders/lanes/production/pause").status == 200)
        let paused = await bench.ask("GET", "/v1/status").json
        #expect(paused["headline"]?.stringValue?.hasPrefix("orders is paused by back end since ") == true, "\(paused)")
        #expect(await bench.ask("POST", "/v1/apps/orders/lanes/production/resume").status == 200)
        try await bench.relay.reload(await bench.relay.context.configuration)
        await bench.relay.recordRejectedReload(RelayError("relay.json is not valid JSON"))
        await bench.parts.monitor.postHealth()
        let own = await bench.ask("GET", "/v1/status/events").json
        #expect(kinds(of: own) == ["started", "paused", "resumed", "reloaded", "reload-rejected"], "\(own)")
        let others = await bench.ask("GET", "/v1/status/events", key: "other").json
        #expect(kinds(of: others) == ["started", "reloaded", "reload-rejected"], "\(others)")
        let incident = await bench.ask("GET", "/v1/status", key: "other").json["incidents"]?.elements?.first
        #expect(incident?["kind"] == "configuration-rejected", "\(incident as Any)")
        #expect(incident?["detail"]?.stringValue == ConfigurationReloads.hiddenError, "the key is for one app")
        await bench.stop()
    }

    @Test func `the status has the rights of the caller and the failures by reason`() async throws {
        let bench = try await RelayBench {
            guard let reader = try? RelayConfiguration.Caller(key: "reader", apps: ["orders"], scopes: [.read]) else {
                return
            }
            $0.callers.append(reader)
        }
        await bench.apple.unregister(try DeviceToken(hex: "dead00f1"))
        #expect(await bench.push(to: "dead00f1").json["state"] == "refused")
        let status = await bench.ask("GET", "/v1/status").json
        #expect(status["caller"] == ["name": "back end", "scopes": ["manage", "read", "send"], "may-manage": true])
        #expect(status["lanes"]?.elements?.first?["failures"] == ["Unregistered": 1], "\(status)")
        let reader = await bench.ask("GET", "/v1/status", key: "reader").json
        #expect(reader["caller"] == ["name": "reader", "scopes": ["read"], "may-manage": false])
        await bench.stop()
    }

    @Test func `a relay without heartbeats is missing until a relay of its name runs`() {
        func node(_ number: Int64, _ name: String, silence: Int64, isOwn: Bool = false) -> OutboxNode {
            OutboxNode(
                number: number,
                name: name,
                version: "1",
                startedAt: 0,
                silence: silence,
                isToDrain: false,
                isOwn: isOwn,
                publishedData: "[]"
            )
        }
        var view = FleetView()
        let own = node(1, "a", silence: 0, isOwn: true)
        view.update([own, node(2, "b", silence: 100), node(3, "c", silence: 4_000)], at: 100_000)
        #expect(view.missing(at: 100_000).isEmpty)
        view.update([own, node(2, "b", silence: 6_000)], at: 106_000)
        #expect(view.nodes.map(FleetView.isMissing) == [false, true])
        #expect(!FleetView.isMissing(node(1, "a", silence: 9_000, isOwn: true)), "this relay runs")
        #expect(view.missing(at: 106_000) == [FleetView.MissingNode(number: 2, name: "b", since: 100_000)])
        let new = view.takeMissing(at: 106_000)
        #expect(new.map(\.name) == ["b"])
        let known = view.takeMissing(at: 106_001)
        #expect(known.isEmpty)
        view.update([own], at: 116_000)
        #expect(view.missing(at: 116_000).map(\.number) == [2], "relay 3 has ended its registration itself")
        #expect(view.missing(at: 100_000 + 3_600_000).isEmpty, "after an hour")
        view.update([own, node(4, "b", silence: 0)], at: 120_000)
        #expect(view.missing(at: 120_000).isEmpty, "it was started again")
        view.update([own, node(4, "b", silence: 100), node(5, "b", silence: 0)], at: 121_000)
        view.update([own, node(4, "b", silence: 7_000), node(5, "b", silence: 100)], at: 127_000)
        #expect(view.missing(at: 127_000).isEmpty, "relay 5 may have replaced relay 4")
        view.update([own, node(4, "b", silence: 500), node(5, "b", silence: 100)], at: 128_000)
        view.update([own, node(4, "b", silence: 6_000), node(5, "b", silence: 200)], at: 134_000)
        #expect(view.missing(at: 134_000).map(\.number) == [4], "relay 5 ran beside it")
        view.update([own, node(4, "b", silence: 7_000)], at: 135_000)
        #expect(view.missing(at: 135_000).map(\.number) == [4], "relay 4 was relay 2, started again")
        view.update([own], at: 145_000)
        #expect(view.missing(at: 145_000).map(\.number) == [4], "relay 4 was relay 2, started again")
    }

    @Test func `reasons that another relay reports are limited`() throws {
        let members = (0..<200).map { #""reason\#($0)":1"# } + [#""\#(String(repeating: "x", count: 50))":1"#]
        let text = #"{"failures":{\#(members.joined(separator: ","))},"recent-attempts":9,"recent-failures":1e30}"#
        let facts = LaneCounts(try JSONReader.read(Array(text.utf8)))
        #expect(facts.failures.count == 60 && facts.recentAttempts == 9 && facts.recentFailures == 0)
        #expect((facts + facts).failures["reason0"] == 2)
    }
}

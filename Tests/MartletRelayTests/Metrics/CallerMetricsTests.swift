// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The numbers of callers, of the configuration and of webhooks.
@Suite(.timeLimit(.minutes(10))) struct CallerMetricsTests {
    private func lines(_ bench: RelayBench, _ name: String, key: String? = nil) async -> Set<String> {
        let text = await bench.ask("GET", "/metrics", key: key ?? RelayBench.callerKey).text
        return Set(text.split(separator: "\n").filter { $0.hasPrefix("martlet_relay_\(name){") }.map(String.init))
    }

    private func requests(_ caller: String, _ ok: Int, _ rejected: Int, _ failed: Int = 0) -> Set<String> {
        let counts = [("ok", ok), ("rejected", rejected), ("failed", failed)]
        return Set(
            counts.map { #"martlet_relay_caller_requests_total{caller="\#(caller)",outcome="\#($0.0)"} \#($0.1)"# }
        )
    }

    @Test func `requests are counted for each caller, and unknown clients together`() async throws {
        let bench = try await RelayBench {
            guard let other = try? RelayConfiguration.Caller(key: "rides", apps: ["rides"], scopes: [.read]),
                let second = try? RelayConfiguration.Caller(key: "second", apps: ["orders"], scopes: [.send]),
                let all = try? RelayConfiguration.Caller(key: "all", apps: ["orders", "rides"], scopes: [.read])
            else { return }
            $0.callers += [other, second, all]
        }
        #expect(await bench.push().json["state"] == "delivered")
        #expect(await bench.ask("GET", "/v1/pushes/none").status == 400)
        for _ in 0..<2 { #expect(await bench.ask("GET", "/metrics", key: "second").status == 403) }
        for index in 0..<50 { #expect(await bench.ask("GET", "/v1/status", key: "made up \(index)").status == 401) }
        let client = try await bench.client()
        try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
        await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.unknown")
        }
        let stranger = try await bench.client(.ephemeral())
        await #expect(throws: APNsError.self) {
            try await stranger.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
        }
        // Neither health nor the page asks for a key.
        _ = await bench.ask("GET", "/livez", key: nil)
        _ = await bench.ask("GET", "/", key: nil)
        let key = "key \(bench.key.keyID)"
        let all = requests("back end", 1, 1).union(requests("second", 0, 2)).union(requests(key, 1, 1))
            .union(requests("other", 0, 51)).union(requests("rides", 0, 0)).union(requests("all", 0, 0))
        let counts = await lines(bench, "caller_requests_total", key: "all")
        #expect(counts == all, "\(counts.sorted())")

        // A caller that was removed is counted with the unknown ones.
        var new = await bench.relay.context.configuration
        new.callers.removeAll { $0.name == "second" }
        try await bench.relay.reload(new)
        let after = await lines(bench, "caller_requests_total")
        #expect(after.isSuperset(of: requests("other", 0, 53)) && !after.contains { $0.contains("second") })
        let rides = await lines(bench, "caller_requests_total", key: "rides")
        #expect(rides == requests("rides", 0, 0).union(requests("other", 0, 53)), "\(rides.sorted())")
        await bench.stop()
    }

    @Test func `pushes without room and requests that wait are counted for their caller`() async throws {
        let bench = try await RelayBench(faults: [SimulatedAPNs.Fault(.hang)]) { $0.outbox.limit = 1 }
        async let waiting = bench.push()
        try await eventually("the request waits for its outcome", in: bench.parts.intake) { $0.waiters.count == 1 }
        let waits = await lines(bench, "caller_waiting")
        #expect(waits.contains(#"martlet_relay_caller_waiting{caller="back end"} 1"#), "\(waits)")
        let refused = await bench.ask("POST", "/v1/pushes", #"{"to":"5d3a6a1d","payload":{"aps":{"alert":"Hi"}}}"#)
        #expect(refused.status == 503, "\(refused)")
        let shed = await lines(bench, "caller_shed_total")
        #expect(shed.contains(#"martlet_relay_caller_shed_total{caller="back end"} 1"#), "\(shed)")
        let failed = await lines(bench, "caller_requests_total")
        #expect(failed.contains(#"martlet_relay_caller_requests_total{caller="back end",outcome="failed"} 1"#))
        var new = await bench.relay.context.configuration
        new.callers[0].name = "renamed"
        try await bench.relay.reload(new)
        let moved = await lines(bench, "caller_shed_total")
        #expect(moved.contains(#"martlet_relay_caller_shed_total{caller="other"} 1"#), "\(moved)")
        await bench.apple.stop()
        await bench.relay.stop(within: .zero)
        _ = await waiting
    }

    @Test func `pushes that cannot be stored are not counted as shed`() async throws {
        let bench = try await RelayBench {
            guard let all = try? RelayConfiguration.Caller(key: "all", apps: ["orders", "rides"], scopes: [.read])
            else { return }
            $0.callers.append(all)
        }
        await bench.relay.context.recordOutbox(OutboxError(.damaged, "damaged"))
        #expect(await bench.push().status == 503)
        let client = try await bench.client()
        await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
        }
        await client.close()
        let name = "key \(bench.key.keyID)"
        let metrics = await bench.ask("GET", "/metrics", key: "all").text
        #expect(metrics.contains(#"caller_not_stored_total{caller="back end"} 1"#), "\(metrics)")
        #expect(metrics.contains(#"caller_not_stored_total{caller="\#(name)"} 1"#))
        #expect(metrics.contains("\nmartlet_relay_shed_total 0\n"))
        #expect(metrics.contains(#"caller_shed_total{caller="back end"} 0"#))
        await bench.stop()
    }

    @Test func `reloads are counted, with the time of the last good one`() async throws {
        let clock = TestClock()
        let key = try RelayConfiguration.Caller(key: "operator", apps: ["orders", "rides"], scopes: [.read])
        let bench = try await RelayBench(clock: clock.wall) { $0.callers.append(key) }
        let names = [
            #"configuration_reloads_total{result="ok"}"#, #"configuration_reloads_total{result="failed"}"#,
            "configuration_last_reload_successful", "configuration_last_success_timestamp_seconds",
        ]
        func expect(_ values: [String]) async {
            let text = await bench.ask("GET", "/metrics").text
            for (name, value) in zip(names, values) {
                #expect(text.contains("\nmartlet_relay_\(name) \(value)\n"), "\(name) is not \(value)")
            }
        }
        let start = clock.now
        await expect(["0", "0", "1", "\(Double(start))"])
        clock.advance(by: 60)
        try await bench.relay.reload(await bench.relay.context.configuration)
        await expect(["1", "0", "1", "\(Double(start + 60))"])
        clock.advance(by: 60)
        var bad = await bench.relay.context.configuration
        bad.apps[1].name = "orders"
        let unusable = bad
        await #expect(throws: RelayError.self) { try await bench.relay.reload(unusable) }
        clock.advance(by: 60)
        await bench.relay.recordRejectedReload(RelayError("relay.json is not valid JSON"))
        await expect(["1", "2", "0", "\(Double(start + 60))"])
        let problem = await bench.ask("GET", "/v1/status").json["problems"]?.elements?.first
        #expect(problem?["kind"] == "configuration" && problem?["since"] == .whole((start + 120) * 1_000))
        #expect(problem?["error"] == "the log line `configuration rejected` has the reason", "the key is for one app")
        #expect(
            await bench.ask("GET", "/v1/status", key: "operator").json["problems"]?.elements?.first?["error"]
                == "relay.json is not valid JSON"
        )
        try await bench.relay.reload(await bench.relay.context.configuration)
        #expect(await bench.ask("GET", "/v1/status").json["problems"] == [])
        await expect(["2", "2", "1", "\(Double(start + 180))"])
        await bench.stop()
    }

    @Test func `the expiry of certificates is a metric and a warning`() async throws {
        let lines = LogLines()
        let authority = try CertificateAuthority()
        let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
        let expiry = try #require(CertificateFacts.earliestExpiry(in: issued.certificatePEM))
        let clock = WallClock { expiry - 3 * 86_400 - 1 }
        let bench = try await RelayBench(clock: clock, log: lines.logger()) {
            $0.identity = .init(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
        }
        let metric = await self.lines(bench, "certificate_expiry_timestamp_seconds")
        #expect(metric == [#"martlet_relay_certificate_expiry_timestamp_seconds{setting="certificate"} \#(expiry)"#])
        let warning = lines.objects.first { $0["msg"] == "certificate expires soon" }
        #expect(warning?["setting"] == "certificate" && warning?["days"] == 3, "\(lines.all)")
        let time = Timestamp.text(expiry * 1_000)
        let configuration = await bench.relay.context.configuration
        let late = Date(millisecondsSince1970: (expiry + 1) * 1_000)
        let words = configuration.expiryWarnings(at: late.secondsSince1970).map(\.description)
        #expect(words == ["certificate: a certificate expired at \(time): clients cannot connect with it"])
        for (days, left) in [(3, "3 days"), (1, "1 day"), (0, "less than a day")] as [(Int64, String)] {
            let words = configuration.expiryWarnings(at: expiry - days * 86_400 - 1).map(\.description)
            #expect(words == ["certificate: a certificate expires at \(time), in \(left): renew it"])
        }
        await bench.stop()
    }

    @Test func `a webhook that fails is counted and logged, without its secrets`() async throws {
        let server = try await HTTP1Listener(host: "127.0.0.1", port: 0, limits: HTTP1Listener.Limits()) { _ in
            .whole(HTTPResponse(status: 500))
        }
        let lines = LogLines()
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let bench = try await RelayBench(log: lines.logger(.info)) {
            $0.callers[0].apps = ["orders", "rides"]
            for index in 0..<2 {
                $0.apps[index].webhook = try? Webhook(
                    url: "http://127.0.0.1:\(server.port)/hook?token=hidden",
                    secret: secret,
                    allowsPrivateAddresses: true
                )
            }
        }
        await bench.apple.unregister(try DeviceToken(hex: "dead00ff"))
        for app in ["orders", "rides"] {
            let answer = await bench.push(to: "dead00ff", #","app":"\#(app)""#)
            #expect(answer.json["state"] == "refused", "\(answer.text)")
        }
        try await eventually("a report to each webhook has failed", in: bench.parts.webhooks) {
            $0.counts["orders"]?.failed == 1 && $0.counts["rides"]?.failed == 1
        }
        // Each app has a limit of its own, so that one does not hide the other.
        let failed = lines.objects.filter { $0["msg"] == "webhook failed" }.compactMap { $0["app"]?.stringValue }
        #expect(failed.sorted() == ["orders", "rides"])
        let counts = await self.lines(bench, "webhook_reports_total")
        #expect(counts.contains(#"martlet_relay_webhook_reports_total{app="orders",result="failed"} 1"#), "\(counts)")
        #expect(counts.contains(#"martlet_relay_webhook_reports_total{app="orders",result="ok"} 0"#), "\(counts)")
        let problems = await bench.ask("GET", "/v1/status").json["problems"]?.elements ?? []
        #expect(problems.map { $0["app"] } == ["orders", "rides"])
        #expect(
            problems.first?["error"] == .string("http://127.0.0.1:\(server.port)/hook: the answer was status 500"),
            "\(problems)"
        )
        let all = lines.objects.filter { $0["msg"] == "webhook failed" }
        let line = try #require(all.first { $0["app"] == "orders" }, "\(lines.all)")
        #expect(line["error"] == "the answer was status 500", "\(line)")
        #expect(line["since"]?.stringValue != nil && line["waiting"] == 1, "\(line)")
        #expect(line["url"]?.stringValue == "http://127.0.0.1:\(server.port)/hook", "\(line)")
        for word in ["hidden", secret, "dead00ff"] { #expect(!lines.all.contains { $0.contains(word) }, "\(word)") }
        await bench.stop()
        server.stop()
    }
}

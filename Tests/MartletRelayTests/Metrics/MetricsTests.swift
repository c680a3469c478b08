// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The relay's numbers.
@Suite(.timeLimit(.minutes(10))) struct MetricsTests {
    @Test func `the last reason of a lane is that of its last attempt`() {
        var counts = DispatchCounts()
        let lane = Lane(app: "orders", environment: .production)
        let push = ClaimedPush(number: 1, push: .sample(1, lane), acceptedAt: 0, attempts: 1, unknownTries: 0)
        let refusal = SendResult.refused(status: 403, reason: .invalidProviderToken, timestamp: nil, retryAfter: nil)
        counts.answered(push, .lost, .pause(nil), .zero, at: 5)
        counts.answered(push, refusal, .pause(nil), .zero, at: 7)
        #expect(counts.failing[lane] == DispatchCounts.Failing(since: 5, reason: "403 InvalidProviderToken"))
        #expect(counts.retryReason(of: lane) == "403 InvalidProviderToken")
        counts.answered(push, .accepted(uniqueID: nil), nil, .zero, at: 9)
        #expect(counts.failing[lane] == nil)
    }

    @Test func `the retry reason of a lane is that of one of its pushes`() {
        var counts = DispatchCounts()
        let lane = Lane(app: "orders", environment: .production)
        let pushes = (1...40).map { number in
            ClaimedPush(number: Int64(number), push: .sample(number, lane), acceptedAt: 0, attempts: 0, unknownTries: 0)
        }
        let busy = SendResult.refused(status: 429, reason: .tooManyRequests, timestamp: nil, retryAfter: nil)
        func fail(_ push: ClaimedPush, _ result: SendResult) {
            let again = push.postponed(until: 9, attempts: 1, unknownTries: 0)
            counts.answered(push, result, .settle(again), .zero, at: 5)
        }
        fail(pushes[0], busy)
        fail(pushes[1], .lost)
        #expect(counts.retryReason(of: lane) == "ConnectionLost")
        counts.answered(pushes[2], .neverSent(reason: "ConnectionFailed", retryAfter: nil), .pause(nil), .zero, at: 6)
        #expect(counts.retryReason(of: lane) == "ConnectionLost", "a push that was not sent is not sent again")
        counts.forgetRetry(pushes[1].push.id, lane)
        #expect(counts.retryReason(of: lane) == "429 TooManyRequests", "the other push has ended")
        for push in pushes { fail(push, .unknown) }
        for push in pushes { counts.forgetRetry(push.push.id, lane) }
        #expect(counts.retryReason(of: lane) == nil)
    }

    @Test func `pushes, outcomes and requests are counted`() async throws {
        let bench = try await RelayBench {
            guard let reader = try? RelayConfiguration.Caller(key: "sender", apps: ["orders"], scopes: [.send]) else {
                return
            }
            $0.callers.append(reader)
        }
        await bench.apple.unregister(
            try DeviceToken(hex: "dead00ff"),
            since: Date(timeIntervalSince1970: 1_790_000_000)
        )
        let id = #","id":"123e4567-e89b-42d3-a456-426655440000""#
        #expect(await bench.push(to: "5d3a6a1c", id).json["state"] == "delivered")
        #expect(await bench.push(to: "5d3a6a1c", id).json["state"] == "delivered")
        #expect(await bench.push(to: "5d3a6a1d", id).status == 422)
        #expect(await bench.push(to: "dead00ff").json["state"] == "refused")
        #expect(await bench.push(to: "dead00ff").status == 410)
        #expect(await bench.ask("GET", "/metrics", key: "wrong").status == 401)
        #expect(await bench.ask("GET", "/metrics", key: "sender").status == 403)
        let metrics = await bench.ask("GET", "/metrics")
        #expect(metrics.status == 200)
        let lane = #"app="orders",env="production""#
        for line in [
            #"enqueued_total{app="orders"} 2"#, #"deduplicated_total{app="orders"} 1"#,
            #"conflicts_total{app="orders"} 1"#, #"suppressed_total{app="orders"} 1"#,
            #"unregistered_total{app="orders"} 1"#, "refused_callers_total 1", "shed_total 0",
            #"sent_total{\#(lane),push_type="alert",status="200",reason=""} 1"#,
            #"sent_total{\#(lane),push_type="alert",status="410",reason="Unregistered"} 1"#,
            #"outcomes_total{\#(lane),state="delivered"} 1"#, #"outcomes_total{\#(lane),state="refused"} 1"#,
            #"send_duration_seconds_count{\#(lane)} 2"#, #"end_to_end_seconds_count{app="orders",priority="10"} 2"#,
            #"outbox_jobs{\#(lane),state="waiting"} 0"#, #"lane_paused{\#(lane)} 0"#, #"connections{\#(lane)} 1"#,
            #"outbox_writable 1"#, #"circuit_open{\#(lane)} 0"#,
            #"provider_tokens_total{\#(lane),team="\#(bench.key.teamID)"} 1"#,
        ] {
            #expect(metrics.text.contains("\nmartlet_relay_\(line)\n"), "\(line)")
        }
        let build = /martlet_relay_build_info{version="[0-9.]+",libuv="[0-9.]+",nghttp2="[0-9.]+",openssl="3[^"]+"/
        #expect(metrics.text.contains(build))
        #expect(metrics.text.contains(/\nmartlet_relay_disk_free_bytes [1-9][0-9]+\n/))
        #expect(metrics.text.contains(/martlet_relay_streams_limit{.*} [1-9][0-9]*\n/))
        #expect(metrics.text.contains(/martlet_relay_provider_token_age_seconds{.*} [0-9]\n/))
        for (status, count) in [(200, 3), (410, 1), (422, 1)] {
            let labels = #"http_route="/v1/pushes",http_request_method="POST",http_response_status_code="\#(status)""#
            let line = "http_server_request_duration_seconds_count{\(labels)} \(count)\n"
            #expect(metrics.text.contains(line), "\(line)")
        }
        for secret in ["rides", "5d3a", "dead00", "123e4567", "Secret"] { #expect(!metrics.text.contains(secret)) }
        checkFormat(of: metrics.text)
        await bench.stop()
    }

    /// Every line is one of Prometheus' text format 0.0.4, and belongs to the family above it.
    private func checkFormat(of text: String) {
        var family = ""
        for line in text.split(separator: "\n") {
            if let match = line.wholeMatch(of: /# HELP ([a-z_]+) [A-Z][^\n]*\./) {
                family = String(match.1)
            } else if line.hasPrefix("# TYPE") {
                #expect(line.wholeMatch(of: /# TYPE [a-z_]+ (counter|gauge|histogram)/) != nil && line.contains(family))
                #expect(line.hasSuffix(" counter") == family.hasSuffix("_total"), "\(line)")
            } else {
                let form = /[a-z_]+(\{([a-z_0-9]+="[^"]*",?)+\})? [0-9.e+-]+/
                #expect(line.wholeMatch(of: form) != nil && line.hasPrefix(family), "\(line)")
            }
        }
    }

    private static let promtool = "/usr/bin/promtool"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: promtool), "promtool is not installed"))
    func `promtool accepts the metrics`() async throws {
        let bench = try await RelayBench()
        #expect(await bench.push().json["state"] == "delivered")
        let client = try await bench.client()
        try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
        let file = try bench.directory.write(await bench.ask("GET", "/metrics").text, to: "metrics")
        let run = try await ProgramRun("/bin/sh", ["-c", "\(Self.promtool) check metrics < \(file)"])
        #expect(run.status == 0 && run.errorOutput.isEmpty, "\(run.errorOutput)")
        await bench.stop()
    }

    @Test func `a request over the APNs protocol is measured`() async throws {
        let bench = try await RelayBench()
        let client = try await bench.client()
        try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
        let labels = #"http_route="/3/device/{token}",http_request_method="POST",http_response_status_code="200""#
        let metrics = await bench.ask("GET", "/metrics").text
        #expect(metrics.contains("http_server_request_duration_seconds_count{\(labels)} 1\n"), "\(metrics)")
        await bench.stop()
    }

    @Test func `a GOAWAY from Apple is counted by its reason`() async throws {
        let goAway = SimulatedAPNs.Fault(.goAway(debugData: #"{"reason":"InternalServerError"}"#), count: 1)
        let bench = try await RelayBench(faults: [goAway])
        #expect(await bench.push().json["state"] == "delivered")
        let line = #"martlet_relay_goaway_total{app="orders",env="production",reason="InternalServerError"} 1"#
        try await eventually("the metrics have the GOAWAY") {
            await bench.ask("GET", "/metrics").text.contains("\n\(line)\n")
        }
        await bench.stop()
    }

    @Test func `an unknown method has the label _OTHER`() {
        var counts = ServerCounts()
        for index in 0..<100 { counts.answered("METHOD\(index)", "other", status: 404, .zero, by: nil) }
        #expect(counts.requests.keys.map(\.method) == ["_OTHER"])
    }

    @Test func `the status has the lanes of the caller's apps only`() async throws {
        let bench = try await RelayBench()
        #expect(await bench.push().json["state"] == "delivered")
        let status = await bench.ask("GET", "/v1/status").json
        #expect(status["version"]?.stringValue == MartletVersion.current && status["state"] == "ok")
        #expect(status["apps"]?.elements?.map { $0["name"] } == ["orders"])
        let lanes = status["lanes"]?.elements ?? []
        #expect(lanes.count == 1 && lanes[0]["app"] == "orders" && lanes[0]["environment"] == "production")
        #expect(lanes[0]["outcomes"]?["delivered"] == 1 && lanes[0]["backlog"] == 0 && lanes[0]["connections"] == 1)
        #expect(status["storage"]?["durability"] == "full")
        #expect(await bench.ask("GET", "/v1/apps").json["apps"] == status["apps"])
        await bench.stop()
    }

    @Test func `an unknown push type or reason has the label other`() {
        var counts = DispatchCounts()
        let lane = Lane(app: "orders", environment: .production)
        for index in 0..<100 {
            let push = OutboxPush(
                lane: lane,
                id: APNsID(randomBits: (1, UInt64(index))),
                destination: .channel(ChannelID("c"), bundle: "b"),
                headers: PushHeaders(pushType: "made-up-\(index)"),
                payload: []
            )
            let refused = SendResult.refused(
                status: 400,
                reason: APNsReason(rawValue: "Odd\(index)"),
                timestamp: nil,
                retryAfter: nil
            )
            let claimed = ClaimedPush(number: 1, push: push, acceptedAt: 0, attempts: 0, unknownTries: 0)
            counts.answered(claimed, refused, nil, .zero, at: 0)
        }
        let answer = DispatchCounts.Answer(lane: lane, pushType: "other", status: 400, reason: "other")
        #expect(counts.answers == [answer: 100] && counts.sent == [lane: 100])
    }

    @Test func `a histogram counts up to its bounds`() {
        var histogram = Histogram(bounds: [1, 2])
        for value in [0.5, 1, 1.5, 2, 3] { histogram.observe(value) }
        #expect(histogram.counts == [2, 2, 1] && histogram.sum == 8)
        var sheet = MetricSheet()
        sheet.family("p_h", .histogram, "Sizes.")
        sheet.add(["a_b": "x\"y\\z\n"], histogram)
        let label = #"a_b="x\"y\\z\n""#
        #expect(
            sheet.exposition == """
                # HELP p_h Sizes.
                # TYPE p_h histogram
                p_h_bucket{\(label),le="1.0"} 2
                p_h_bucket{\(label),le="2.0"} 4
                p_h_bucket{\(label),le="+Inf"} 5
                p_h_sum{\(label)} 8.0
                p_h_count{\(label)} 5

                """
        )
    }

    @Test func `rates cover ten seconds, and restart when the clock changes`() {
        var rates = RecentRates()
        let lane = Lane(app: "orders", environment: .production)
        #expect(rates.rate(of: lane) == 0)
        for second in 0...20 {
            let count = second < 10 ? 0 : (second - 10) * 25
            let totals = RecentRates.Totals(sent: count, delivered: count / 5, attempts: 100 + count, failures: second)
            rates.record([lane: totals], at: Int64(second) * 1_000)
        }
        let none = RecentRates.Totals()
        #expect(rates.rate(of: lane) == 25 && rates.deliveredRate(of: lane) == 5)
        #expect(!rates.wantsTotals(at: 20_999) && rates.wantsTotals(at: 21_000) && rates.wantsTotals(at: 0))
        let recent = rates.recentAttempts(of: lane, until: RecentRates.Totals(attempts: 351, failures: 20), since: none)
        #expect(recent.all == 351 && recent.failed == 20, "all attempts of a relay that runs for less than a minute")
        rates.record([lane: RecentRates.Totals(sent: 250, attempts: 360, failures: 21)], at: 80_000)
        let later = rates.recentAttempts(of: lane, until: RecentRates.Totals(attempts: 361, failures: 22), since: none)
        #expect(later.all == 11 && later.failed == 2, "the attempts of the last minute")
        let recovery = RecentRates.Totals(attempts: 356, failures: 22)
        let last = RecentRates.Totals(attempts: 361, failures: 22)
        let after = rates.recentAttempts(of: lane, until: last, since: recovery)
        #expect(after.all == 5 && after.failed == 0 && rates.isRecent(recovery, of: lane), "those after the outage")
        #expect(!rates.isRecent(RecentRates.Totals(attempts: 350), of: lane) && !rates.isRecent(none, of: lane))
        for time: Int64 in [7_200_000, 0] {
            rates.record([lane: RecentRates.Totals(sent: 251)], at: time)
            #expect(rates.rate(of: lane) == 0)
            rates.record([lane: RecentRates.Totals(sent: 252)], at: time + 10_000)
            #expect(rates.rate(of: lane) == 0.1)
        }
    }
}

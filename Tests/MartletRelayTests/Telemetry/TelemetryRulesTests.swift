// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of sampling, of the retries of exports and of settings, without a network.
@Suite struct TelemetryRulesTests {
    private func push(_ traceParent: String?) -> OutboxPush {
        OutboxPush(
            lane: Lane(app: "orders", environment: .production),
            id: APNsID(randomBits: (1, 1)),
            destination: .channel(ChannelID("c"), bundle: "com.example.orders"),
            headers: PushHeaders(),
            payload: [1, 2, 3],
            traceParent: traceParent
        )
    }

    @Test(arguments: [
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", 0.0, true),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", 1.0, false),
        (nil, 0.0, false), (nil, 1.0, true), ("nonsense", 1.0, true),
    ])
    func `the caller's trace context decides before the sampling share`(
        text: String?,
        share: Double,
        isRecorded: Bool
    ) throws {
        var tracer = PushTracer(share: share, seed: 3)
        var push = push(text)
        let arrival = tracer.arrived(&push, at: 1)
        #expect((arrival != nil) == isRecorded)
        guard let arrival else {
            #expect(push.traceParent == text, "what is not recorded is left alone")
            return
        }
        let carried = try #require(push.traceParent.flatMap(TraceContext.init))
        #expect(carried.isSampled && carried.text == push.traceParent && push.traceParent != text)
        tracer.stored(arrival, .success(.accepted), at: 2)
        let claimed = ClaimedPush(number: 1, push: push, acceptedAt: 0, attempts: 2, unknownTries: 1)
        tracer.sent(claimed, .unknown, to: "apple", took: 5, at: 9)
        let spans = tracer.take(10)
        #expect(spans.map(\.context.traceID) == [carried.traceID, carried.traceID] && tracer.take(10).isEmpty)
        #expect(spans[1].parentID == carried.spanID && spans[1].error == "NoAnswer" && spans[1].start == 4)
        #expect(spans[1].attributes.contains(Attribute("martlet.unknown_tries", 1)))
    }

    @Test func `the sampling share is approximately met`() {
        var tracer = PushTracer(share: 0.25, seed: 3)
        let count = (0..<4_000).count { _ in
            var push = push(nil)
            return tracer.arrived(&push, at: 1) != nil
        }
        #expect((900...1_100).contains(count))
    }

    @Test func `spans that are not exported are dropped, and counted`() throws {
        var tracer = PushTracer(share: 1, seed: 3)
        for _ in 0..<PushTracer.limit + 7 {
            var push = push(nil)
            let arrival = tracer.arrived(&push, at: 1)
            tracer.stored(try #require(arrival), .success(.full), at: 2)
        }
        #expect(tracer.dropped == 7 && tracer.take(.max).count == PushTracer.limit)
    }

    @Test func `a failed export is retried with growing delays up to a limit`() {
        var schedule = ExportSchedule()
        var generator = SplitMix64(state: 5)
        let busy = ExportAnswer(HTTPResponse(status: 502), at: 0)
        var (now, pauses): (Int64, [Int64]) = (0, [])
        while case .retry(let pause) = schedule.decision(on: busy, at: now, using: &generator) {
            pauses.append(pause)
            now += pause
        }
        #expect(pauses.count > 5 && pauses[0] >= 1_000 && (pauses.max() ?? 0) <= 75_000)
        #expect(zip(pauses, pauses.dropFirst()).prefix(5).allSatisfy { $0 < $1 })
        #expect((now...now + 75_000).contains(ExportSchedule.longestRetry))
        // The next one starts with a patience of its own, and the pauses stay long.
        guard case .retry(let pause) = schedule.decision(on: busy, at: now, using: &generator) else {
            Issue.record("it is given up at once")
            return
        }
        #expect(pause >= 60_000)
    }

    @Test(arguments: [
        (429, String?("7"), ExportSchedule.Decision?.none), (503, "Thu, 01 Jan 1970 00:00:17 GMT", nil),
        (400, nil, .abandoned(after: 0)), (404, "7", .abandoned(after: 0)), (500, nil, .abandoned(after: 0)),
        (301, nil, .abandoned(after: 0)), (200, nil, .accepted),
    ])
    func `the status of an answer decides about the export`(
        status: Int,
        retryAfter: String?,
        decision: ExportSchedule.Decision?
    ) {
        var schedule = ExportSchedule()
        var generator = SplitMix64(state: 5)
        let fields: HTTPFields = retryAfter.map { ["retry-after": $0] } ?? [:]
        let answer = ExportAnswer(HTTPResponse(status: status, fields: fields), at: 10_000)
        let found = schedule.decision(on: answer, at: 10_000, using: &generator)
        if let decision {
            #expect(found == decision)
        } else if case .retry(let pause) = found {
            #expect((7_000...7_250).contains(pause))
        } else {
            Issue.record("\(found)")
        }
    }

    @Test(
        arguments: [
            ("7", 7_000), ("Thu, 01 Jan 1970 00:00:17 GMT", 7_000), ("9223372036854775807", 86_400_000),
            ("-9223372036854775808", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400_000), ("soon", nil),
        ] as [(String, Int64?)]
    )
    func `a collector can ask for a wait of a day at most`(value: String, wait: Int64?) {
        #expect(ExportAnswer(HTTPResponse(status: 503, fields: ["retry-after": value]), at: 10_000).retryAfter == wait)
    }

    // MARK: Settings

    @Test func `variables configure the collector as the specification demands`() throws {
        #expect(try TelemetrySettings(variables: [:]) == nil)
        #expect(try TelemetrySettings(variables: ["OTEL_EXPORTER_OTLP_ENDPOINT": ""]) == nil)
        let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example:4318/base"]
        let plain = try #require(try TelemetrySettings(variables: endpoint))
        #expect(plain.address == WebAddress("https://collector.example:4318/base/v1/traces"))
        #expect(plain.attributes == [Attribute("service.name", "martlet-relay")] && plain.share == 1)
        #expect(try TelemetrySettings(variables: endpoint.merging(["OTEL_SDK_DISABLED": "true"]) { $1 }) == nil)
        #expect(try TelemetrySettings(variables: endpoint.merging(["OTEL_TRACES_EXPORTER": "none"]) { $1 }) == nil)
        let all = [
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://[::1]:1/t?x=1",
            "OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "B=x%20y,c=z=",
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=mine,deployment.environment.name=test",
            "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        ]
        let settings = try #require(try TelemetrySettings(variables: endpoint.merging(all) { $1 }))
        #expect(settings.address == WebAddress("http://[::1]:1/t?x=1"))
        #expect(settings.fields == ["b": "x y", "c": "z="])
        #expect(settings.summary == "Exports traces to http://[::1]:1/t.")
        #expect(settings.attributes.map(\.name) == ["service.name", "deployment.environment.name"])
        #expect(settings.attributes[0] == Attribute("service.name", "mine"))
        #expect(settings.share == 0.1 && settings.timeout == .milliseconds(2_500) && settings.remarks.count == 1)
    }

    @Test func `variables take precedence over the collector of the file`() throws {
        let telemetry = #"""
            "telemetry": {
              "endpoint": "http://127.0.0.1:4318", "headers-file": "headers", "sample": 0.5, "service-name": "pushes"
            }, "data"
            """#
        let file = try ConfigurationFile(ConfigurationFile.good(("\"data\"", telemetry)))
        try file.directory.write("api-key=abc\nother=d\n", to: "headers")
        let settings = try #require(try RelayConfiguration(file: file.path).telemetry)
        #expect(settings.address == WebAddress("http://127.0.0.1:4318/v1/traces") && settings.share == 0.5)
        #expect(settings.fields == ["api-key": "abc", "other": "d"])
        #expect(settings.attributes == [Attribute("service.name", "pushes")])
        var overrides = RelayOverrides()
        overrides.openTelemetry = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://10.0.0.1/m", "OTEL_SERVICE_NAME": "other",
        ]
        let both = try #require(try RelayConfiguration(file: file.path, overrides: overrides).telemetry)
        #expect(both.address == WebAddress("http://10.0.0.1/m/v1/traces") && both.fields == settings.fields)
        #expect(both.attributes == [Attribute("service.name", "other")])
    }

    @Test(arguments: [
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"], "OTEL_EXPORTER_OTLP_ENDPOINT must be the URL"),
        (["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "ftp://a"], "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be the URL"),
        (["OTEL_EXPORTER_OTLP_HEADERS": "key"], "OTEL_EXPORTER_OTLP_HEADERS must be as name=value"),
        (["OTEL_EXPORTER_OTLP_HEADERS": "key=secret%0D%0Ax: y"], "OTEL_EXPORTER_OTLP_HEADERS has a name or a value"),
        (["OTEL_TRACES_SAMPLER": "always_on"], "OTEL_TRACES_SAMPLER must be one of"),
        (
            ["OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "2"],
            "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1"
        ),
        (["OTEL_EXPORTER_OTLP_TIMEOUT": "soon"], "OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds"),
        (["OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere"], "the file /nowhere cannot be read"),
    ])
    func `a mistake in a variable is named, without its secrets`(variables: [String: String], message: String) {
        let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"]
        let error = #expect(throws: RelayError.self) {
            try TelemetrySettings(variables: endpoint.merging(variables) { $1 })
        }
        #expect(error?.description.contains(message) == true, "\(error as Any)")
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:hunter2@h:1", "must be the URL of a collector without a user"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://hunter2@h:1", "must be the URL of a collector without a user"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://h/?key=hunter2", "must be the URL of a collector"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "key=hunter2", "must be the path of a file"),
    ])
    func `a secret in a variable is described by its length`(name: String, value: String, rule: String) {
        let variables = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"].merging([name: value]) { $1 }
        let error = #expect(throws: RelayError.self) { try TelemetrySettings(variables: variables) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("\(name) \(rule)") && !text.contains("hunter2"), "\(text)")
        #expect(text.contains("(found text of \(value.count) characters (not shown"), "\(text)")
    }

    @Test(arguments: [
        (#"{"endpoint": "collector"}"#, "telemetry.endpoint must be the URL of a collector"),
        (#"{"endpoint": "http://a", "sample": 2}"#, "telemetry.sample must be a number from 0 to 1"),
        (#"{"endpoint": "http://a", "headers": {}}"#, "telemetry.headers is unknown"),
        (#"{"endpoint": "http://a", "headers-file": "no"}"#, "telemetry.headers-file: the file "),
        (
            #"{"endpoint": "http://a", "headers-file": "api-key=a.b"}"#,
            "telemetry.headers-file must be the path of a file (found text of 11 characters (not shown"
        ),
    ])
    func `a mistake in a file is named`(telemetry: String, message: String) throws {
        let text = ConfigurationFile.good(("\"data\"", "\"telemetry\": \(telemetry), \"data\""))
        let file = try ConfigurationFile(text)
        let error = #expect(throws: RelayError.self) { try RelayConfiguration(file: file.path) }
        #expect(error?.description.contains(message) == true, "\(error as Any)")
    }
}

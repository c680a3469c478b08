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

/// Spans on their way to a collector.
@Suite(.timeLimit(.minutes(10))) struct TelemetryTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let caller = "b7ad6b7169203331"
    private static let sampled: HTTPFields = ["traceparent": "00-\(trace)-\(caller)-01"]

    /// A relay that exports to this port.
    private func bench(
        _ port: UInt16,
        _ variables: [String: String] = [:],
        faults: [SimulatedAPNs.Fault] = [],
        directory: ScratchDirectory? = nil
    ) async throws -> RelayBench {
        var all = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(port)"]
        all.merge(variables) { $1 }
        let settings = try #require(try TelemetrySettings(variables: all))
        return try await RelayBench(faults: faults, directory: directory) { $0.telemetry = settings }
    }

    @Test func `a push is traced from its caller to Apple's answer`() async throws {
        let collector = Collector()
        let listener = try await collector.listen()
        let bench = try await bench(listener.port, ["OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%2Cb,X-Other= c "])
        let pushed = await bench.push(to: "5d3a6a1c", fields: Self.sampled)
        #expect(pushed.json["state"] == "delivered")
        await bench.stop()
        let exports = await collector.exports(to: "/v1/traces", count: 1)
        #expect(exports[0].fields["content-type"] == "application/json" && exports[0].method == "POST")
        #expect(exports[0].fields["api-key"] == "a,b" && exports[0].fields["x-other"] == "c")
        let spans = exports.flatMap(\.spans)
        let publish = try #require(spans.first { $0["name"] == "push publish" })
        let send = try #require(spans.first { $0["name"] == "push send" })
        #expect(spans.count == 2 && spans.allSatisfy { $0["traceId"]?.stringValue == Self.trace })
        #expect(publish["parentSpanId"]?.stringValue == Self.caller && publish["kind"] == 4)
        #expect(send["parentSpanId"] == publish["spanId"] && send["kind"] == 3 && send["status"] == nil)
        let times = [publish, send].flatMap { [$0["startTimeUnixNano"], $0["endTimeUnixNano"]] }.compactMap {
            $0?.stringValue.flatMap { Int64($0) }
        }
        #expect(times.count == 4 && times[0] < times[1] && times[0] < times[2] && times[2] < times[3], "\(times)")
        let facts = send.attributes
        #expect(facts["messaging.system"] == "apns" && facts["messaging.message.id"] == pushed.json["id"]?.stringValue)
        #expect(facts["http.response.status_code"] == "200" && facts["server.address"] == "localhost")
        #expect(facts["messaging.destination.name"] == "com.example.orders" && facts["martlet.attempt"] == "1")
        let text = exports.map { String(decoding: $0.body, as: UTF8.self) }.joined()
        for secret in ["5d3a6a1c", "Secret", RelayBench.callerKey] { #expect(!text.contains(secret)) }
        listener.stop()
    }

    @Test func `a refusal by Apple is an error in the trace`() async throws {
        let collector = Collector()
        let listener = try await collector.listen()
        let bench = try await bench(listener.port, ["OTEL_SERVICE_NAME": "pushes"])
        await bench.apple.unregister(
            try DeviceToken(hex: "dead00ff"),
            since: Date(timeIntervalSince1970: 1_790_000_000)
        )
        #expect(await bench.push(to: "dead00ff").json["state"] == "refused")
        #expect(await bench.push(to: "dead00ff").status == 410)
        await bench.stop()
        let spans = await collector.exports(to: "/v1/traces", count: 1).flatMap(\.spans)
        let errors = spans.map { [$0["name"]?.stringValue, $0.attributes["error.type"], $0["status"]?["code"]?.text] }
        #expect(
            errors == [
                ["push publish", nil, nil], ["push send", "Unregistered", "2"], ["push publish", "suppressed", "2"],
            ]
        )
        #expect(spans[0]["parentSpanId"] == nil && spans[0]["traceId"] == spans[1]["traceId"])
        #expect(spans[2]["traceId"] != spans[0]["traceId"] && spans[2]["traceId"]?.stringValue?.utf8.count == 32)
        let export = try #require(await collector.exports(to: "/v1/traces", count: 1).first)
        let resource = try JSONReader.read(export.body)["resourceSpans"]?.elements?.first?["resource"]
        #expect(resource?.attributes["service.name"] == "pushes")
        listener.stop()
    }

    @Test func `a trace continues after a restart of the relay`() async throws {
        let directory = try ScratchDirectory()
        let collector = Collector()
        let listener = try await collector.listen()
        let unavailable = SimulatedAPNs.Fault(.respond(.serviceUnavailable, retryAfter: 1))
        let first = try await bench(listener.port, faults: [unavailable], directory: directory)
        #expect(await first.push(to: "5d3a6a1c", waiting: 0, fields: Self.sampled).status == 202)
        await first.stop()
        let second = try await bench(listener.port, directory: directory)
        var sends: [JSONValue] = []
        var count = 1
        while sends.isEmpty {
            let spans = await collector.exports(to: "/v1/traces", count: count).flatMap(\.spans)
            sends = spans.filter { $0["name"] == "push send" && $0["status"] == nil }
            count += 1
        }
        let spans = await collector.exports(to: "/v1/traces", count: 1).flatMap(\.spans)
        let publish = try #require(spans.first { $0["name"] == "push publish" })
        #expect(sends[0]["traceId"]?.stringValue == Self.trace && sends[0]["parentSpanId"] == publish["spanId"])
        await second.stop()
        listener.stop()
    }

    @Test func `an export to a busy collector is repeated without a loss`() async throws {
        let collector = Collector(
            HTTPResponse(status: 503, fields: ["retry-after": "0"]),
            HTTPResponse(status: 429, fields: ["retry-after": "0"])
        )
        let listener = try await collector.listen()
        let bench = try await bench(listener.port)
        #expect(await bench.push(fields: Self.sampled).json["state"] == "delivered")
        let exports = await collector.exports(to: "/v1/traces", count: 3)
        #expect(exports[0].body == exports[1].body && exports[1].body == exports[2].body)
        await bench.stop()
        #expect(await bench.parts.monitor.exports.spansLost == 0)
        listener.stop()
    }

    @Test func `a silent collector delays neither pushes nor the stop`() async throws {
        let silent = try SilentServer()
        let bench = try await bench(silent.port)
        for _ in 0..<20 { #expect(await bench.push().json["state"] == "delivered") }
        let start = ContinuousClock.now
        await bench.stop()
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func `rejected and lost spans are counted`() {
        var counts = ExportCounts()
        var schedule = ExportSchedule()
        var generator = SplitMix64(state: 1)
        let bodies: [(Int, String)] = [
            (200, #"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#), (400, ""), (200, ""),
        ]
        for (status, body) in bodies {
            let answer = ExportAnswer(HTTPResponse(status: status, body: Array(body.utf8)), at: 0)
            counts.exported(answer, schedule.decision(on: answer, at: 0, using: &generator), spans: 10)
        }
        #expect(counts.spansExported == 17 && counts.spansRejected == 3 && counts.spansLost == 10)
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: Python.interpreter),
            "run `make test`, which installs Python's"
        )
    )
    func `an export is valid by the definitions of OpenTelemetry`() async throws {
        let collector = Collector()
        let listener = try await collector.listen()
        let bench = try await bench(listener.port)
        await bench.apple.unregister(
            try DeviceToken(hex: "dead00ff"),
            since: Date(timeIntervalSince1970: 1_790_000_000)
        )
        #expect(await bench.push(fields: Self.sampled).json["state"] == "delivered")
        #expect(await bench.push(to: "dead00ff", fields: Self.sampled).json["state"] == "refused")
        await bench.stop()
        let spans = await collector.exports(to: "/v1/traces", count: 1)
        // Spans are exported each second, so those of two pushes may come in two exports.
        let files = try spans.enumerated().map { number, export in
            try bench.directory.write(export.body, to: "traces-\(number).json")
        }
        let run = try await ProgramRun(Python.interpreter, ["Tests/Peers/relay/check_otlp.py"] + files)
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(run.text.contains("span push publish 4 \(Self.trace)\nspan push send 3 \(Self.trace)"), "\(run.text)")
        listener.stop()
    }
}

extension RelayBench {
    /// Hands in an alert with these fields, and waits for its end if that is asked for.
    func push(to token: String = "5d3a6a1c", waiting seconds: Int = 10, fields: HTTPFields) async -> Answer {
        var all: HTTPFields = ["authorization": "Bearer " + RelayBench.callerKey]
        all.append(contentsOf: fields)
        let request = HTTPRequest(
            method: "POST",
            scheme: "http",
            authority: "localhost",
            target: seconds > 0 ? "/v1/pushes?wait=\(seconds)" : "/v1/pushes",
            fields: all,
            body: Array(#"{"to":"\#(token)","payload":{"aps":{"alert":"Secret"}}}"#.utf8)
        )
        guard case .whole(let response) = await RelayAPI(relay.parts).answer(request) else {
            return Answer(status: 0, text: "")
        }
        return Answer(status: response.status, text: String(decoding: response.body, as: UTF8.self))
    }
}

extension TelemetrySettings {
    /// The settings of variables alone.
    init?(variables: [String: String]) throws {
        let places = ConfigurationDirectories(directory: "", credentials: nil)
        try self.init(ConfigurationField([:], named: "")["telemetry"], places, variables: variables)
    }
}

extension JSONValue {
    fileprivate var text: String { String(decoding: encoded(), as: UTF8.self) }
}

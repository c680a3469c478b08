// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Martlet
import MartletCore
import Synchronization
import Testing

@testable import MartletRelay

/// Lines that were logged, in their order.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock(\.self) }
    var objects: [JSONValue] { all.map { (try? JSONReader.read(Array($0.utf8))) ?? .null } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    func logger(
        _ level: Logger.Level = .debug,
        _ format: Logger.Format = .json,
        hasPriorities: Bool = false
    ) -> Logger {
        let clock: @Sendable () -> Int64 = { 1_790_000_000_250 }
        return Logger(level: level, format: format, hasPriorities: hasPriorities, clock: clock) { self.add($0) }
    }
}

@Suite(.timeLimit(.minutes(10))) struct LoggerTests {
    @Test(arguments: [
        (
            Logger.Format.json,
            #"{"ts":"2026-09-21T14:13:20.250Z","level":"info","msg":"lane paused","logger":"martlet.relay""#
                + #","a":"x \"y\"","n":7}"#
        ),
        (.logfmt, #"ts=2026-09-21T14:13:20.250Z level=info msg="lane paused" logger=martlet.relay a="x \"y\"" n=7"#),
        (.plain, #"14:13:20 lane paused  a="x \"y\"" n=7"#),
    ])
    func `a line has the form that was asked for`(format: Logger.Format, text: String) {
        for hasPriorities in [false, true] {
            let lines = LogLines()
            lines.logger(.info, format, hasPriorities: hasPriorities).info(
                .lanePaused,
                ["a": "x \"y\"", "b": nil, "n": 7]
            )
            #expect(lines.all == [(hasPriorities ? "<6>" : "") + text + "\n"])
        }
    }

    @Test func `lines below the level are not created`() {
        let lines = LogLines()
        let log = lines.logger(.warning)
        func fields() -> Logger.Fields {
            Issue.record("made in vain")
            return [:]
        }
        log.debug(.push, fields())
        log.info(.connected, fields())
        log.warning(.laneDown)
        log.error(.clockSkew)
        #expect(lines.objects.map { $0["msg"] } == ["lane down", "clock skew"])
        Logger.silent.error(.clockSkew, fields())
    }

    @Test func `events are constant messages in lower case, listed in the article for operators`() throws {
        let path = "Sources/MartletRelay/Documentation.docc/OperateTheRelay.md"
        let article = try String(contentsOfFile: path, encoding: .utf8)
        let listed = article.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
        let events = LogEvent.allCases.map(\.rawValue)
        #expect(events.allSatisfy { $0.replacing("APNs", with: "") == $0.replacing("APNs", with: "").lowercased() })
        for event in events { #expect(listed.contains(event), "\(event) is missing in \(path)") }
    }

    @Test func `a text of several lines is one line`() {
        for format in Logger.Format.allCases {
            let lines = LogLines()
            lines.logger(.info, format).info(.push, ["a": "three\nfour"])
            #expect(lines.all.first?.dropLast().contains("\n") == false, "\(lines.all)")
        }
    }

    @Test(arguments: [0, 951_782_400_000, 1_709_210_096_500, 1_735_689_599_999, 4_107_542_399_000])
    func `times are those of RFC 3339`(milliseconds: Int64) {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        #expect(Timestamp.text(milliseconds) == date.formatted(style))
    }

    @Test(arguments: Logger.Format.allCases)
    func `characters that control a terminal or the direction of text are escaped`(format: Logger.Format) {
        let lines = LogLines()
        let hidden: [Unicode.Scalar] = [
            "\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\u{2028}", "\u{2029}", "\u{202A}", "\u{202E}", "\u{2066}",
            "\u{2069}",
        ]
        let text = String(String.UnicodeScalarView(hidden))
        lines.logger(.info, format).info(.push, ["a": .string("x\(text)"), "b": "5d3a…"])
        let line = lines.all.joined()
        for scalar in hidden { #expect(!line.unicodeScalars.contains(scalar), "\(line)") }
        #expect(line.contains("\\u202e") && line.contains("\\u009b") && line.contains("5d3a…"), "\(line)")
        if format == .json { #expect(lines.objects[0]["a"] == .string("x\(text)")) }
    }

    @Test func `one line of a kind is logged per second, and the others are counted`() {
        var throttle = LogThrottle()
        #expect([0, 1, 999, 1_000, 1_500, 2_000].map { throttle.take(at: $0) } == [0, nil, nil, 2, nil, 1])
    }

    @Test func `lines for a slow reader are dropped and counted`() async {
        let lines = LogLines()
        let gate = DispatchSemaphore(value: 0)
        let output = LogOutput(
            through: lines.logger().through { line in
                gate.wait()
                lines.add(line)
                gate.signal()
            }
        )
        for number in 0..<20_000 { output.add("\(number)\n") }
        gate.signal()
        await output.finish()
        #expect(lines.all.last == "19999\n" && lines.all.count < 20_000)
        #expect(lines.all.contains { $0.contains("log lines dropped") })
    }

    @Test(arguments: [
        ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", true), ("", false), ("00-a-b-01", false),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01", false),
    ])
    func `a trace context is read`(text: String, isGood: Bool) {
        let trace = TraceContext(text)
        #expect((trace != nil) == isGood)
        if let trace {
            #expect(trace.traceID == "4bf92f3577b34da6a3ce929d0e0e4736" && trace.spanID == "00f067aa0ba902b7")
        }
    }

    @Test func `a relay logs its events and no secret`() async throws {
        let lines = LogLines()
        // A clock that stands still: a further line about refused callers is due each second.
        let now = WallClock.system.secondsSince1970()
        let bench = try await RelayBench(clock: WallClock { now }, log: lines.logger())
        #expect(await bench.push(to: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d").json["state"] == "delivered")
        for _ in 0..<10 { _ = await bench.ask("GET", "/v1/status", key: "mrt_wrong") }
        await bench.stop()
        let messages = lines.objects.compactMap { $0["msg"]?.stringValue }
        for message in [
            "listening", "relay started", "connected to APNs", "push", "shutting down",
            "relay stopped",
        ] { #expect(messages.contains(message), "\(message) is missing in \(messages)") }
        #expect(messages.count { $0 == "caller rejected" } == 1)
        let push = lines.objects.first { $0["msg"] == "push" }
        #expect(push?["token"] == "5d3a6a1c…" && push?["result"] == "accepted" && push?["attempt"] == 1)
        #expect(push?["apns_id"]?.stringValue?.count == 36 && push?["app"] == "orders")
        for secret in ["8f9a42d6", "Secret", "mrt_", "eyJ"] {
            #expect(!lines.all.joined().contains(secret), "\(secret)")
        }
    }
}

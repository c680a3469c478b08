// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// Requests in forms of HTTP/2 that clients rarely send, and how connections end.
@Suite(.timeLimit(.minutes(10))) struct RequestFormTests {
    @Test func `trailers have no effect, and a finding names those of APNs`() async throws {
        let bench = try await RawBench()
        let trailers =
            RawHTTP2.literal("apns-topic", "com.example.other") + RawHTTP2.literal("apns-priority", "7")
            + RawHTTP2.literal("checksum", "1")
        bench.raw.send(bench.headers(1) + bench.body(1, isLast: false) + RawHTTP2.headers(trailers, stream: 1))
        _ = await bench.frames(until: .headers)
        let push = try #require(await bench.apns.pushes.first)
        #expect(push.status == 200 && push.headers.topic == "com.example.app" && push.headers.priority == nil)
        let places = push.findings.filter { $0.rule == "trailers-ignored" }.map(\.place.description)
        #expect(places == ["apns-topic", "apns-priority"])
        await bench.apns.stop()
    }

    @Test func `fields beyond the limit are answered with status 431`() async throws {
        let bench = try await RawBench()
        let port = await bench.apns.port
        let run = try await ProgramRun.curl([
            "--http2-prior-knowledge", "--write-out", "%{http_code}", "--header",
            "apns-topic: \(String(repeating: "a", count: 8_001))", "--data", "{}",
            "http://127.0.0.1:\(port)/3/device/5d",
        ])
        #expect(run.text == "431")
        #expect(await bench.apns.pushCount == 0)
        // The answer comes when the request is complete, and is no error of the stream.
        bench.raw.send(bench.headers(1, RawHTTP2.literal("apns-collapse-id", String(repeating: "a", count: 8_001))))
        bench.raw.send(bench.body(1))
        let frames = await bench.frames(until: .headers)
        #expect(!frames.contains { $0.kind == .resetStream || $0.kind == .goAway })
        bench.raw.send(bench.push(3))
        try await bench.wait(forPushes: 1)
        await bench.apns.stop()
    }

    @Test(arguments: [3, 5] as [UInt32])
    func `a stream number that was passed over or used ends the connection`(stream: UInt32) async throws {
        let bench = try await RawBench()
        bench.raw.send(bench.push(5))
        _ = await bench.frames(until: .headers)
        bench.raw.send(bench.push(stream))
        let goAway = try #require(await bench.frames(until: .goAway).last { $0.kind == .goAway })
        #expect(goAway.errorCode == 1, "PROTOCOL_ERROR")
        #expect(await bench.apns.pushCount == 1)
        await bench.apns.stop()
    }

    @Test func `the rest of a request whose stream was refused is ignored`() async throws {
        let bench = try await RawBench(streams: 1)
        bench.raw.send(bench.headers(1) + bench.headers(3))
        _ = await bench.frames(until: .resetStream)
        // Trailers that were under way when the stream was refused.
        bench.raw.send(bench.body(3, isLast: false) + RawHTTP2.headers(RawHTTP2.literal("a", "b"), stream: 3))
        bench.raw.send(bench.body(1))
        let frames = await bench.frames(until: .headers)
        #expect(frames.contains { $0.kind == .headers && $0.stream == 1 } && !frames.contains { $0.kind == .goAway })
        await bench.apns.stop()
    }

    @Test func `a graceful shutdown announces its GOAWAY and answers open requests`() async throws {
        let bench = try await RawBench([SimulatedAPNs.Fault(.drain(debugData: "bye"), count: 1)])
        bench.raw.send(bench.push(1))
        let announced = await bench.frames(until: .ping)
        #expect(announced.filter { $0.kind == .goAway }.map(\.lastStream) == [0x7FFF_FFFF])
        let ping = try #require(announced.last { $0.kind == .ping })
        bench.raw.send(bench.push(3) + RawHTTP2.frame(.ping, flags: RawHTTP2.isAcknowledgement, ping.payload))
        let frames = RawHTTP2.frames(in: await bench.raw.bytes())
        #expect(frames.contains { $0.kind == .headers && $0.stream == 3 })
        let last = try #require(frames.last { $0.kind == .goAway })
        #expect(last.lastStream == 3 && last.errorCode == 0)
        #expect(String(decoding: last.payload.dropFirst(8), as: UTF8.self) == "bye")
        #expect(await bench.apns.pushes.map(\.status) == [200, 200])
        await bench.apns.stop()
    }

    @Test func `too many errors end a connection, bad device tokens sooner`() async throws {
        let preset = try #require(SimulatedAPNs.Fault.presets.first { $0.name == "too-many-errors" })
        for (device, count) in [("5d3a000400", 5), ("5d3a000413", 10), ("5d3a000410", nil)] as [(String, Int?)] {
            let bench = try await RawBench(preset.faults)
            for stream in stride(from: UInt32(1), to: 25, by: 2) {
                bench.raw.send(bench.headers(stream, device: device) + bench.body(stream))
            }
            bench.raw.send(RawHTTP2.frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]))
            let goAway = await bench.frames(until: count == nil ? .ping : .goAway).first { $0.kind == .goAway }
            #expect((goAway == nil) == (count == nil), "\(device)")
            if let count { #expect(await bench.apns.pushCount >= count) }
            await bench.apns.stop()
        }
    }

    @Test func `one GOAWAY follows too many errors, and none an accepted push`() async throws {
        let bench = try await RawBench([SimulatedAPNs.Fault(.limitErrors(2))])
        let devices = ["5d3a000413", "5d3a000403", "5d3a000410", "5d3a6a1c", "5d3a000413"]
        let pushes = devices.enumerated().map { index, device in
            bench.headers(UInt32(2 * index + 1), device: device) + bench.body(UInt32(2 * index + 1))
        }
        bench.raw.send(Array(pushes.joined()))
        // The server closes the connection after the GOAWAY, once it has answered.
        let frames = RawHTTP2.frames(in: await bench.raw.bytes())
        let goAways = frames.filter { $0.kind == .goAway }
            .map { String(decoding: $0.payload.dropFirst(8), as: UTF8.self) }
        #expect(goAways == [#"{"reason":"InvalidProviderToken"}"#], "\(goAways)")
        await bench.apns.stop()
    }

    @Test func `each answer counts for its errors`() {
        #expect(RequestEvaluator.Answer.refused(.badDeviceToken).errorWeight == 2)
        #expect(RequestEvaluator.Answer.refused(.badTopic).errorWeight == 1)
        #expect(RequestEvaluator.Answer.refused(.unregistered).errorWeight == 0)
        #expect(RequestEvaluator.Answer.accepted.errorWeight == 0)
        var plan = FaultPlan([SimulatedAPNs.Fault(.limitErrors(3), count: 1)], seed: 1)
        let headers = PushHeaders(pushType: "alert", topic: "com.example.app")
        #expect(plan.injections(on: "5d3a", headers, at: 0).isEmpty)
        #expect(plan.injections(on: "5d3a", headers, afterErrors: 2, .badTopic, at: 0).isEmpty)
        let injections = plan.injections(on: "5d3a", headers, afterErrors: 3, .badTopic, at: 0)
        #expect(injections.map(\.action) == [.goAway(debugData: #"{"reason":"BadTopic"}"#)])
        #expect(injections.map(\.name) == ["limit-errors"])
        #expect(plan.injections(on: "5d3a", headers, afterErrors: 4, .badTopic, at: 0).isEmpty)
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import TestSupport
import Testing

@testable import MartletSimulator

/// Records of pushes that faults affect, with the frames that their client receives.
@Suite(.timeLimit(.minutes(10))) struct FaultRecordTests {
    // MARK: Records

    @Test(arguments: [
        ([SimulatedAPNs.Fault(.hang)], "5d3a6a1c", "fault hang withheld the answer, 200", "cannot know"),
        ([SimulatedAPNs.Fault(.close)], "5d3a6a1c", "fault close ended the connection", "cannot know"),
        (
            [SimulatedAPNs.Fault(.resetConnection)], "5d3a6a1c", "fault reset-connection ended the connection",
            "cannot know"
        ),
        (
            [SimulatedAPNs.Fault(.resetStream(code: 2))], "5d3a6a1c",
            "fault reset-stream reset the stream (INTERNAL_ERROR)", "cannot"
        ),
        (
            [SimulatedAPNs.Fault(.resetStream(code: 7))], "5d3a6a1c", "fault reset-stream reset the stream (REFUSED",
            "can send it"
        ),
        (
            [SimulatedAPNs.Fault(.goAway(includesRequest: false))], "5d3a6a1c", "fault goaway left the stream",
            "can send it again"
        ),
        ([], "5d3a00deaf", "suffix 00deaf withheld", "cannot know"),
        ([], "5d3a00E5E7", "suffix 00e5e7 reset the stream", "cannot know"),
        ([], "5d3a00c105", "suffix 00c105 ended the connection", "cannot know"),
        ([], "5d3a00fa11", "suffix 00fa11 ended the connection", "cannot know"),
    ])
    func `a push that loses its answer to a fault has a finding that names the fault`(
        faults: [SimulatedAPNs.Fault],
        device: String,
        cause: String,
        consequence: String
    ) async throws {
        let bench = try await RawBench(faults)
        bench.raw.send(bench.headers(1, device: device) + bench.body(1))
        try await bench.wait(forPushes: 1)
        let push = try #require(await bench.apns.pushes.first)
        #expect(push.status == 0 && push.reason == nil && push.deliveries.isEmpty)
        #expect(push.findings.map(\.rule) == ["answer-lost"])
        let message = push.findings.first?.message ?? ""
        #expect(message.contains(cause) && message.contains(consequence), "\(message)")
        #expect(push.fault == (faults.first.map(\.action.name) ?? device.suffix(6).lowercased()))
        await bench.apns.stop()
    }

    @Test func `a push without an answer has no reason of a fault`() async throws {
        let bench = try await RawBench([
            SimulatedAPNs.Fault(.respond(.tooManyRequests)), SimulatedAPNs.Fault(.delay(.seconds(60)), count: 1),
            SimulatedAPNs.Fault(.resetConnection, count: 1, after: 1),
        ])
        bench.raw.send(bench.push(1) + bench.push(3))
        _ = await bench.raw.bytes()
        let pushes = await bench.apns.pushes
        #expect(pushes.map(\.status) == [0, 0] && pushes.allSatisfy { $0.reason == nil })
        #expect(pushes.map { $0.findings.map(\.rule) } == [["answer-lost"], ["answer-lost"]])
        #expect(pushes.map(\.fault) == ["reset-connection", "reset-connection"])
        #expect(pushes.allSatisfy { $0.findings.first?.message.contains("answer, 429,") == true })
        await bench.apns.stop()
    }

    @Test(arguments: [
        ([SimulatedAPNs.Fault(.respond(.tooManyRequests))], "5d3a6a1c", "respond", "the simulator's fault respond"),
        ([SimulatedAPNs.Fault(.throttle(perDevice: 0))], "5d3a6a1c", "throttle", "the simulator's fault throttle"),
        ([], "5d3a00dead", "00dead", "the device token suffix 00dead"),
    ])
    func `an answer of a fault names the fault`(
        faults: [SimulatedAPNs.Fault],
        device: String,
        name: String,
        description: String
    ) async throws {
        let bench = try await RawBench(faults)
        bench.raw.send(bench.headers(1, device: device) + bench.body(1))
        try await bench.wait(forPushes: 1)
        let push = try #require(await bench.apns.pushes.first)
        #expect(push.findings.map(\.rule) == ["answered-by-fault"])
        #expect(push.findings.first?.message.hasPrefix("\(description) determined the answer") == true)
        #expect(push.json["fault"]?.stringValue == name && push.wasFaulted)
        #expect(try ReceivedPush(record: push.record).fault == name)
        await bench.apns.stop()
    }

    @Test func `only pushes that a fault affects name it`() async throws {
        let bench = try await RawBench([
            SimulatedAPNs.Fault(.limitStreams(5), after: 1), SimulatedAPNs.Fault(.limitWindow(1_000)),
            SimulatedAPNs.Fault(.refuseConnections(1)),
            SimulatedAPNs.Fault(.delay(.milliseconds(1)), count: 1),
        ])
        bench.raw.send(bench.push(1) + bench.push(3))
        try await bench.wait(until: "both pushes are accepted") { $0.answers[200] == 2 }
        #expect(await bench.apns.pushes.map(\.fault) == ["delay", nil])
        await bench.apns.stop()
    }

    // MARK: Frames

    /// The numbers of streams in SETTINGS frames.
    private static func streamLimits(in frames: [RawHTTP2.Frame]) -> [UInt32] {
        frames.filter { $0.kind == .settings && $0.flags & RawHTTP2.isAcknowledgement == 0 }.flatMap { frame in
            stride(from: 0, to: frame.payload.count, by: 6).map { frame.payload[$0..<$0 + 6] }
                .filter { $0.prefix(2) == [0, 3] }.map { $0.dropFirst(2).reduce(0) { $0 << 8 | UInt32($1) } }
        }
    }

    /// Sends pushes one after another and returns the frames of the server, the first ones included.
    private static func frames(of bench: RawBench, devices: [String]) async throws -> [RawHTTP2.Frame] {
        var frames = bench.greeting
        for (number, device) in devices.enumerated() {
            let stream = UInt32(2 * number + 1)
            bench.raw.send(bench.headers(stream, device: device) + bench.body(stream))
            try await bench.wait(forPushes: number + 1)
            bench.raw.send(RawHTTP2.frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]))
            let received = await bench.frames(until: .ping)
            // nghttp2 ends a connection with an acknowledgement too many.
            for _ in streamLimits(in: received) {
                bench.raw.send(RawHTTP2.frame(.settings, flags: RawHTTP2.isAcknowledgement))
            }
            frames += received
        }
        return frames
    }

    @Test func `with one-stream a connection has one stream from its first SETTINGS frame on`() async throws {
        let preset = try #require(SimulatedAPNs.Fault.presets.first { $0.name == "one-stream" })
        let bench = try await RawBench(preset.faults)
        let frames = try await Self.frames(of: bench, devices: ["5d3a6a1c", "5d3a000400", "5d3a6a1c"])
        #expect(Self.streamLimits(in: frames) == [1])
        #expect(await bench.apns.pushes.map(\.status) == [200, 400, 200])
        #expect(await bench.apns.pushes.map(\.fault) == [nil, "000400", nil])
        await bench.apns.stop()
    }

    @Test func `a limit of streams with conditions holds from its request on, until the faults change`() async throws {
        let bench = try await RawBench([SimulatedAPNs.Fault(.limitStreams(3), count: 1)])
        let frames = try await Self.frames(of: bench, devices: ["5d3a6a1c", "5d3a000400", "5d3a6a1c"])
        #expect(Self.streamLimits(in: frames) == [100, 3])
        await bench.apns.setFaults([SimulatedAPNs.Fault(.limitStreams(2))])
        await bench.apns.setFaults([])
        bench.raw.send(RawHTTP2.frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(Self.streamLimits(in: await bench.frames(until: .ping)) == [2, 1_000])
        await bench.apns.stop()
    }

    @Test func `a connection is not bound by a push that a fault refuses`() async throws {
        let bench = try await RawBench()
        bench.raw.send(bench.headers(1, device: "5d3a000410") + bench.body(1))
        _ = await bench.frames(until: .data)
        try await bench.wait(forPushes: 1)
        try await bench.wait(until: "the connection is not bound") {
            $0.clients.values.map(\.state.connection.isBound) == [false]
        }
        bench.raw.send(bench.push(3))
        try await bench.wait(forPushes: 2)
        try await bench.wait(until: "the connection is bound") {
            $0.clients.values.map(\.state.connection.isBound) == [true]
        }
        await bench.apns.stop()
    }

    @Test(arguments: [
        [SimulatedAPNs.Fault(.respond(.topicDisallowed)), SimulatedAPNs.Fault(.goAway())],
        [SimulatedAPNs.Fault(.respond(.topicDisallowed)), SimulatedAPNs.Fault(.drain())],
        [SimulatedAPNs.Fault(.respond(.topicDisallowed)), SimulatedAPNs.Fault(.limitErrors(1))],
        [
            SimulatedAPNs.Fault(.respond(.topicDisallowed)), SimulatedAPNs.Fault(.delay(.milliseconds(5))),
            SimulatedAPNs.Fault(.goAway()),
        ],
    ])
    func `GOAWAY follows the answer to the request that caused it`(faults: [SimulatedAPNs.Fault]) async throws {
        let bench = try await RawBench(faults)
        bench.raw.send(bench.push(1))
        let frames = await bench.frames(until: .goAway)
        let goAway = try #require(frames.firstIndex { $0.kind == .goAway })
        let body = try #require(frames.firstIndex { $0.kind == .data })
        #expect(body < goAway && frames[body].flags & RawHTTP2.endsStream != 0)
        let isCounted = faults.contains(SimulatedAPNs.Fault(.limitErrors(1)))
        let debugData = String(decoding: frames[goAway].payload.dropFirst(8), as: UTF8.self)
        #expect(debugData == (isCounted ? #"{"reason":"TopicDisallowed"}"# : ""))
        #expect(await bench.apns.pushes.map(\.status) == [400])
        await bench.apns.stop()
    }
}

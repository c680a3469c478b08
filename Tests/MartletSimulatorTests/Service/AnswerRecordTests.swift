// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletServer
import TestSupport
import Testing

@testable import MartletSimulator

/// Records of answers that clients received, or could not receive.
@Suite(.timeLimit(.minutes(10))) struct AnswerRecordTests {
    @Test func `answers that a reset discards are not recorded as sent`() async throws {
        let bench = try await RawBench([SimulatedAPNs.Fault(.resetConnection, count: 1, after: 2)])
        // In one piece, so that the third request is read before the first answers are written.
        bench.raw.send(bench.push(1) + bench.push(3) + bench.push(5))
        #expect(await !bench.frames(until: .goAway).contains { $0.kind == .headers })
        let pushes = await bench.apns.pushes
        #expect(pushes.map(\.status) == [0, 0, 0] && pushes.allSatisfy(\.wasFaulted))
        let losses = pushes.flatMap(\.findings).filter { $0.rule == "answer-lost" }
        #expect(losses.count == 3 && losses.allSatisfy { $0.message.contains("reset-connection") })
        #expect(try pushes.allSatisfy { try !PushQuery("is:refused").matches($0) && PushQuery("status:0").matches($0) })
        #expect(pushes[0].deliveries.map(\.kind) == [.delivered], "APNs had taken the push")
        let connection = try await bench.connection()
        #expect(connection["answers"] == [:] && connection["unanswered"] == 3 && connection["requests"] == 3)
        let metrics = try await bench.get("/metrics")
        #expect(metrics.contains("martlet_simulator_pushes_unanswered_total 3\n"))
        #expect(!metrics.contains("martlet_simulator_pushes_total{"))
        await bench.apns.stop()
    }

    @Test func `answers that are written before the connection closes are recorded as sent`() async throws {
        let bench = try await RawBench([SimulatedAPNs.Fault(.close, count: 1, after: 2)])
        bench.raw.send(bench.push(1) + bench.push(3) + bench.push(5))
        #expect(RawHTTP2.frames(in: await bench.raw.bytes()).count { $0.kind == .headers } == 2)
        #expect(await bench.apns.pushes.map(\.status) == [200, 200, 0])
        #expect(await bench.apns.pushes.map(\.wasFaulted) == [false, false, true])
        let connection = try await bench.connection()
        #expect(connection["answers"] == ["200": 2] && connection["unanswered"] == 1)
        await bench.apns.stop()
    }

    @Test func `a late answer that a reset discards is not recorded as sent`() async throws {
        let bench = try await RawBench([
            SimulatedAPNs.Fault(.delay(.seconds(60)), count: 1),
            SimulatedAPNs.Fault(.resetConnection, count: 1, after: 1),
        ])
        bench.raw.send(bench.push(1) + bench.push(3))
        _ = await bench.raw.bytes()
        #expect(await bench.apns.pushes.map(\.status) == [0, 0])
        await bench.apns.stop()
    }

    @Test func `a client that does not wait for its answer has none`() async throws {
        let bench = try await RawBench([
            SimulatedAPNs.Fault(.delay(.seconds(60)), with: SimulatedAPNs.Fault.Match(devicePrefix: "aaaa"))
        ])
        bench.raw.send(bench.headers(1, device: "aaaa0001") + bench.body(1) + bench.push(3))
        try await bench.wait(until: "one push is accepted") { $0.answers[200] == 1 }
        #expect(await bench.apns.pushes.map(\.status) == [200, 200])
        bench.raw.send(RawHTTP2.frame(.resetStream, stream: 1, RawHTTP2.bigEndian(8)))
        try await bench.wait(until: "one request is without an answer") { $0.unanswered == 1 }
        let push = try #require(await bench.apns.pushes.first)
        #expect(push.status == 0)
        #expect(push.findings.contains { $0.rule == "answer-lost" && $0.message.contains("the client") })
        #expect(try await bench.connection()["streams-reset"]?.integerValue == 1)
        #expect(try await bench.get("/metrics").contains("martlet_simulator_streams_reset_total 1\n"))
        await bench.apns.stop()
    }

    @Test func `a closed connection has no open streams`() async throws {
        let bench = try await RawBench()
        bench.raw.send(bench.push(1) + bench.headers(3))
        try await bench.wait(until: "a stream is open") {
            $0.clients.values.contains { $0.connection.openStreamCount == 1 }
        }
        #expect(try await bench.connection()["streams-open"]?.integerValue == 1)
        bench.raw.finish()
        try await bench.wait(until: "the connection is closed") { !$0.closedConnections.all.isEmpty }
        let connection = try await bench.connection()
        #expect(connection["streams-open"]?.integerValue == 0 && connection["closed"] != nil)
        await bench.apns.stop()
    }

    @Test func `refused streams are counted and reported`() async throws {
        let bench = try await RawBench(streams: 1)
        let reports = await bench.apns.notices()
        bench.raw.send(bench.headers(1) + bench.headers(3) + bench.headers(5))
        var count = 0
        for await report in reports {
            #expect(report.json["connection"] == 1 && report.label == "refused")
            count += Int(report.json["streams-refused"]?.integerValue ?? 0)
            if count == 2 { break }
        }
        #expect(try await bench.connection()["streams-refused"]?.integerValue == 2)
        bench.raw.finish()
        try await bench.wait(until: "the connection is closed") { !$0.closedConnections.all.isEmpty }
        #expect(try await bench.connection()["streams-refused"]?.integerValue == 2)
        #expect(try await bench.get("/metrics").contains("martlet_simulator_streams_refused_total 2\n"))
        await bench.apns.stop()
    }
}

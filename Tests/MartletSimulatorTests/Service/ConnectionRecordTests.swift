// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// The record of a connection: its number, its port, and the requests that are no pushes.
@Suite(.timeLimit(.minutes(10))) struct ConnectionRecordTests {
    @Test func `connections to both ports have numbers of their own`() async throws {
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(channelPort: 0, inboxPort: 0, isEncrypted: false)
        )
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        try await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
        _ = try await client.channels(of: "com.example.app").create()
        let port = try #require(await apns.inboxPort)
        let text = try await ProgramRun.curl(["http://127.0.0.1:\(port)/api/v1/connections"]).text
        let open = try #require(try JSONReader.read(Array(text.utf8))["open"]?.elements)
        #expect(Set(open.compactMap { $0["id"]?.integerValue }) == [1, 2])
        #expect(Set(open.compactMap { $0["port"]?.stringValue }) == ["pushes", "channels"])
        #expect(await apns.pushes.first?.connection == 1)
        await client.close()
        await apns.stop()
    }

    @Test(arguments: [true, false]) func `each failed connection has a number and is counted`(
        isEncrypted: Bool
    ) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: isEncrypted))
        for count in 1...3 {
            let client = try RawClient(port: await apns.port)
            client.send("GET / HTTP/1.1\r\n\r\n")
            try await eventually("\(count) connections are closed") {
                await apns.service.closedConnections.all.count >= count
            }
        }
        let closed = await apns.service.closedConnections
        #expect(closed.all.map(\.id) == [1, 2, 3] && closed.failedCount == 3)
        await apns.stop()
    }

    @Test func `a request with too many fields is in the record`() async throws {
        let bench = try await RawBench()
        let long = RawHTTP2.literal("apns-collapse-id", String(repeating: "a", count: 8_001))
        bench.raw.send(bench.headers(1, isLast: true, long) + bench.push(3))
        try await bench.wait(until: "one push is accepted") { $0.answers[200] == 1 }
        let connection = try await bench.connection()
        #expect(connection["requests"]?.integerValue == 2 && connection["answers"] == ["200": 1, "431": 1])
        #expect(connection["requests-malformed"]?.integerValue == 0)
        await bench.apns.stop()
    }

    @Test(arguments: [(8_000, false), (8_001, true)])
    func `the size of the fields is counted as HTTP2 defines it`(size: Int, isTooLong: Bool) async throws {
        let bench = try await RawBench()
        let others = [
            (":method", "POST"), (":scheme", "http"), (":authority", "a"), (":path", "/3/device/5d3a"), ("x", ""),
        ]
        let count = size - others.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
        let block = RawHTTP2.request + RawHTTP2.literal("x", String(repeating: "a", count: count))
        bench.raw.send(RawHTTP2.headers(block))
        bench.raw.send(bench.push(3))
        try await bench.wait(until: "one push is accepted") { $0.answers[200] == 1 }
        let answers = try await bench.connection()["answers"]
        #expect(answers == (isTooLong ? ["200": 1, "431": 1] : ["200": 1, "403": 1]))
        await bench.apns.stop()
    }

    @Test(arguments: ["5d 3a", "5d\u{7F}3a"])
    func `a request that is not valid HTTP2 is in the record`(device: String) async throws {
        let bench = try await RawBench()
        bench.raw.send(bench.headers(1, isLast: true, device: device))
        #expect(await bench.frames(until: .resetStream).last?.errorCode == 1)
        bench.raw.send(bench.push(3))
        try await bench.wait(until: "one push is accepted") { $0.answers[200] == 1 }
        let connection = try await bench.connection()
        #expect(connection["requests"]?.integerValue == 2 && connection["answers"] == ["200": 1])
        #expect(connection["unanswered"] == 1)
        #expect(connection["requests-malformed"]?.integerValue == 1 && connection["streams-reset"]?.integerValue == 0)
        #expect(await bench.apns.pushCount == 1)
        await bench.apns.stop()
    }

    @Test(arguments: [" x", "x ", "\tx"])
    func `a header value with a blank at its start or end is in the record`(value: String) async throws {
        let bench = try await RawBench()
        bench.raw.send(bench.headers(1, isLast: true, RawHTTP2.literal("apns-collapse-id", value)))
        #expect(await bench.frames(until: .resetStream).last?.errorCode == 1)
        bench.raw.send(bench.push(3))
        try await bench.wait(until: "one push is accepted") { $0.answers[200] == 1 }
        #expect(try await bench.connection()["requests-malformed"]?.integerValue == 1)
        await bench.apns.stop()
    }

    @Test func `the record has the provider token that was accepted`() throws {
        var bench = try ConformanceTests.Bench()
        let old = ConformanceTests.Bench.authorization(age: 7_200)
        let refused = ConformanceTests.Case(testDescription: "", fields: ["authorization": old])
        #expect(bench.answer(to: refused).status == 403)
        #expect(bench.connection.claims == nil)
        #expect(bench.answer(to: ConformanceTests.Case(testDescription: "")).status == 200)
        let accepted = bench.connection.claims
        #expect(accepted?.issuedAtSeconds == ConformanceTests.now)
        #expect(bench.answer(to: refused).status == 403)
        #expect(bench.connection.claims == accepted)
    }

    /// A certificate without a topic is refused later; until then it gives its client no more than one stream.
    @Test(arguments: [("", false), ("com.example.app", true)])
    func `only a certificate for pushes has all streams at once`(userID: String, isForPushes: Bool) async throws {
        let files = try await ProviderCertificateFiles(userID: userID)
        let certificate = try ProviderCertificate(
            pem: files.scratch.read("certificate.pem"),
            privateKeyPEM: files.scratch.read("key.pem")
        )
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(relaxedRules: .fullSpeedAfterRefusals, faults: [SimulatedAPNs.Fault(.hang)])
        )
        let client = try await PushClient(
            apns.endpoint,
            authentication: .certificate(certificate),
            configuration: apns.clientConfiguration
        )
        let token = try DeviceToken(hex: "5d3a")
        let sending = Task { try await client.send(.alert("Hi"), to: token, topic: "com.example.app") }
        try await eventually("the first request arrives") { await apns.service.hasAllStreams != nil }
        #expect(await apns.service.hasAllStreams == isForPushes)
        sending.cancel()
        await client.close()
        await apns.stop()
    }
}

extension PushService {
    /// Whether the first client that has sent a request may open all streams; nil without one.
    fileprivate var hasAllStreams: Bool? {
        clients.values.first { $0.record.requests > 0 }?.state.hasAllStreams
    }
}

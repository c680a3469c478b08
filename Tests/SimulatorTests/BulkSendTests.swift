import APNsClient
import Simulator
import Testing

@Suite(.timeLimit(.minutes(1))) struct BulkSendTests {
    private func client(of apns: SimulatedAPNs) async throws -> PushClient {
        try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
    }

    private func token(_ number: Int) throws -> DeviceToken {
        try DeviceToken(bytes: [UInt8(number >> 8), UInt8(number & 255)])
    }

    @Test func `everybody is tried, each with a badge of its own, and the dead are named`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(keptPushes: 10_000))
        let client = try await client(of: apns)
        let tokens = try (0..<5_000).map { try token($0) }
        for number in [7, 8] { await apns.unregister(tokens[number], since: 1_790_000_000_000) }
        await apns.register(tokens[9], for: ["com.example.other"])
        let report = await client.send(to: tokens, topic: "com.example.app", inFlight: 300) { token in
            .alert("Hello", badge: Int(token.hex.suffix(2), radix: 16))
        }
        #expect(report.count == 5_000 && report.acceptedCount == 4_997)
        #expect(Set(report.deadTokens.map(\.token)) == [tokens[7], tokens[8]])
        let dead = try #require(report.deadTokens.first)
        #expect(dead.isStillDead(registeredAt: 1_790_000_000_000))
        #expect(!dead.isStillDead(registeredAt: 1_790_000_000_001))
        #expect(report.failures.first { $0.token == tokens[9] }?.error.reason == .deviceTokenNotForTopic)
        #expect(report.unknown.isEmpty)
        try report.throwIfAllFailed()
        for push in await apns.pushes {
            let badge = try JSONReader.read(push.payload)["aps"]?["badge"]?.integerValue
            #expect(
                badge.map { String($0, radix: 16) }
                    == String(Int(push.deviceToken.suffix(2), radix: 16) ?? -1, radix: 16)
            )
        }
        await client.close()
        await apns.stop()
    }

    @Test func `a report of failures only throws when it is asked to`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let tokens = [try token(1), try token(2)]
        for token in tokens { await apns.unregister(token) }
        let report = await client.send(to: tokens, topic: "com.example.app") { _ in .alert("Hello") }
        #expect(report.acceptedCount == 0)
        #expect(throws: APNsError.self) { try report.throwIfAllFailed() }
        let nobody = await client.send(to: [], topic: "com.example.app") { _ in .alert("Hello") }
        try nobody.throwIfAllFailed()
        await client.close()
        await apns.stop()
    }

    @Test func `a cancelled task settles every push`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let tokens = try (0..<2_000).map { try token($0) }
        let task = Task {
            await client.send(to: tokens, topic: "com.example.app", inFlight: 10) { _ in .alert("Hello") }
        }
        while await apns.pushCount < 50 { await Task.yield() }
        task.cancel()
        let report = await task.value
        #expect(report.count == 2_000)
        #expect(report.failures.allSatisfy { $0.error.code == .cancelled })
        await client.close()
        await apns.stop()
    }
}

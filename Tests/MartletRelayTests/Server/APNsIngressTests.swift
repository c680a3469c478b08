// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import Testing

@testable import MartletRelay

/// Any client of APNs is a client of the relay.
@Suite(.timeLimit(.minutes(10))) struct APNsIngressTests {
    private let payload = Array(#"{"aps":{"alert":"Hi"},"b":1e400,"a":1,"b":"\u00e9"}"#.utf8)

    private func opaque(_ id: APNsID? = nil, collapseID: CollapseID? = nil) -> PushNotification {
        .opaque(payload, pushType: .alert, collapseID: collapseID, id: id)
    }

    @Test func `a push is forwarded byte for byte and answered by Apple`() async throws {
        let bench = try await RelayBench()
        let client = try await bench.client()
        let id = APNsID(randomBits: (1, 2))
        let receipt = try await client.send(opaque(id), to: RelayBench.token, topic: "com.example.orders")
        #expect(receipt.id == id)
        let push = try #require(await bench.apple.pushes.first)
        #expect(push.payload == payload && push.id == id.description && push.status == 200)
        #expect(push.headers.topic == "com.example.orders" && push.deviceToken == RelayBench.token.hex)
        #expect(try await bench.parts.outbox.status(of: id, of: "orders")?.state != nil)
        await bench.stop()
    }

    @Test func `a payload with half a surrogate pair is forwarded unchanged`() async throws {
        let bench = try await RelayBench()
        let client = try await bench.client()
        let payload = Array(#"{"aps":{"alert":"\ud83d"}}"#.utf8)
        try await client.send(.opaque(payload, pushType: .alert), to: RelayBench.token, topic: "com.example.orders")
        let push = try #require(await bench.apple.pushes.first)
        #expect(push.payload == payload && push.status == 200)
        #expect(push.findings.map(\.rule) == ["payload-unpaired-surrogate"] && push.findings[0].reason == nil)
        await bench.stop()
    }

    @Test func `a 410 is returned, and repeated without Apple`() async throws {
        let bench = try await RelayBench()
        await bench.apple.unregister(RelayBench.token, since: Date(timeIntervalSince1970: 1_790_000_000))
        let client = try await bench.client()
        let error = await #expect(throws: APNsError.self) {
            try await client.send(opaque(), to: RelayBench.token, topic: "com.example.orders")
        }
        #expect(
            error?.status == 410 && error?.reason == .unregistered
                && error?.unregisteredAt == Date(timeIntervalSince1970: 1_790_000_000)
        )
        // The second one does not go to Apple any more.
        let again = await #expect(throws: APNsError.self) {
            try await client.send(opaque(), to: RelayBench.token, topic: "com.example.orders")
        }
        #expect(again?.status == 410 && again?.unregisteredAt == Date(timeIntervalSince1970: 1_790_000_000))
        #expect(await bench.apple.pushCount == 1)
        await bench.stop()
    }

    @Test func `the same push with the same identifier is sent once`() async throws {
        let bench = try await RelayBench()
        let client = try await bench.client()
        let id = APNsID(randomBits: (7, 7))
        for _ in 0..<3 {
            try await client.send(opaque(id), to: RelayBench.token, topic: "com.example.orders")
        }
        #expect(await bench.apple.pushCount == 1)
        let error = await #expect(throws: APNsError.self) {
            try await client.send(.alert("another", id: id), to: RelayBench.token, topic: "com.example.orders")
        }
        #expect(error?.reason == .badMessageID)
        await bench.stop()
    }

    @Test(arguments: [
        ("com.example.rides", APNsReason.topicDisallowed), ("com.example.unknown", .topicDisallowed),
        ("", .missingTopic),
    ])
    func `a caller reaches its own apps`(topic: String, reason: APNsReason) async throws {
        let bench = try await RelayBench()
        var configuration = PushClient.Configuration()
        configuration.checksBeforeSending = false
        configuration.retry = .none
        let client = try PushClient(
            await bench.endpoint,
            authentication: .token(bench.key),
            configuration: configuration
        )
        let error = await #expect(throws: APNsError.self) {
            try await client.send(opaque(), to: RelayBench.token, topic: Topic(topic))
        }
        #expect(error?.reason == reason)
        let stranger = try await bench.client(.ephemeral())
        let refusal = await #expect(throws: APNsError.self) {
            try await stranger.send(opaque(), to: RelayBench.token, topic: "com.example.orders")
        }
        #expect(refusal?.status == 403 && refusal?.reason == .invalidProviderToken)
        #expect(await bench.apple.pushCount == 0)
        await bench.stop()
    }

    @Test func `a push without an answer in time stays stored`() async throws {
        let unavailable = SimulatedAPNs.Fault(.respond(.serviceUnavailable, retryAfter: 1))
        let bench = try await RelayBench(faults: [unavailable]) { $0.answerTime = .milliseconds(50) }
        let client = try await bench.client()
        let receipt = try await client.send(opaque(), to: RelayBench.token, topic: "com.example.orders")
        let status = try await bench.parts.outbox.status(of: receipt.id, of: "orders")
        if case .ended = status?.state { Issue.record("it has ended already") }
        await bench.stop()
    }

    @Test func `a thousand concurrent pushes are each answered`() async throws {
        let bench = try await RelayBench()
        let client = try await bench.client()
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<1_000 {
                group.addTask {
                    try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
                }
            }
        }
        #expect(await bench.apple.pushCount == 1_000)
        let counts = await bench.parts.intake.snapshot.counts
        #expect(counts.accepted["orders"] == 1_000)
        await bench.stop()
    }
}

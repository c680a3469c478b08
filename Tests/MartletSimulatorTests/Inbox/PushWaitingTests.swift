// SPDX-License-Identifier: Apache-2.0

import Martlet
import Testing

@testable import MartletSimulator

/// Tests that wait for pushes.
@Suite(.timeLimit(.minutes(10))) struct PushWaitingTests {
    private let topic: Topic = "com.example.app"

    private func bench() async throws -> (SimulatedAPNs, PushClient, DeviceToken) {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        return (apns, client, try DeviceToken(hex: "5d3a6a1c"))
    }

    @Test func `a wait ends when a later push matches`() async throws {
        let (apns, client, token) = try await bench()
        async let result = apns.wait(for: PushQuery("title:ready"), count: 2)
        for title in ["one", "ready 1", "ready 2"] {
            try await client.send(.alert(PushNotification.Alert(title: title)), to: token, topic: topic)
        }
        guard case .found(let pushes) = try await result else {
            Issue.record("the wait ended without them")
            return
        }
        #expect(pushes.map(\.number) == [2, 3])
        await client.close()
        await apns.stop()
    }

    @Test func `a wait ignores pushes up to a number`() async throws {
        let (apns, client, token) = try await bench()
        try await client.send(.alert("Hi"), to: token, topic: topic)
        let cursor = await apns.pushCount
        let early = try await apns.wait(for: PushQuery("Hi"), after: cursor, timeout: .zero)
        #expect(early == .timedOut(SimulatedAPNs.WaitResult.Shortfall(found: [], nearMisses: [], lastNumber: 1)))
        try await client.send(.alert("Hi again"), to: token, topic: topic)
        guard case .found(let pushes) = try await apns.wait(for: PushQuery("Hi"), after: cursor) else {
            Issue.record("the wait ended without it")
            return
        }
        #expect(pushes.map(\.number) == [2])
        await client.close()
        await apns.stop()
    }

    @Test func `a wait that times out has the near misses, closest first`() async throws {
        let (apns, client, token) = try await bench()
        try await client.send(.alert(PushNotification.Alert(title: "late")), to: token, topic: topic)
        try await client.send(.alert(PushNotification.Alert(title: "ready")), to: token, topic: topic)
        let result = try await apns.wait(for: PushQuery("title:ready priority:5 type:alert"), timeout: .milliseconds(1))
        guard case .timedOut(let shortfall) = result else {
            Issue.record("found what did not come")
            return
        }
        #expect(shortfall.nearMisses.map(\.push.number) == [2, 1])
        #expect(shortfall.nearMisses.map(\.misses) == [["priority:5"], ["title:ready", "priority:5"]])
        await client.close()
        await apns.stop()
    }

    @Test func `a wait that times out has the pushes found so far, and forgotten pushes count`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false, storedPushes: 1))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let token = try DeviceToken(hex: "5d3a6a1c")
        async let three = apns.wait(for: PushQuery("Hi"), count: 3)
        async let four = apns.wait(for: PushQuery("Hi"), count: 4, timeout: .seconds(50))
        // Both wait once the simulator has answered after them.
        _ = await apns.wait(for: try PushQuery("never"), timeout: .milliseconds(1))
        for _ in 0..<3 { try await client.send(.alert("Hi"), to: token, topic: topic) }
        guard case .found(let pushes) = try await three else {
            Issue.record("three came, and were not found")
            return
        }
        #expect(pushes.map(\.number) == [1, 2, 3])
        await client.close()
        await apns.stop()
        guard case .timedOut(let shortfall) = try await four else {
            Issue.record("four did not come, and were found")
            return
        }
        #expect(shortfall.found.count == 3 && shortfall.lastNumber == 3)
    }

    @Test func `waits end when the simulator stops`() async throws {
        let (apns, client, _) = try await bench()
        async let result = apns.wait(for: PushQuery("never"), timeout: .seconds(50))
        await Task.yield()
        await apns.stop()
        #expect(
            try await result == .timedOut(SimulatedAPNs.WaitResult.Shortfall(found: [], nearMisses: [], lastNumber: 0))
        )
        await client.close()
    }

    @Test func `forgotten pushes are removed, and the numbering continues`() async throws {
        let (apns, client, token) = try await bench()
        try await client.send(.alert("Hi"), to: token, topic: topic)
        await apns.forgetPushes()
        #expect(await apns.pushes.isEmpty)
        try await client.send(.alert("Hi"), to: token, topic: topic)
        #expect(await apns.pushes.map(\.number) == [2])
        await client.close()
        await apns.stop()
    }
}

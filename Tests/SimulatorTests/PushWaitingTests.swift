import APNsClient
import Simulator
import Testing

/// Tests that wait for pushes.
@Suite(.timeLimit(.minutes(1))) struct PushWaitingTests {
    private let topic: Topic = "com.example.app"

    private func bench() async throws -> (SimulatedAPNs, PushClient, DeviceToken) {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        return (apns, client, try DeviceToken(hex: "5d3a6a1c"))
    }

    @Test func `a push is waited for that comes later`() async throws {
        let (apns, client, token) = try await bench()
        async let result = apns.wait(for: PushQuery("title:ready"), count: 2)
        for title in ["one", "ready 1", "ready 2"] {
            try await client.send(.alert(Alert(title: title)), to: token, topic: topic)
        }
        guard case .found(let pushes) = try await result else {
            Issue.record("the wait ended without them")
            return
        }
        #expect(pushes.map(\.number) == [2, 3])
        await client.close()
        await apns.stop()
    }

    @Test func `only what comes after a number counts`() async throws {
        let (apns, client, token) = try await bench()
        try await client.send(.alert("Hi"), to: token, topic: topic)
        let cursor = await apns.pushCount
        let early = try await apns.wait(for: PushQuery("Hi"), after: cursor, timeout: .zero)
        #expect(early == .timedOut(nearMisses: []))
        try await client.send(.alert("Hi again"), to: token, topic: topic)
        guard case .found(let pushes) = try await apns.wait(for: PushQuery("Hi"), after: cursor) else {
            Issue.record("the wait ended without it")
            return
        }
        #expect(pushes.map(\.number) == [2])
        await client.close()
        await apns.stop()
    }

    @Test func `a wait in vain tells what came closest first`() async throws {
        let (apns, client, token) = try await bench()
        try await client.send(.alert(Alert(title: "late")), to: token, topic: topic)
        try await client.send(.alert(Alert(title: "ready")), to: token, topic: topic)
        let result = try await apns.wait(for: PushQuery("title:ready priority:5 type:alert"), timeout: .milliseconds(1))
        guard case .timedOut(let misses) = result else {
            Issue.record("found what did not come")
            return
        }
        #expect(misses.map(\.push.number) == [2, 1])
        #expect(misses.map(\.misses) == [["priority:5"], ["title:ready", "priority:5"]])
        await client.close()
        await apns.stop()
    }

    @Test func `who still waits when the simulator stops is told`() async throws {
        let (apns, client, _) = try await bench()
        async let result = apns.wait(for: PushQuery("never"), timeout: .seconds(50))
        await Task.yield()
        await apns.stop()
        #expect(try await result == .timedOut(nearMisses: []))
        await client.close()
    }

    @Test func `forgotten pushes are gone, and numbers go on`() async throws {
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

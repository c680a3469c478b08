import APNsClient
import Simulator
import TestSupport
import Testing

/// Clients that break HTTP/2: the simulator ends their connection or stream, and serves the others.
@Suite(.serialized, .timeLimit(.minutes(1))) struct MalformedInputTests {
    @Test(arguments: MalformedInput.all()) func `the simulator outlives it`(input: MalformedInput) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let token = try DeviceToken(hex: "5d3a6a1c")
        try await client.send(.alert("before"), to: token, topic: "com.example.app")
        let raw = try RawClient(port: await apns.port)
        raw.send(input.bytes)
        raw.finish()
        _ = await raw.read()
        try await client.send(.alert("after"), to: token, topic: "com.example.app")
        #expect(Set(await apns.pushes.filter { $0.status == 200 }.map(\.connection)).count == 1)
        await client.close()
        await apns.stop()
    }

    /// Random bytes after a good beginning, and good requests with bytes changed: the same ones in each run.
    @Test(arguments: 0..<40) func `the simulator outlives changed bytes`(seed: UInt64) async throws {
        var random = SplitMix64(state: seed)
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        for _ in 0..<10 {
            let raw = try RawClient(port: await apns.port)
            raw.send(MalformedInput.changed(using: &random))
            raw.finish()
            _ = await raw.read()
        }
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        try await client.send(.alert("after"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
        await client.close()
        await apns.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletSimulator
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ReleasedSimulatorTests {
    @Test func `a simulator without references frees its descriptors`() async {
        await #expect(processExitsWith: .success) {
            // The first simulator also opens what the process keeps.
            try await sendAndRelease()
            let before = OpenDescriptors.count()
            for _ in 0..<20 { try await sendAndRelease() }
            // Each simulator has two loops and two ports, which take more than eight descriptors.
            try await eventually("fewer than one descriptor for each simulator is left", within: .seconds(60)) {
                OpenDescriptors.count() < before + 20
            }
        }
    }

    @Test func `a simulator without references ends its events`() async throws {
        for await push in try await arrivalsOfReleased() { Issue.record("\(push)") }
    }
}

/// Returns the arrivals of a simulator that is released when the function returns.
private func arrivalsOfReleased() async throws -> AsyncStream<ReceivedPush> {
    let apns = try await SimulatedAPNs.start()
    return await apns.arrivals()
}

/// Sends a push to a simulator with an inbox, and releases both without stopping the simulator.
private func sendAndRelease() async throws {
    let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0))
    let client = try await PushClient(
        apns.endpoint,
        authentication: .token(.ephemeral()),
        configuration: apns.clientConfiguration
    )
    try await client.send(.alert("Hello"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
    #expect(await apns.pushCount == 1)
    await client.close()
}

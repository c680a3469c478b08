// SPDX-License-Identifier: Apache-2.0

import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import Martlet

@Suite(.timeLimit(.minutes(10))) struct PushEventLoopsTests {
    @Test func `clients are distributed over shared loops`() throws {
        let loops = try PushEventLoops(count: 2)
        var configuration = PushClient.Configuration(sharedEventLoops: loops)
        let clients = try (0..<4).map { _ in
            try PushClient(authentication: .token(.ephemeral()), configuration: configuration)
        }
        let used = clients.map { client in client.pools.map { ObjectIdentifier($0.loop) } }
        #expect(used.allSatisfy { $0.count == 1 })
        #expect(used[0] == used[2] && used[1] == used[3] && used[0] != used[1])
        configuration.eventLoops = 8
        let wide = try PushClient(authentication: .token(.ephemeral()), configuration: configuration)
        #expect(Set(wide.pools.map { ObjectIdentifier($0.loop) }).count == 2 && wide.pools.count == 2)
    }

    @Test func `closing and releasing a client leaves the others of its loop`() async throws {
        try await withSimulatedAPNs { apns, _ in
            let loops = try PushEventLoops(count: 1)
            let closed = try await client(of: apns, over: loops)
            let other = try await client(of: apns, over: loops)
            try await send(with: closed)
            try await send(with: other)
            await closed.close()
            try await send(with: other)
            try await send(with: client(of: apns, over: loops))
            try await send(with: other)
            #expect(await other.counters.connectionsOpened == 1)
            #expect(await apns.pushCount == 5)
        }
    }

    @Test func `shared loops and released clients keep no descriptors`() async {
        await #expect(processExitsWith: .success) {
            try await withSimulatedAPNs { apns, _ in
                // The first client also opens what the process keeps.
                try await send(with: client(of: apns, over: PushEventLoops(count: 1)))
                let before = OpenDescriptors.count()
                let loops = try PushEventLoops(count: 2)
                for _ in 0..<20 { try await send(with: client(of: apns, over: loops)) }
                // The two loops take eight, and 20 open connections would take 40.
                try await eventually("the connections of released clients are closed", within: .seconds(60)) {
                    OpenDescriptors.count() < before + 20
                }
                for _ in 0..<10 { try await send(with: client(of: apns, over: PushEventLoops(count: 2))) }
                // Loops that continue would take 80.
                try await eventually("loops without references have ended", within: .seconds(60)) {
                    OpenDescriptors.count() < before + 20
                }
                try await send(with: client(of: apns, over: loops))
            }
        }
    }
}

/// Returns a client that uses shared loops.
private func client(of apns: SimulatedAPNs, over loops: PushEventLoops) async throws -> PushClient {
    var configuration = apns.clientConfiguration
    configuration.sharedEventLoops = loops
    return try await PushClient(apns.endpoint, authentication: .token(.ephemeral()), configuration: configuration)
}

private func send(with client: PushClient) async throws {
    try await client.send(.alert("Hello"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

/// A client that must be served during an attack, and the memory that the attack costs.
struct Witness {
    /// The attacked server.
    enum Target: CaseIterable {
        case simulator
        /// A relay before a simulator.
        case relay
    }

    let simulator: SimulatorProcess
    private let relay: RelayProcess?
    private let client: PushClient
    private let memory: Int?
    /// The port for pushes.
    let port: UInt16
    /// The port for HTTP/1.1.
    let httpPort: UInt16

    /// Starts a simulator in a process of its own, and perhaps a relay before it, and sends a first push.
    init(of target: Target = .simulator, isEncrypted: Bool = false) async throws {
        simulator = try await SimulatorProcess(isEncrypted: isEncrypted)
        relay =
            target == .simulator
            ? nil : try await RelayProcess(to: ["host": "127.0.0.1", "port": Int(simulator.port), "clear": true])
        try await relay?.start()
        port = relay?.port ?? simulator.port
        httpPort = relay?.httpPort ?? simulator.inboxPort
        let key = try relay.map { relay in
            try SigningKey(pem: relay.keyPEM, keyID: RelayProcess.keyID, teamID: RelayProcess.teamID)
        }
        client = try PushClient(
            APNsEndpoint(host: "localhost", port: port, isEncrypted: isEncrypted),
            authentication: .token(key ?? .ephemeral()),
            configuration: .init(additionalAuthorities: simulator.authorityPEM)
        )
        try await client.send(.alert("before"), to: Witness.token, topic: "com.example.app")
        memory = relay == nil ? simulator.memory : relay?.memory
    }

    private static var token: DeviceToken { get throws { try DeviceToken(hex: "5d3a6a1c") } }

    /// The growth of the server's memory; nil if it is unknown.
    var growth: Int? {
        guard let memory, let now = relay == nil ? simulator.memory : relay?.memory else { return nil }
        return now - memory
    }

    /// Sends a push over the connection that was there before.
    func isServed() async throws {
        try await client.send(.alert("meanwhile"), to: Witness.token, topic: "com.example.app")
    }

    /// Makes sure that all is as before.
    func finish(within bytes: Int = 8 << 20, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await isServed()
        let counters = await client.counters
        #expect(counters.connectionsOpened == 1, "over the connection it had", sourceLocation: sourceLocation)
        #expect(counters.sends == counters.accepted && counters.resends == 0, sourceLocation: sourceLocation)
        if let growth { #expect(growth < bytes, "\(growth >> 10) KB more", sourceLocation: sourceLocation) }
        #expect(relay?.isRunning ?? simulator.isRunning, sourceLocation: sourceLocation)
        await client.close()
    }
}

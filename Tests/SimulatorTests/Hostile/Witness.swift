import APNsClient
import TestSupport
import Testing

/// A client that was there before and has to be served whatever others do, and a look at what they cost.
struct Witness {
    let simulator: SimulatorProcess
    private let client: PushClient
    private let memory: Int?

    /// Starts a simulator in a process of its own and sends it a first push.
    init(isEncrypted: Bool = false) async throws {
        simulator = try await SimulatorProcess(isEncrypted: isEncrypted)
        client = try PushClient(
            APNsEndpoint(host: "localhost", port: simulator.port, isEncrypted: isEncrypted),
            authentication: .token(.ephemeral()),
            configuration: .init(additionalAuthorities: simulator.authorityPEM)
        )
        try await client.send(.alert("before"), to: Witness.token, topic: "com.example.app")
        memory = simulator.memory
    }

    private static var token: DeviceToken { get throws { try DeviceToken(hex: "5d3a6a1c") } }

    /// How much more memory the simulator has than before; nil where that cannot be told.
    var growth: Int? {
        guard let memory, let now = simulator.memory else { return nil }
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
        #expect(simulator.isRunning, sourceLocation: sourceLocation)
        await client.close()
    }
}

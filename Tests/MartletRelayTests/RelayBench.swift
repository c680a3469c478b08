// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport

@testable import MartletRelay

/// A relay between a simulator that plays Apple and clients that know nothing of either.
struct RelayBench {
    static let token: DeviceToken = {
        do { return try DeviceToken(hex: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d") } catch { fatalError("\(error)") }
    }()
    static let callerKey = "mrt_0123456789abcdefghijklmnopqrstuv"

    let apple: SimulatedAPNs
    let relay: PushRelay
    let key: SigningKey
    let directory: ScratchDirectory

    init(
        faults: [SimulatedAPNs.Fault] = [],
        directory: ScratchDirectory? = nil,
        data: OutboxLocation? = nil,
        clock: WallClock = .system,
        log: Logger = .silent,
        _ change: (inout RelayConfiguration) -> Void = { _ in }
    ) async throws {
        var apple = SimulatedAPNs.Configuration()
        apple.isEncrypted = false
        apple.environment = .production
        apple.faults = faults
        self.apple = try await SimulatedAPNs.start(apple)
        self.directory = try directory ?? ScratchDirectory()
        key = try .ephemeral()
        var configuration = RelayConfiguration(
            data: data ?? .file(self.directory.path + "/relay.sqlite"),
            apps: [
                RelayConfiguration.App(name: "orders", bundleIDs: ["com.example.orders"], key: key),
                RelayConfiguration.App(name: "rides", bundleIDs: ["com.example.rides"], key: try .ephemeral()),
            ],
            listeners: [.production: RelayConfiguration.Address(port: 0)]
        )
        let endpoint = await self.apple.endpoint
        configuration.endpoints = [.production: LaneEndpoint(endpoint)]
        configuration.callers = [
            RelayConfiguration.Caller(
                name: "back end",
                hash: try Self.hash(Self.callerKey),
                apps: ["orders"],
                scopes: [.send, .read, .manage]
            )
        ]
        change(&configuration)
        relay = try await PushRelay.start(configuration, clock: clock, log: log)
    }

    /// The bench of another relay.
    init(_ other: RelayBench, _ relay: PushRelay) {
        apple = other.apple
        self.relay = relay
        key = other.key
        directory = other.directory
    }

    /// Another relay with the same configuration, between the same two.
    func another(_ change: (inout RelayConfiguration) -> Void = { _ in }) async throws -> RelayBench {
        var configuration = await relay.context.configuration
        change(&configuration)
        let relay = try await PushRelay.start(configuration)
        return RelayBench(self, relay)
    }

    var parts: RelayParts { relay.parts }

    static func hash(_ key: String) throws -> String {
        try SHA256.hash(Array(key.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    var endpoint: APNsEndpoint {
        get async throws {
            let port = await relay.ports[.production] ?? 0
            return APNsEndpoint(host: "127.0.0.1", port: port, isEncrypted: false)
        }
    }

    /// A client of the relay's, which takes it for Apple.
    func client(_ key: SigningKey? = nil) async throws -> PushClient {
        var configuration = PushClient.Configuration()
        configuration.retry = .none
        return try PushClient(await endpoint, authentication: .token(key ?? self.key), configuration: configuration)
    }

    /// A caller that reads events of an app.
    static func listener(to app: String) -> Callers.Caller {
        Callers.Caller(name: "listener of \(app)", apps: [app], scopes: [.read], tokenIssuedAt: nil)
    }

    /// The reason why a lane delivers nothing, whether or not an operator has paused it; nil when it delivers.
    func problem(of lane: Lane) async -> LaneProblem? {
        let now = await relay.context.now
        return await parts.dispatcher.machine.lanes[lane]?.problem(at: now)
    }

    func stop() async {
        await relay.stop()
        await apple.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

public import Martlet
internal import MartletHTTPServer
internal import MartletTransport

/// A local APNs server for development and tests, with the protocol (HTTP/2 over TLS), the rules and the answers of
/// APNs, and an inbox of all received pushes.
///
/// The module `MartletSimulator` implements Apple's side of the protocol. In a test, start a simulator and connect a
/// client to it:
///
/// ```swift
/// let apns = try await SimulatedAPNs.start()
/// let client = try await PushClient(
///     apns.endpoint, authentication: .token(.ephemeral()), configuration: apns.clientConfiguration)
/// try await client.send(.alert("Hello"), to: token, topic: "com.example.app")
/// let pushes = await apns.pushes
/// await apns.stop()
/// ```
///
/// A simulator runs until ``stop()``, or until nothing refers to it any more, so keep it for as long as clients use it.
/// Its ports, its thread and its file descriptors are then released.
public actor SimulatedAPNs {
    /// The maximum size of the body of a request to the HTTP interface, which may be an imported export, in bytes.
    private static let bodyLimit = 16 << 20

    private nonisolated let loop: EventLoop
    /// The executor of the actor: the event loop that serves the connections.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    nonisolated let configuration: Configuration
    private nonisolated let authority: LocalAuthority
    nonisolated let inbox: PushInbox
    nonisolated let archive: ArchiveWriter
    nonisolated let service: PushService
    nonisolated let previews: PreviewStore
    private var http: HTTP1Listener?
    private var ending: Task<Void, Never>?

    /// The port of the simulated APNs server.
    public private(set) var port: UInt16 = 0
    /// The separate port for the management of channels; nil when none is configured.
    public private(set) var channelPort: UInt16?
    /// The port of the HTTP interface; nil when none is configured.
    public private(set) var inboxPort: UInt16?

    private init(_ configuration: Configuration, clock: WallClock) throws(SimulatorError) {
        self.configuration = configuration
        do {
            // The loop is created last, because its thread would continue to run after an error.
            authority = try configuration.authority ?? LocalAuthority(names: configuration.names)
            loop = try EventLoop()
        } catch {
            throw SimulatorError("\(error)")
        }
        inbox = PushInbox(
            limit: configuration.storedPushes,
            longestAge: configuration.storageTime,
            seed: configuration.seed,
            clock: clock,
            on: loop
        )
        archive = ArchiveWriter(for: inbox, on: loop)
        service = PushService(configuration, inbox, archive, clock: clock, on: loop)
        previews = PreviewStore(for: inbox, on: loop)
    }

    deinit {
        // The listeners retain the service, and occupy their ports, until they are closed.
        Task { [service, inbox] in
            await service.close(grace: .zero)
            await inbox.close()
        }
    }

    /// Starts a simulator, which accepts connections when this method returns.
    ///
    /// - Parameter configuration: The addresses, certificate authority and limits; by default any free port, an
    ///   authority of its own in memory, and no HTTP interface.
    /// - Returns: The simulator, which runs until ``stop()`` or until it is released.
    /// - Throws: ``SimulatorError`` when an address is in use, a certificate cannot be created, or the data file cannot
    ///   be read.
    public static func start(_ configuration: Configuration = Configuration()) async throws(SimulatorError)
        -> SimulatedAPNs
    {
        try await start(configuration, clock: .system)
    }

    /// Starts a simulator that reads the time from a given clock.
    package static func start(
        _ configuration: Configuration,
        clock: WallClock
    ) async throws(SimulatorError) -> SimulatedAPNs {
        let simulator = try SimulatedAPNs(configuration, clock: clock)
        let service = simulator.service
        await simulator.inbox.setHandlers(
            onRemoval: { [weak service] removal in
                service?.assumeIsolated { $0.update { machine, _ in machine.forget(removal) } }
            },
            onRead: { [weak service] now in
                service?.assumeIsolated { service in
                    service.update { machine, _ in machine.evaluator.devices.discardExpired(at: now) }
                } ?? []
            }
        )
        if let file = configuration.dataFile {
            let channels = try await simulator.archive.restore(from: file)
            let pushes = await simulator.inbox.pushes
            await service.update { machine, _ in
                machine.evaluator.channels.restore(channels)
                machine.evaluator.devices.restore(pushes)
            }
        }
        try await simulator.listen()
        await simulator.service.followPhones()
        return simulator
    }

    private func listen() async throws(SimulatorError) {
        var listening: SimulatorError.Listener?
        do {
            let tls = try configuration.isEncrypted ? serverTLS() : nil
            let host = configuration.host
            listening = .pushes
            port = try await service.listen(on: host, configuration.port, tls, for: .pushes)
            if let channelPort = configuration.channelPort {
                listening = .channels
                self.channelPort = try await service.listen(on: host, channelPort, tls, for: .channels)
            }
            if let inboxPort = configuration.inboxPort {
                listening = .inbox
                var limits = HTTP1Listener.Limits()
                limits.bodyBytes = SimulatedAPNs.bodyLimit
                // The clients are tests and browsers without credentials, which read long lists of pushes side by side.
                limits.totalHeldBytes = 512 << 20
                let http = try await HTTP1Listener(host: host, port: inboxPort, limits: limits) { [weak self] request in
                    guard let self else { return .text("The simulator has stopped.\n", status: 503) }
                    return await InboxAPI(self).answer(request)
                }
                self.http = http
                self.inboxPort = http.port
            }
        } catch {
            // The listeners retain the service and occupy their ports until they are closed.
            await service.close(grace: .zero)
            let isHost = (error as? TransportError)?.kind == .addressNotAvailable
            throw SimulatorError("\(error)", listener: isHost ? .host : listening)
        }
    }

    private func serverTLS() throws -> TLSContext {
        try TLSContext.server(
            identity: authority.serverIdentity(names: configuration.names),
            identityForNamedHosts: authority.serverIdentity(names: configuration.names, hasAddresses: false),
            asksForCertificates: true
        )
    }

    /// Stops listening, and waits up to a second for open requests.
    ///
    /// Received pushes can still be read afterwards.
    public func stop() async {
        if ending == nil { ending = Task { await end() } }
        await ending?.value
    }

    private func end() async {
        await inbox.stopWaiting()
        await http?.stop(within: .zero)
        http = nil
        await service.close(grace: .seconds(1))
        // From here on, no more pushes arrive.
        await inbox.close()
        await archive.close()
    }

    // MARK: For clients

    /// The addresses at which clients reach this simulator.
    public nonisolated var endpoint: APNsEndpoint {
        get async {
            let port = await port
            let channelPort = await channelPort
            return APNsEndpoint(
                host: configuration.clientHost,
                port: port,
                isEncrypted: configuration.isEncrypted,
                channels: channelPort.map { APNsEndpoint.Address(host: configuration.clientHost, port: $0) }
            )
        }
    }

    /// A client configuration that trusts this simulator.
    public nonisolated var clientConfiguration: PushClient.Configuration {
        PushClient.Configuration(additionalAuthorities: authority.certificatePEM)
    }

    /// The certificate of the authority that signs the simulator's certificate, in PEM, for clients in other languages
    /// to trust.
    public nonisolated var authorityPEM: String { authority.certificatePEM }

    /// The instructions for connecting clients to this simulator.
    package nonisolated var recipes: ClientRecipes {
        get async {
            let endpoint = await endpoint
            let inboxPort = await inboxPort
            return ClientRecipes(
                endpoint: endpoint,
                inboxPort: inboxPort ?? 0,
                authorityFile: authority.certificateFile ?? "ca.pem",
                names: configuration.names,
                phones: configuration.phones
            )
        }
    }
}

public import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletServer
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
/// A simulator runs until ``stop()``, even when nothing refers to it any more: its ports, its thread and its file
/// descriptors are released only then.
public actor SimulatedAPNs {
    nonisolated let loop: EventLoop
    /// The executor of the actor: the event loop that serves the connections.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let configuration: Configuration
    let clock: WallClock
    private let authority: LocalAuthority
    private(set) var listeners: [APNsListener] = []
    /// The numbering of the connections, shared by all ports.
    private let numbering = ConnectionNumbering()
    private var http: HTTP1Listener?
    private(set) var isStopped = false
    private var ending: Task<Void, Never>?

    var judge: Judge
    var plan: FaultPlan
    /// The number of connections that are still to be closed before their TLS handshake.
    var refusals = 0
    /// The seconds by which a fault has set the clock ahead.
    var skew: Int64 {
        get { judge.clockSkew }
        set { judge.clockSkew = newValue }
    }
    var inbox: PushInbox
    var namespaces = Namespaces()
    var traffic = TrafficRules()
    var contracts = ActivityContracts()
    var previews = PreviewMaterial()
    var clients: [ObjectIdentifier: ServedClient] = [:]
    var closedConnections = ClosedConnections()
    /// The number of pushes by the status of their answers.
    var answers: [Int: Int] = [:]
    /// The number of pushes over a connection whose answer was not written.
    var unanswered = 0
    var generator: SplitMix64
    var archive: PushArchive?
    /// The changes that have not been written to the archive.
    var unkept = ArchiveChanges(lastNumber: 0)
    /// The task that writes the changes to the archive; after a failed write, it remains set until the next attempt.
    var keeping: Task<Void, Never>?
    /// The error that prevents received pushes from being written to the data file; nil when there is none.
    public internal(set) var archiveProblem: SimulatorError?
    /// The number of pushes in the data file that could not be read at the start; they are not shown.
    public internal(set) var unreadablePushes = 0
    var troubleReaders: [AsyncStream<SimulatorError>.Continuation] = []
    var isTellingSoon = false
    var isKeepingToTell = false

    /// The port of the simulated APNs server.
    public private(set) var port: UInt16 = 0
    /// The separate port for the management of channels; nil when none is configured.
    public private(set) var channelPort: UInt16?
    /// The port of the HTTP interface; nil when none is configured.
    public private(set) var inboxPort: UInt16?

    private init(_ configuration: Configuration, clock: WallClock) throws(SimulatorError) {
        self.configuration = configuration
        self.clock = clock
        do {
            // The loop is created last, because its thread would continue to run after an error.
            authority = try configuration.authority ?? LocalAuthority(names: configuration.names)
            loop = try EventLoop()
        } catch {
            throw SimulatorError("\(error)")
        }
        judge = Judge(environment: configuration.environment, leniency: configuration.leniency)
        plan = FaultPlan(configuration.faults, seed: configuration.seed)
        generator = SplitMix64(state: configuration.seed)
        inbox = PushInbox(limit: configuration.keptPushes, longestAge: configuration.keptTime)
    }

    /// Starts a simulator, which accepts connections when this method returns.
    ///
    /// - Parameter configuration: The addresses, certificate authority and limits; by default any free port, an
    ///   authority of its own in memory, and no HTTP interface.
    /// - Returns: The simulator, which runs until ``stop()``.
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
        if let file = configuration.dataFile { try await simulator.restore(from: PushArchive(file: file)) }
        try await simulator.listen()
        return simulator
    }

    private func listen() throws(SimulatorError) {
        var listening: SimulatorError.Listener?
        do {
            let tls =
                configuration.isEncrypted
                ? try TLSContext.server(
                    identity: authority.serverIdentity(names: configuration.names),
                    identityForNamedHosts: authority.serverIdentity(names: configuration.names, hasAddresses: false),
                    asksForCertificates: true
                ) : nil
            listening = .pushes
            let listener = try listener(on: configuration.port, tls, .pushes)
            port = listener.port
            if let channelPort = configuration.channelPort {
                listening = .channels
                let listener = try self.listener(on: channelPort, tls, .channels)
                self.channelPort = listener.port
            }
            if let inboxPort = configuration.inboxPort {
                listening = .inbox
                let api = InboxAPI(self)
                var limits = HTTP1Listener.Limits()
                limits.bodyBytes = SimulatedAPNs.longestImport
                let http = try HTTP1Listener(host: configuration.host, port: inboxPort, limits: limits) {
                    await api.answer($0)
                }
                self.http = http
                self.inboxPort = http.port
            }
        } catch {
            // The listeners retain this object and occupy their ports until they are closed.
            for listener in listeners { listener.close(grace: .zero) {} }
            listeners = []
            let isHost = (error as? WireError)?.kind == .addressNotAvailable
            throw SimulatorError("\(error)", listener: isHost ? .host : listening)
        }
    }

    /// The maximum size of an imported export, in bytes.
    private static let longestImport = 16 << 20

    /// Listens on a port for all requests, or for those about channels only.
    private func listener(
        on port: UInt16,
        _ tls: TLSContext?,
        _ kind: ConnectionNotes.Port
    ) throws(WireError) -> APNsListener {
        let listener = try APNsListener(
            host: configuration.host,
            port: port,
            tls: tls,
            limits: APNsListener.Limits(initialStreams: initialStreams),
            on: loop,
            numbering: numbering,
            admits: { self.admits() },
            // Retains the simulator until `stop`, because clients may still be connected.
            onEvent: { client, event in self.handle(event, from: client, on: kind) }
        )
        listeners.append(listener)
        return listener
    }

    /// Stops listening, and waits up to a second for open requests.
    ///
    /// Received pushes can still be read afterwards.
    public func stop() async {
        if ending == nil { ending = Task { await end() } }
        await ending?.value
    }

    private func end() async {
        isStopped = true
        inbox.giveUp(nil)
        http?.stop()
        http = nil
        let listeners = listeners
        self.listeners = []
        for listener in listeners {
            await withCheckedContinuation { continuation in
                listener.close(grace: .seconds(1)) { continuation.resume() }
            }
        }
        // From here on, no more pushes arrive.
        inbox.end()
        await finishKeeping()
    }

    deinit {
        http?.stop()
        loop.shutdown()
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
                names: configuration.names
            )
        }
    }

    /// The additional host names of the simulator.
    nonisolated var names: [String] { configuration.names }

    /// Whether the simulator accepts pushes.
    var isReady: Bool { !listeners.isEmpty }
}

/// An error that prevents a simulator from starting, or from doing what was requested.
public struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error, in a sentence without the final stop.
    public let description: String

    /// The settings of a simulator that can make listening fail.
    package enum Listener: Sendable, Hashable {
        /// The address, which does not belong to this machine.
        case host
        case pushes
        case channels
        case inbox
    }

    /// The setting that prevents the simulator from listening; nil for other errors.
    package let listener: Listener?

    init(_ description: String, listener: Listener? = nil) {
        self.description = description
        self.listener = listener
    }
}

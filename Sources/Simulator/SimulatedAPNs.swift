internal import APNs
public import APNsClient
internal import APNsServer
internal import Wire

/// A local stand-in for Apple's push servers: HTTP/2 over TLS as they speak it, their rules, their answers, and a
/// list of everything that came in.
///
/// The module `Simulator` plays Apple's part. In a test it takes one line:
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
/// A simulator runs until ``stop()``, also when nothing refers to it any more: its ports, its thread and its file
/// descriptors are only released then.
public actor SimulatedAPNs {
    nonisolated let loop: EventLoop
    /// Part of `Actor`: everything happens on the loop that serves the connections.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let configuration: Configuration
    let clock: WallClock
    private let authority: LocalAuthority
    private(set) var listeners: [APNsListener] = []
    /// The numbers of the connections on all ports.
    private let numbering = ConnectionNumbering()
    private var http: HTTP1Listener?
    private(set) var isStopped = false
    private var ending: Task<Void, Never>?

    var judge: Judge
    var plan: FaultPlan
    /// Clients that are still to be dropped before their handshake.
    var refusals = 0
    /// How far ahead its clock is, in seconds.
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
    /// Pushes by the status of their answers.
    var answers: [Int: Int] = [:]
    /// Pushes over a connection whose answer was not written.
    var unanswered = 0
    var generator: SplitMix64
    var archive: PushArchive?
    /// What the archive has not been told yet.
    var unkept = ArchiveChanges(lastNumber: 0)
    /// Writes what the archive has not been told yet, and is there until a disk that failed is tried again.
    var keeping: Task<Void, Never>?
    /// Why what comes in cannot be kept in the file that was asked for; nil when it can.
    public internal(set) var archiveProblem: SimulatorError?
    /// How many pushes in that file could not be read at the start; they are not shown.
    public internal(set) var unreadablePushes = 0
    var troubleReaders: [AsyncStream<SimulatorError>.Continuation] = []
    var isTellingSoon = false
    var isKeepingToTell = false

    /// The port that answers as APNs.
    public private(set) var port: UInt16 = 0
    /// The port of its own for the management of channels; nil when it was not asked for.
    public private(set) var channelPort: UInt16?
    /// The port of the HTTP interface; nil when it was not asked for.
    public private(set) var inboxPort: UInt16?

    private init(_ configuration: Configuration, clock: WallClock) throws(SimulatorError) {
        self.configuration = configuration
        self.clock = clock
        do {
            // The loop last, as its thread would outlive a failure.
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

    /// Starts a simulator, which listens when this returns.
    ///
    /// - Parameter configuration: Addresses, certificate authority and bounds; by default any free port, an authority
    ///   of its own in memory, and no HTTP interface.
    /// - Returns: The simulator, which runs until ``stop()``.
    /// - Throws: ``SimulatorError`` when an address is taken, or a certificate cannot be made.
    public static func start(_ configuration: Configuration = Configuration()) async throws(SimulatorError)
        -> SimulatedAPNs
    {
        try await start(configuration, clock: .system)
    }

    /// Starts a simulator with a clock of the caller's.
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
            // The listeners keep this object alive, and their ports taken.
            for listener in listeners { listener.close(grace: .zero) {} }
            listeners = []
            let isHost = (error as? WireError)?.kind == .addressNotAvailable
            throw SimulatorError("\(error)", listener: isHost ? .host : listening)
        }
    }

    /// Bytes of an export that are taken in at once.
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
            // Keeps the simulator alive until `stop`, as somebody may still be connected.
            onEvent: { client, event in self.handle(event, from: client, on: kind) }
        )
        listeners.append(listener)
        return listener
    }

    /// Stops listening and lets open requests end within a second; what came in can still be read.
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
        // Only now nothing more comes in.
        inbox.end()
        await finishKeeping()
    }

    deinit {
        http?.stop()
        loop.shutdown()
    }

    // MARK: For clients

    /// Where a client finds this simulator.
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

    /// The certificate that signed the simulator's own, for clients in other languages to trust.
    public nonisolated var authorityPEM: String { authority.certificatePEM }

    /// What points clients at it.
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

    /// Further host names that it goes by.
    nonisolated var names: [String] { configuration.names }

    /// Whether it takes pushes.
    var isReady: Bool { !listeners.isEmpty }
}

/// Why a simulator could not start or do what it was asked.
public struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened, in a sentence without the final stop.
    public let description: String

    /// The settings of a simulator that can make listening fail.
    package enum Listener: Sendable, Hashable {
        /// The address, which is none of this machine's.
        case host
        case pushes
        case channels
        case inbox
    }

    /// The setting because of which the simulator cannot listen; nil for other errors.
    package let listener: Listener?

    init(_ description: String, listener: Listener? = nil) {
        self.description = description
        self.listener = listener
    }
}

internal import APNs
package import APNsClient
internal import APNsServer
package import Outbox
internal import Synchronization
internal import Wire

/// Takes pushes from any client, keeps them until Apple has answered for each, and loses none that it has taken.
///
/// The module `Relay` is the service that a team runs between its back ends and Apple: it holds the connections and the
/// keys, forwards payloads that it need not understand, and writes down how each push ended. It is a server and a
/// client of the same protocol, with an ``OutboxStore`` between them.
///
/// Everything is decided on one event loop, by values that do no I/O: ``DeliveryMachine`` says what is sent when. The
/// outbox and each lane's client have threads of their own.
package actor PushRelay {
    nonisolated let loop: EventLoop
    /// Part of `Actor`: everything happens on the loop that serves the connections.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    var configuration: RelayConfiguration
    let clock: WallClock
    var log: Logger
    let outbox: any OutboxStore
    /// The same outbox, when there may be other relays that use it.
    let shared: (any SharedOutbox)?
    var fleet = FleetView()
    /// Who may call; asked on other threads, too, by requests whose bodies have not come yet.
    nonisolated var callers: Callers {
        get { knownCallers.withLock { $0 } }
        set { knownCallers.withLock { $0 = newValue } }
    }
    private nonisolated let knownCallers: Mutex<Callers>
    let startedAt: Int64

    var machine: DeliveryMachine
    var clients: [Lane: LaneClient] = [:]
    /// The lanes that pushes are taken for; others still send what they were given before.
    var openLanes: Set<Lane> = []
    var listeners: [APNsListener] = []
    private var http: HTTP1Listener?
    var connections: [ObjectIdentifier: RelayConnection] = [:]
    /// The relay's health, for other threads.
    nonisolated let health = HealthBoard()
    /// Pushes that came in during this turn of the loop.
    var incoming = IncomingPushes()
    /// Outcomes that came before the acceptance of their pushes was answered.
    var earlyOutcomes = EarlyOutcomes()
    /// What is taken when too much comes in.
    var gate: LoadGate
    /// Who waits to hear how a push ended.
    var waiters = OutcomeWaiters()
    /// When it is looked who has waited for long enough; nil when nobody waits.
    var waitersAreWatched: MonotonicTime?
    var counts = RelayCounts()
    var notes: [Lane: LaneNotes] = [:]
    var laneControl = LaneControl()
    var rates = RecentRates()
    var reloads: ConfigurationReloads
    var store = StoreHealth()
    /// Lines in the log about callers that were refused.
    var refusals = LogThrottle()
    /// Log lines about unusual provider tokens.
    var unusualTokens = LogThrottle()
    var isCarryingOut = false
    var wakeUp: LoopTimer?
    var isDraining = false
    var events: OutcomeEvents
    var replays = ReplayBudget()
    /// The number of open batches of each caller, by its name.
    var openBatches: [String: Int] = [:]
    var history = StatusHistory()
    var webhooks: [String: WebhookSchedule] = [:]
    /// Log lines about webhooks that failed.
    var webhookFailures = LogThrottle()
    var generator: SplitMix64
    /// Makes spans of pushes; nil when nobody exports them.
    var tracer: PushTracer?
    private var exporter: TelemetryExporter?
    /// Lines in the log about exports that failed.
    var exportTroubles = LogThrottle()
    private var housekeeping: Task<Void, Never>?
    private var drained: [CheckedContinuation<Void, Never>] = []
    private let drainRequests = AsyncStream.makeStream(of: Void.self)

    /// The ports that answer as APNs, by environment.
    package private(set) var ports: [PushEnvironment: UInt16] = [:]
    /// The port of the interface in JSON; nil when it was not asked for.
    package private(set) var httpPort: UInt16?

    private init(
        _ configuration: RelayConfiguration,
        _ outbox: any OutboxStore,
        clock: WallClock,
        log: Logger
    ) throws(RelayError) {
        self.configuration = configuration
        self.outbox = outbox
        shared = outbox as? any SharedOutbox
        self.clock = clock
        events = OutcomeEvents(run: clock.millisecondsSince1970())
        self.log = log
        startedAt = clock.millisecondsSince1970()
        reloads = ConfigurationReloads(startedAt: startedAt)
        knownCallers = Mutex(try Callers(configuration))
        gate = LoadGate(limits: configuration.loadLimits)
        generator = SplitMix64(state: .random(in: .min ... .max))
        machine = DeliveryMachine(
            limits: configuration.limits,
            seed: .random(in: .min ... .max)
        )
        do {
            loop = try EventLoop()
        } catch {
            throw RelayError("\(error)")
        }
    }

    deinit {
        loop.shutdown()
    }

    /// Starts a relay, which listens and delivers when this returns.
    ///
    /// - Parameters:
    ///   - configuration: What it serves.
    ///   - clock: The time of day.
    ///   - log: Where it tells what happens; nowhere by default.
    /// - Returns: The relay, which runs until ``stop(within:)``.
    /// - Throws: ``RelayError``, which names the setting or the file that is wrong.
    package static func start(
        _ configuration: RelayConfiguration,
        clock: WallClock = .system,
        log: Logger = .silent
    ) async throws(RelayError) -> PushRelay {
        try configuration.check()
        let outbox: any OutboxStore
        do throws(OutboxError) {
            switch configuration.data {
            case .file(let path):
                var options = configuration.outbox
                options.retriesOpening = true
                outbox = try await SQLiteOutbox(file: path, options: options)
            case .database(let address):
                let options = PostgreSQLOutbox.Options(
                    limit: configuration.outbox.limit,
                    name: configuration.node,
                    statementTime: configuration.statementTime,
                    retriesOpening: true
                )
                outbox = try await PostgreSQLOutbox(address: address, options: options)
            }
        } catch {
            throw RelayError("\(error)")
        }
        return try await start(configuration, over: outbox, clock: clock, log: log)
    }

    /// Starts a relay over an outbox.
    static func start(
        _ configuration: RelayConfiguration,
        over outbox: any OutboxStore,
        clock: WallClock = .system,
        log: Logger = .silent
    ) async throws(RelayError) -> PushRelay {
        let relay = try PushRelay(configuration, outbox, clock: clock, log: log)
        try await relay.begin()
        return relay
    }

    private func begin() async throws(RelayError) {
        machine.pauseManually(nil)
        open(try freshClients(for: configuration), configuration)
        if let telemetry = configuration.telemetry {
            exporter = try TelemetryExporter(telemetry, for: self, using: &generator)
            if telemetry.traces != nil { tracer = PushTracer(share: telemetry.share) }
        }
        try listen()
        await checkStore()
        await syncLanes()
        carryOutSoon()
        watchPulse()
        watchExpiry()
        followFleet()
        log.info(
            "the relay runs",
            ["version": .string(MartletVersion.current), "apps": .whole(configuration.apps.count)]
        )
        if let exporter { Task { await exporter.start() } }
        housekeeping = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                await self?.keepHouse()
            }
        }
    }

    private func listen() throws(RelayError) {
        let tls = try configuration.serverTLS()
        // The setting of an address that cannot be listened on, for the error.
        var setting = ""
        do {
            for (environment, address) in configuration.listeners {
                let limits = APNsListener.Limits(
                    initialStreams: configuration.streamsPerConnection,
                    bodyBytes: PushRelay.longestBody
                )
                setting = "listen.\(environment.rawValue): "
                let listener = try APNsListener(
                    host: address.host,
                    port: address.port,
                    tls: tls,
                    limits: limits,
                    on: loop
                ) { connection, event in
                    // Keeps the relay alive until `stop`, as somebody may still be connected.
                    self.handle(event, from: connection, for: environment)
                }
                listeners.append(listener)
                ports[environment] = listener.port
                let bound = RelayConfiguration.Address(host: address.host, port: listener.port)
                log.info("listening", ["address": .string("\(bound)"), "for": .string(environment.rawValue)])
            }
            if let address = configuration.http {
                let api = RelayAPI(self)
                var limits = HTTP1Listener.Limits()
                limits.bodyBytes = configuration.longestBody
                // Half of the descriptors are left to callers over HTTP/2, to Apple and to files.
                limits.connections = min(configuration.connections, DescriptorLimit.current / 2)
                setting = "http: "
                http = try HTTP1Listener(
                    host: address.host,
                    port: address.port,
                    limits: limits,
                    admission: { api.admission(of: $0, from: $0.peer) },
                    handler: { await api.answer($0, $1, from: $0.peer) }
                )
                httpPort = http?.port
                let bound = RelayConfiguration.Address(host: address.host, port: httpPort ?? 0)
                log.info("listening", ["address": .string("\(bound)"), "for": "http"])
            }
        } catch {
            for listener in listeners { listener.close(grace: .zero) {} }
            throw RelayError("\(setting)\(error)")
        }
    }

    /// Ends in order: takes no more, lets what is on its way be answered and written down, and closes the outbox.
    ///
    /// - Parameter limit: How long that may take; what is unanswered then is sent again by the next relay.
    package func stop(within limit: Duration = .seconds(20)) async {
        guard !isDraining else { return }
        isDraining = true
        postHealth()
        log.info("the relay comes to its end", ["in-flight": .whole(machine.inFlight)])
        housekeeping?.cancel()
        for listener in listeners { listener.close(grace: limit) {} }
        machine.drain()
        carryOutSoon()
        await untilIdle(within: limit)
        waiters.giveUpAll()
        events.finish()
        // The request that asked for the end may not have its answer yet.
        await http?.stop(within: PushRelay.answerTimeAtEnd)
        http = nil
        for client in clients.values { await client.close() }
        // What was still unanswered has failed with its connection, which is to be written down, too.
        await untilIdle(within: .seconds(1))
        wakeUp?.cancel()
        await outbox.close(isInOrder: machine.isIdle)
        await exporter?.close(within: .seconds(4))
        log.info("the relay has ended", ["unanswered": .whole(machine.inFlight)])
    }

    /// Whoever runs the relay asks for its end over HTTP.
    func askToDrain() {
        log.info("somebody asks for the relay's end")
        drainRequests.continuation.yield()
    }

    /// Returns when somebody has asked over HTTP that the relay end; for one reader.
    package nonisolated func drainIsAskedFor() async {
        for await _ in drainRequests.stream { return }
    }

    /// Waits until everything that was sent is answered and written down.
    private func untilIdle(within limit: Duration) async {
        guard !machine.isIdle else { return }
        let timer = loop.schedule(after: limit) { [weak self] in self?.assumeIsolated { $0.endDraining() } }
        await withCheckedContinuation { drained.append($0) }
        timer.cancel()
    }

    /// Lets ``untilIdle(within:)`` return.
    func endDraining() {
        for continuation in drained { continuation.resume() }
        drained = []
    }

    /// The time in which requests over HTTP have to take their answers when the relay stops.
    private static let answerTimeAtEnd = Duration.seconds(2)

    /// Bytes of a body over HTTP/2, where many come at once.
    private static let longestBody = 256 << 10

    /// Milliseconds since 1970.
    nonisolated var now: Int64 { clock.millisecondsSince1970() }
}

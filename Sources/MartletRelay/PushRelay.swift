package import Martlet
internal import MartletCore
internal import MartletHTTPServer
package import MartletOutbox
internal import MartletServer
internal import MartletTransport
internal import Synchronization

/// A push relay: accepts pushes from any client, stores them and delivers each to Apple without losing any.
///
/// The module `MartletRelay` is the service that a team runs between its back ends and Apple. It holds the connections
/// and the signing keys, forwards payloads without interpreting them, and stores the outcome of each push. It is a
/// server and a client of the APNs protocol, with an ``OutboxStore`` between them.
///
/// All decisions are made on one event loop, by values without I/O: ``DeliveryMachine`` decides which push is sent
/// when. The outbox and the client of each lane have threads of their own.
package actor PushRelay {
    nonisolated let loop: EventLoop
    /// The executor of the actor, required by `Actor`: the event loop that serves the connections.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    var configuration: RelayConfiguration
    let clock: WallClock
    var log: Logger
    let outbox: any OutboxStore
    /// The same outbox, when other relays may use it.
    let shared: (any SharedOutbox)?
    var fleet = FleetView()
    /// The callers, also read on other threads, by requests whose bodies have not arrived yet.
    nonisolated var callers: Callers {
        get { knownCallers.withLock { $0 } }
        set { knownCallers.withLock { $0 = newValue } }
    }
    private nonisolated let knownCallers: Mutex<Callers>
    let startedAt: Int64

    var machine: DeliveryMachine
    var clients: [Lane: LaneClient] = [:]
    /// The lanes that accept pushes; others only send the pushes that are stored for them.
    var openLanes: Set<Lane> = []
    var listeners: [APNsListener] = []
    private var http: HTTP1Listener?
    var connections: [ObjectIdentifier: RelayConnection] = [:]
    /// The relay's health, readable from other threads.
    nonisolated let health = HealthBoard()
    /// Pushes that came in during this turn of the event loop.
    var incoming = IncomingPushes()
    /// Outcomes that arrived before the acceptance of their pushes was answered.
    var earlyOutcomes = EarlyOutcomes()
    /// The decision whether pushes are accepted under load.
    var gate: LoadGate
    /// The callers that wait for the outcome of a push.
    var waiters = OutcomeWaiters()
    /// The time of the next check for waiters whose time is over; nil when none wait.
    var waitersAreWatched: MonotonicTime?
    var counts = RelayCounts()
    var notes: [Lane: LaneNotes] = [:]
    var laneControl = LaneControl()
    var rates = RecentRates()
    var reloads: ConfigurationReloads
    var store = StoreHealth()
    /// The time of the last check for expired keys and certificates, in seconds since 1970.
    var expiryLoggedAt: Int64 = 0
    /// The limit for log lines about clients whose TLS handshake failed.
    var failedHandshakes = LogThrottle()
    /// The limits for log lines about rejected callers, by their cause.
    var refusals: [CallerRefusal.Cause: LogThrottle] = [:]
    /// The limit for log lines about unusual provider tokens.
    var unusualTokens = LogThrottle()
    var isCarryingOut = false
    var wakeUp: LoopTimer?
    var isDraining = false
    var events: OutcomeEvents
    var replays = ReplayBudget()
    /// The number of open batches of each caller, by its name.
    var openBatches: [String: Int] = [:]
    var history = StatusHistory()
    var memoryReturn = MemoryReturn(residentBytes: FreedMemory.residentBytes)
    var webhooks: [String: WebhookSchedule] = [:]
    /// The limits for log lines about webhooks that failed, by the name of the app.
    var webhookFailures: [String: LogThrottle] = [:]
    var generator: SplitMix64
    /// The recorder of spans; nil when none are exported.
    var tracer: PushTracer?
    private var exporter: TelemetryExporter?
    /// The limit for log lines about exports that failed.
    var exportTroubles = LogThrottle()
    private var housekeeping: Task<Void, Never>?
    private var drained: [CheckedContinuation<Void, Never>] = []
    private let drainRequests = AsyncStream.makeStream(of: Void.self)

    /// The ports that serve the APNs protocol, by environment.
    package private(set) var ports: [PushEnvironment: UInt16] = [:]
    /// The port of the JSON API; nil when it is not configured.
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
    ///   - configuration: The configuration.
    ///   - clock: The time of day.
    ///   - log: The logger; by default nothing is logged.
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

    /// Starts a relay with an outbox.
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
        // The setting of the current address, for the error.
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
                    // Keeps the relay alive until `stop(within:)`, because clients may still be connected.
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
                // Half of the descriptors are left for callers over HTTP/2, connections to Apple and files.
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

    /// Shuts down: accepts no more pushes, waits for the results of those in flight, stores them and closes the outbox.
    ///
    /// - Parameter limit: The maximum time. Pushes without an answer by then are sent again after the next start.
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
        // The request that asked for the shutdown may still wait for its answer.
        await http?.stop(within: PushRelay.answerTimeAtEnd)
        http = nil
        for client in clients.values { await client.close() }
        // Pushes that were still in flight have failed with their connections; their results are stored, too.
        await untilIdle(within: .seconds(1))
        wakeUp?.cancel()
        await outbox.close(isInOrder: machine.isIdle)
        await exporter?.close(within: .seconds(4))
        log.info("the relay has ended", ["unanswered": .whole(machine.inFlight)])
    }

    /// Requests a shutdown, on behalf of an operator.
    ///
    /// - Parameter caller: The name of the caller; nil when another relay passes the request on, which logs the caller.
    func askToDrain(by caller: String?) {
        log.info(
            caller == nil ? "drain requested: the audit log of another relay has the caller" : "drain requested",
            ["caller": caller.map { .string($0) }]
        )
        drainRequests.continuation.yield()
    }

    /// Waits until a shutdown is requested; for one reader.
    package nonisolated func drainIsAskedFor() async {
        for await _ in drainRequests.stream { return }
    }

    /// Waits until every sent push is answered and its result is stored.
    private func untilIdle(within limit: Duration) async {
        guard !machine.isIdle else { return }
        let timer = loop.schedule(after: limit) { [weak self] in self?.assumeIsolated { $0.endDraining() } }
        await withCheckedContinuation { drained.append($0) }
        timer.cancel()
    }

    /// Makes ``untilIdle(within:)`` return.
    func endDraining() {
        for continuation in drained { continuation.resume() }
        drained = []
    }

    /// The maximum time for sending the last answers over HTTP when the relay stops.
    private static let answerTimeAtEnd = Duration.seconds(2)

    /// The maximum size of a body over HTTP/2, in bytes; small, because many arrive at once.
    private static let longestBody = 256 << 10

    /// The time in milliseconds since 1970.
    nonisolated var now: Int64 { clock.millisecondsSince1970() }
}

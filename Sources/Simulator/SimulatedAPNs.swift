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
public actor SimulatedAPNs {
    private nonisolated let loop: EventLoop
    /// Part of `Actor`: everything happens on the loop that serves the connections.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let configuration: Configuration
    let clock: WallClock
    private let authority: LocalAuthority
    var judge: Judge
    var plan: FaultPlan
    /// Clients that are still to be dropped before their handshake.
    var refusals = 0
    /// How far ahead its clock is.
    var skew: Int64 = 0
    var log: PushLog
    private var connections: [ObjectIdentifier: Judge.ConnectionState] = [:]
    private var listeners: [APNsListener] = []
    private var inbox: HTTP1Listener?
    private var isStopped = false
    private var readers: [AsyncStream<ReceivedPush>.Continuation] = []
    private var waiting = PushWaiting()
    /// Pushes by the status of their answers.
    private var answers: [Int: Int] = [:]
    private var generator: SplitMix64

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
        log = PushLog(limit: configuration.keptPushes)
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
        try await simulator.listen()
        return simulator
    }

    private func listen() throws(SimulatorError) {
        do {
            let tls =
                configuration.isEncrypted
                ? try TLSContext.server(
                    identity: authority.serverIdentity(names: configuration.names),
                    asksForCertificates: true
                ) : nil
            let listener = try listener(on: configuration.port, tls) { _ in true }
            port = listener.port
            if let channelPort = configuration.channelPort {
                let listener = try self.listener(on: channelPort, tls) { target in
                    switch target {
                    case .channels, .allChannels: true
                    case .device, .broadcast: false
                    }
                }
                self.channelPort = listener.port
            }
            if let inboxPort = configuration.inboxPort {
                let api = InboxAPI(self)
                let inbox = try HTTP1Listener(host: configuration.host, port: inboxPort) { await api.answer($0) }
                self.inbox = inbox
                self.inboxPort = inbox.port
            }
        } catch {
            // The listeners keep this object alive, and their ports taken.
            for listener in listeners { listener.close(grace: .zero) {} }
            listeners = []
            throw SimulatorError("\(error)")
        }
    }

    /// Listens on a port for requests about what it is there for.
    private func listener(
        on port: UInt16,
        _ tls: TLSContext?,
        serves: @escaping (APNsRequest.Target) -> Bool
    ) throws(WireError) -> APNsListener {
        let listener = try APNsListener(
            host: configuration.host,
            port: port,
            tls: tls,
            limits: APNsListener.Limits(initialStreams: configuration.streamsBeforeToken),
            on: loop,
            admits: { self.admits() },
            // Keeps the simulator alive until `stop`, as somebody may still be connected.
            onEvent: { client, event in self.handle(event, from: client, serves: serves) }
        )
        listeners.append(listener)
        return listener
    }

    /// Stops listening and lets open requests end within a second; what came in can still be read.
    public func stop() async {
        for reader in readers { reader.finish() }
        readers = []
        isStopped = true
        waiting.giveUp(nil, among: log.pushes, lastNumber: log.count)
        inbox?.stop()
        inbox = nil
        let listeners = listeners
        self.listeners = []
        for listener in listeners {
            await withCheckedContinuation { continuation in
                listener.close(grace: .seconds(1)) { continuation.resume() }
            }
        }
    }

    deinit {
        inbox?.stop()
        loop.shutdown()
    }

    // MARK: For clients

    /// Where a client finds this simulator.
    public nonisolated var endpoint: APNsEndpoint {
        get async {
            APNsEndpoint(
                host: "localhost",
                port: await port,
                isEncrypted: configuration.isEncrypted,
                channels: await channelPort.map { APNsEndpoint.Address(host: "localhost", port: $0) }
            )
        }
    }

    /// A client configuration that trusts this simulator.
    public nonisolated var clientConfiguration: PushClient.Configuration {
        PushClient.Configuration(additionalAuthorities: authority.certificatePEM)
    }

    /// The certificate that signed the simulator's own, for clients in other languages to trust.
    public nonisolated var authorityPEM: String { authority.certificatePEM }

    // MARK: What came in

    /// What has come in, oldest first, as far back as the simulator remembers.
    public var pushes: [ReceivedPush] { log.pushes }

    /// How many pushes have come in altogether.
    public var pushCount: Int { log.count }

    /// The pushes that come in from now on, one by one, until the simulator stops.
    ///
    /// - Returns: A sequence for one reader. Of pushes that it has not read yet it holds the newest, as many as
    ///   ``Configuration/keptPushes`` says.
    public func arrivals() -> AsyncStream<ReceivedPush> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReceivedPush.self,
            bufferingPolicy: .bufferingNewest(configuration.keptPushes)
        )
        if isStopped { continuation.finish() } else { readers.append(continuation) }
        return stream
    }

    /// Waits until pushes have come in that a query is true of; what has come in before counts.
    ///
    /// - Parameters:
    ///   - query: What is looked for.
    ///   - count: How many of those there have to be.
    ///   - number: Only pushes with higher numbers count; 0, the default, for all that are remembered.
    ///   - timeout: How long to wait.
    /// - Returns: The pushes, oldest first, or what came close to them.
    public func wait(
        for query: PushQuery,
        count: Int = 1,
        after number: Int = 0,
        timeout: Duration = .seconds(10)
    ) async -> WaitResult {
        await withCheckedContinuation { continuation in
            let pushes = log.pushes
            let wish = PushWaiting.Wish(query, since: number, count: max(1, count), among: pushes)
            if let result = wish.fulfilment {
                continuation.resume(returning: result)
                return
            }
            guard !isStopped, timeout > .zero else {
                continuation.resume(returning: wish.shortfall(among: pushes, lastNumber: log.count))
                return
            }
            let id = waiting.add(wish) { continuation.resume(returning: $0) }
            loop.schedule(after: timeout) { [weak self] in
                self?.assumeIsolated { $0.waiting.giveUp(id, among: $0.log.pushes, lastNumber: $0.log.count) }
            }
        }
    }

    /// Forgets what has come in; numbers go on counting.
    public func forgetPushes() {
        log.removeAll()
    }

    /// Whether it takes pushes.
    var isReady: Bool { !listeners.isEmpty }

    /// What was counted, in Prometheus' words.
    var metrics: String {
        let statuses = answers.sorted { $0.key < $1.key }
            .map { "martlet_simulator_pushes_total{status=\"\($0.key)\"} \($0.value)\n" }
        return "# HELP martlet_simulator_pushes_total Pushes by the status of their answers; 0 for none.\n"
            + "# TYPE martlet_simulator_pushes_total counter\n" + statuses.joined()
            + "# HELP martlet_simulator_connections Clients that are connected.\n"
            + "# TYPE martlet_simulator_connections gauge\nmartlet_simulator_connections \(connections.count)\n"
    }

    // MARK: Serving

    private func handle(
        _ event: APNsListener.Event,
        from client: ClientConnection,
        serves: (APNsRequest.Target) -> Bool
    ) {
        let key = ObjectIdentifier(client)
        switch event {
        case .opened:
            var state = Judge.ConnectionState()
            state.certificate = client.certificate
            // Who is known by a certificate need not wait for a first answer.
            state.hasAllStreams = client.certificate != nil
            if state.hasAllStreams { client.allow(concurrentStreams: SimulatedAPNs.streamsAfterToken) }
            connections[key] = state
        case .request(let request, let reply):
            answer(request, reply, from: client, serves: serves)
        case .closed:
            connections[key] = nil
        }
    }

    private func admits() -> Bool {
        guard refusals > 0 else { return true }
        refusals -= 1
        return false
    }

    private func answer(
        _ request: APNsRequest,
        _ reply: APNsReply,
        from client: ClientConnection,
        serves: (APNsRequest.Target) -> Bool
    ) {
        let key = ObjectIdentifier(client)
        var state = connections[key] ?? Judge.ConnectionState()
        let now = clock.secondsSince1970()
        let actions = plan.actions(for: request.facts, at: now)
        for case .skewClock(let duration) in actions {
            skew = min(max(duration.components.seconds, -SimulatedAPNs.longestSkew), SimulatedAPNs.longestSkew)
        }
        var verdict =
            request.target.map(serves) ?? true
            ? judge.verdict(on: request, over: &state, at: now + skew, using: &generator) : .refused(.badPath)
        for case .respond(let reason, let status, let retryAfter) in actions {
            verdict = .injected(reason, status: status, retryAfter: retryAfter, at: now)
        }
        adjustStreams(of: client, &state, after: verdict)
        connections[key] = state
        let (id, response) = response(to: request, verdict)
        switch disturb(client, reply, actions) {
        case nil: verdict.status = 0
        case .zero?: reply.send(response)
        case let delay?: loop.schedule(after: delay) { reply.send(response) }
        }
        switch request.target {
        case .channels, .allChannels: break
        case .device, .broadcast, nil:
            answers[verdict.status, default: 0] += 1
            var push = log.append(
                request,
                answeredWith: verdict,
                id: id,
                isDisturbed: !actions.isEmpty,
                over: client.id,
                at: now
            )
            if verdict.status == 200, push.channel == nil {
                for (number, event) in judge.devices.receive(push, at: now) {
                    log.note(event, on: number)
                    if number == push.number { push.deliveries.append(event) }
                }
            }
            tellReaders(of: push)
        }
    }

    /// Does to the connection what is to go wrong.
    ///
    /// - Returns: How long the answer is to wait; nil when there will be none.
    private func disturb(_ client: ClientConnection, _ reply: APNsReply, _ actions: [Fault.Action]) -> Duration? {
        var delay: Duration? = .zero
        for action in actions {
            switch action {
            case .respond, .throttle, .skewClock: break
            case .delay(let more, _): delay = delay.map { $0 + more }
            case .hang: delay = nil
            case .resetStream(let code):
                reply.reset(HTTP2ErrorCode(rawValue: code))
                delay = nil
            case .goAway(let code, let text, let includesRequest):
                client.goAway(
                    HTTP2ErrorCode(rawValue: code),
                    debugData: Array(text.utf8),
                    lastStreamID: includesRequest ? nil : max(0, reply.streamID - 2)
                )
                if !includesRequest { delay = nil }
            case .close:
                client.close()
                delay = nil
            case .resetConnection:
                client.abort()
                delay = nil
            case .refuseConnections(let count): refusals = min(refusals, 1_000_000) + min(max(0, count), 1_000_000)
            case .limitStreams(let limit): client.allow(concurrentStreams: limit)
            case .limitWindow(let octets): client.allow(octetsPerStream: octets)
            }
        }
        return delay
    }

    /// Gives a client all streams once its token is accepted, and one while its pushes are refused, as APNs does to
    /// slow down senders that do not look at its answers ("Handling notification responses from APNs").
    private func adjustStreams(
        of client: ClientConnection,
        _ state: inout Judge.ConnectionState,
        after verdict: Judge.Verdict
    ) {
        let isMistake = (400..<500).contains(verdict.status) && verdict.status != 410
        if state.hasAllStreams, isMistake, !configuration.leniency.contains(.fullSpeedAfterRefusals) {
            state.hasAllStreams = false
            client.allow(concurrentStreams: configuration.streamsBeforeToken)
        } else if state.isSenderKnown, !state.hasAllStreams, !isMistake {
            state.hasAllStreams = true
            client.allow(concurrentStreams: SimulatedAPNs.streamsAfterToken)
        }
    }

    /// The answer that the verdict stands for, and the identifier in it.
    private func response(to request: APNsRequest, _ verdict: Judge.Verdict) -> (id: String, APNsResponse) {
        var fields: [(name: String, value: String)] = []
        let id: String
        switch request.target {
        case .device, nil:
            id = request.headers.id ?? APNsID.random(using: &generator).description
            fields.append(("apns-id", id))
            if configuration.environment == .development {
                fields.append(("apns-unique-id", APNsID.random(using: &generator).description))
            }
        case .broadcast, .channels, .allChannels:
            id = request.requestID ?? APNsID.random(using: &generator).description
            fields.append(("apns-request-id", id))
            if let channel = verdict.channel { fields.append(("apns-channel-id", channel.rawValue)) }
        }
        if let retryAfter = verdict.retryAfter { fields.append(("retry-after", String(retryAfter))) }
        if skew != 0 { fields.append(("date", HTTPDate.text(secondsSince1970: clock.secondsSince1970() + skew))) }
        let response = APNsResponse(
            status: verdict.status,
            reason: verdict.reason,
            timestamp: verdict.timestamp,
            fields: fields,
            body: verdict.body
        )
        return (id, response)
    }

    private func tellReaders(of push: ReceivedPush) {
        waiting.arrived(push)
        readers.removeAll { reader in
            if case .terminated = reader.yield(push) { true } else { false }
        }
    }

    /// No clock is further off, in seconds: three years.
    private static let longestSkew: Int64 = 100_000_000

    /// Streams that APNs was seen to allow once a token has been accepted.
    private static let streamsAfterToken: UInt32 = 1_000
}

/// Why a simulator could not start or do what it was asked.
public struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened, in a sentence without the final stop.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

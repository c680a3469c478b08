// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletServer
internal import MartletTransport
internal import Synchronization

/// The part of a relay that serves clients: its listeners, their connections, and the callers that they identify as.
actor RelayServer {
    /// The state that the monitor reports.
    struct Snapshot: Sendable {
        var counts: ServerCounts
        /// The number of connections of APNs clients.
        var connections: Int
        var callers: Callers
    }

    /// The maximum time for sending the last answers over HTTP when the relay stops.
    private static let lastAnswersTime = Duration.seconds(2)
    /// The maximum size of a body over HTTP/2, in bytes; small, because many arrive at once.
    static let longestBody = 256 << 10

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private(set) var context: RelayContext
    let intake: Intake
    let dispatcher: Dispatcher
    /// The callers, also read on other threads, by requests whose bodies have not arrived yet.
    nonisolated var callers: Callers { knownCallers.withLock { $0 } }
    private nonisolated let knownCallers: Mutex<Callers>
    private nonisolated let clock: WallClock
    /// The lanes that accept pushes; others only send the pushes that are stored for them.
    private(set) var openLanes: Set<Lane>
    private var listeners: [APNsListener] = []
    private var http: HTTP1Listener?
    /// The JSON API; nil before the start and after the shutdown.
    private(set) var api: RelayAPI?
    /// The ports that serve the APNs protocol, by environment.
    private(set) var ports: [PushEnvironment: UInt16] = [:]
    /// The port of the JSON API; nil when it is not configured.
    private(set) var httpPort: UInt16?
    var connections: [ObjectIdentifier: RelayConnection] = [:]
    var pendingRequests = PendingRequests()
    var counts = ServerCounts()
    private var refusalLog = RefusalLog()
    /// The limits for log lines about failed handshakes and unusual provider tokens.
    private var throttles: [LogEvent: LogThrottle] = [:]
    /// The limits for log lines about listeners that have reached a limit, by event and purpose.
    private var fullListeners: [LogEvent: [String: GrowingThrottle]] = [:]
    private(set) var isDraining = false
    /// The source of identifiers of pushes without one.
    var generator = SplitMix64(state: .random(in: .min ... .max))

    init(_ context: RelayContext, _ callers: Callers, intake: Intake, dispatcher: Dispatcher) {
        loop = context.loop
        clock = context.clock
        self.context = context
        self.intake = intake
        self.dispatcher = dispatcher
        knownCallers = Mutex(callers)
        openLanes = context.configuration.lanes
    }

    var snapshot: Snapshot { Snapshot(counts: counts, connections: connections.count, callers: callers) }

    // MARK: Listeners

    /// Starts to listen on the addresses of the configuration; the error has the setting of one that cannot be used.
    func listen(for api: RelayAPI) async throws(RelayError) {
        self.api = api
        let configuration = context.configuration
        let tls = try configuration.serverTLS()
        // The setting of the current address, for the error.
        var setting = ""
        do {
            for (environment, address) in configuration.listeners {
                setting = "listen.\(environment.rawValue): "
                let name = environment.rawValue
                let listener = try APNsListener(
                    host: address.host,
                    port: address.port,
                    tls: tls,
                    limits: APNsListener.Limits(
                        initialStreams: configuration.streamsPerConnection,
                        bodyBytes: RelayServer.longestBody
                    ),
                    on: loop,
                    onFull: { self.record(.connectionLimitReached, at: name) },
                    onExcess: { self.record(.clientMemoryLimitReached, at: name) },
                    // Keeps the parts alive until the shutdown, because clients may still be connected.
                    onEvent: { connection, event in self.handle(event, from: connection, for: environment) }
                )
                listeners.append(listener)
                ports[environment] = listener.port
                logListener(at: address.host, listener.port, for: environment.rawValue)
            }
            if let address = configuration.http {
                setting = "http: "
                let port = try await listen(at: address, for: api)
                httpPort = port
                logListener(at: address.host, port, for: "http")
            }
        } catch {
            for listener in listeners { listener.close(grace: .zero) {} }
            throw RelayError("\(setting)\(error)")
        }
    }

    /// Starts to listen for requests to the JSON API over HTTP/1.1, and returns the port.
    private func listen(at address: RelayConfiguration.Address, for api: RelayAPI) async throws -> UInt16 {
        var limits = HTTP1Listener.Limits()
        limits.bodyBytes = context.configuration.longestBody
        limits.connections = context.configuration.connectionLimit
        let listener = try await HTTP1Listener(
            host: address.host,
            port: address.port,
            limits: limits,
            admission: { api.admission(of: $0) },
            onFull: { [weak self, loop] in
                loop.execute { [weak self] in self?.assumeIsolated { $0.record(.connectionLimitReached, at: "http") } }
            },
            onExcess: { [weak self, loop] in
                loop.execute { [weak self] in
                    self?.assumeIsolated { $0.record(.clientMemoryLimitReached, at: "http") }
                }
            }
        )
        http = listener
        return listener.port
    }

    private func logListener(at host: String, _ port: UInt16, for name: String) {
        let address = RelayConfiguration.Address(host: host, port: port)
        context.log.info(.listening, ["address": .string("\(address)"), "for": .string(name)])
    }

    /// Accepts no more connections and pushes over the APNs protocol, and limits the time for requests under way.
    func drain(within limit: Duration) {
        isDraining = true
        for listener in listeners { listener.close(grace: limit) {} }
    }

    /// Stops the JSON API, after the answer to the request that asked for the shutdown.
    func close() async {
        await http?.stop(within: RelayServer.lastAnswersTime)
        http = nil
        api = nil
        listeners = []
    }

    /// Uses another configuration; its TLS settings are for connections that are accepted from now on.
    func use(_ context: RelayContext, _ callers: Callers, _ tls: TLSContext?) {
        let authorities = self.context.configuration.clientAuthorities
        self.context = context
        knownCallers.withLock { $0 = callers }
        openLanes = context.configuration.lanes
        counts.forgetCallers(except: Set(callers.appsByCaller.keys))
        if let tls { for listener in listeners { listener.use(tls) } }
        let haveAuthoritiesChanged = authorities != context.configuration.clientAuthorities
        for connection in connections.values {
            connection.forgetCaller(haveAuthoritiesChanged: haveAuthoritiesChanged)
        }
    }

    // MARK: Callers

    /// Returns the caller of a request to the JSON API; called before the body has arrived, without the event loop.
    ///
    /// - Throws: ``CallerRefusal`` when the credentials are not valid, which is logged with the client's address if the
    ///   listener reports it.
    nonisolated func caller(
        _ authorization: String?,
        from peer: String? = nil
    ) throws(CallerRefusal) -> Callers.Caller {
        let callers = callers
        let caller = callers.caller(authorization)
        let reason = caller?.refusal(at: clock.secondsSince1970())
        if let caller, reason == nil { return caller }
        let refusal =
            caller?.refusal(for: reason ?? .expiredProviderToken) ?? callers.refusal(of: authorization)
        loop.execute { [weak self] in self?.assumeIsolated { $0.recordRefusal(refusal, of: peer) } }
        throw refusal
    }

    /// Returns the caller with these credentials; nil when they are not valid.
    nonisolated func currentCaller(_ authorization: String?) -> Callers.Caller? {
        let caller = callers.caller(authorization)
        return caller.flatMap { $0.refusal(at: clock.secondsSince1970()) == nil ? $0 : nil }
    }

    /// Returns the caller of a request over the APNs protocol; nil, and logged, for an unknown one.
    func caller(_ authorization: String?, over connection: RelayConnection) -> Callers.Caller? {
        let callers = callers
        let (caller, isNew) = connection.caller(authorization, among: callers)
        guard isNew else { return caller }
        if let caller {
            connection.client.authenticated()
            recordDeviations(of: caller, over: connection)
        } else {
            let certificate = authorization == nil ? connection.client.certificate : nil
            let refusal =
                certificate == nil
                ? callers.refusal(of: authorization) : CallerRefusal(cause: .unknownCertificate)
            recordRefusal(refusal, of: connection.peer, certificate: certificate)
        }
        return caller
    }

    // MARK: Counts and log lines

    /// Counts an answered request to the JSON API, without waiting for the event loop, which may be stuck.
    ///
    /// The route is the path without identifiers; a request that needs no caller has none.
    nonisolated func recordAnswer(
        _ method: String,
        _ route: String,
        status: Int,
        since start: ContinuousClock.Instant,
        by caller: String?
    ) {
        let time = ContinuousClock.now - start
        loop.execute { [weak self] in
            self?.assumeIsolated { $0.counts.answered(method, route, status: status, time, by: caller) }
        }
    }

    /// Counts and logs a client whose TLS handshake failed, for instance because it does not trust the certificate.
    func recordFailedHandshake(_ error: TransportError, of peer: String) {
        // A probe of a load balancer opens a connection and closes it.
        guard error.kind != .closedByPeer, error.kind != .closedLocally else { return }
        counts.failedHandshakes += 1
        guard let omitted = throttles[.handshakeFailed, default: LogThrottle()].take(at: context.now) else { return }
        context.log.info(
            .handshakeFailed,
            omitted: omitted,
            ["peer": .string(peer), "error": .string("\(error)")]
        )
    }

    /// Logs that a listener has reached a limit.
    private func record(_ event: LogEvent, at listener: String) {
        let throttled = fullListeners[event, default: [:]][listener, default: GrowingThrottle()].take(at: context.now)
        guard throttled != nil else { return }
        context.log.warning(event, ["for": .string(listener)])
    }

    /// Counts and logs a rejected caller; the peer is nil when the listener does not report addresses.
    func recordRefusal(_ refusal: CallerRefusal, of peer: String?, certificate: CertificateFacts? = nil) {
        // A caller that is known is counted under its name.
        if refusal.caller == nil { counts.rejectedCallers += 1 }
        guard let omitted = refusalLog.take(refusal.cause, at: context.now) else { return }
        // The client chose these texts, and may have put a secret in the wrong place.
        func shown(_ text: String?, separators: String = ".") -> JSONValue? {
            text.map { .string(ShownValue.text($0, separators: separators).bounded) }
        }
        context.log.warning(
            .callerRejected,
            omitted: omitted,
            [
                "cause": .string(refusal.cause.rawValue), "peer": .string(peer ?? "http"),
                "error": refusal.error.map { .string($0.description.bounded) },
                "caller": refusal.caller.map { .string($0.bounded) }, "key-id": shown(refusal.keyID),
                "team-id": shown(refusal.teamID), "bundle-id": shown(refusal.bundle),
                "certificate-sha256": certificate.map { .string($0.fingerprint) },
                "certificate-subject": shown(certificate?.subject, separators: " ,+=:./"),
            ]
        )
    }

    /// Logs the numbers of rejected callers that no later line has reported within half a minute.
    func logOmittedRefusals(at now: Int64) {
        for (cause, count) in refusalLog.takeOmitted(at: now) {
            context.log.warning(.callerRejected, omitted: count, ["cause": .string(cause.rawValue)])
        }
    }

    /// Counts and logs a provider token of a form that Apple's documentation does not describe.
    private func recordDeviations(of caller: Callers.Caller, over connection: RelayConnection) {
        guard !caller.deviations.isEmpty, connection.isFirstUnusualToken() else { return }
        counts.unusualToken(caller.deviations)
        let throttled = throttles[.unusualProviderToken, default: LogThrottle()].take(at: context.now)
        guard let omitted = throttled else { return }
        context.log.info(
            .unusualProviderToken,
            omitted: omitted,
            [
                "peer": .string(connection.peer), "caller": .string(caller.name),
                "deviations": .string(caller.deviations.map(\.description).joined(separator: "; ")),
            ]
        )
    }
}

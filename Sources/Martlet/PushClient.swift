// SPDX-License-Identifier: Apache-2.0

@_exported public import MartletCore
package import MartletTransport
internal import Synchronization

/// A client that sends pushes through the Apple Push Notification service.
///
/// The client opens a connection on its first send, keeps it open for hours or days as Apple requires, and shares it
/// among all callers: create one per team and environment and use it from any task.
///
/// ```swift
/// let key = try SigningKey(file: "AuthKey_ABC123DEFG.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
/// let client = try PushClient(.production, authentication: .token(key))
/// let alert = PushNotification.Alert(title: "Order ready", body: "Tap to open the order.")
/// let receipt = try await client.send(.alert(alert, sound: .default, badge: 3), to: token, topic: "com.example.app")
/// ```
///
/// The module `Martlet` implements the provider's side of the protocol: provider tokens, connections and requests.
/// It re-exports `MartletCore`, the module with the notification types.
public final class PushClient: Sendable {
    let configuration: Configuration
    /// The threads of the client, which others may share; they run at least as long as the client exists.
    private let eventLoops: PushEventLoops
    private let taskExecutor: LoopTaskExecutor
    /// The connection pools, one for each loop.
    let pools: [PushPool]
    /// The pool for channel management; nil when it uses the same host and port as pushes.
    private let ownChannelPool: PushPool?
    private let tokenSource: (any ProviderTokenSource)?
    private let feed = EventFeed<ClientEvent>()
    private let isClosed = Atomic(false)
    /// The number of pushes so far, which selects the loop of the next push.
    private let turn = Atomic<UInt>(0)
    let requests: RequestWriter
    let channelRequests: RequestWriter
    let identifiers = APNsIDGenerator()
    let clock: WallClock
    let timestamps: ActivityTimestampSource
    let renderer: SnapshotRenderer

    /// Creates a client, which connects when the first push is sent.
    ///
    /// - Parameters:
    ///   - endpoint: The server: APNs, a relay or a simulator.
    ///   - authentication: The credentials.
    ///   - configuration: The security settings, limits and checks.
    /// - Throws: ``APNsError`` with the code `badCredentials` when a certificate, key or authority cannot be used, or
    ///   `system` when no descriptors or threads are available.
    public convenience init(
        _ endpoint: APNsEndpoint = .production,
        authentication: Authentication,
        configuration: Configuration = Configuration()
    ) throws(APNsError) {
        try self.init(endpoint, authentication: authentication, configuration: configuration, clock: .system)
    }

    /// Creates a client with the caller's clocks.
    package init(
        _ endpoint: APNsEndpoint,
        authentication: Authentication,
        configuration: Configuration,
        clock: WallClock,
        loopClock: ManualClock? = nil
    ) throws(APNsError) {
        self.configuration = configuration
        self.clock = clock
        timestamps = ActivityTimestampSource(clock: clock)
        renderer = SnapshotRenderer(timestamps, clock: clock, timeout: configuration.sendTimeout)
        tokenSource = authentication.tokenSource(clock: clock)
        do throws(TransportError) {
            let tls =
                endpoint.isEncrypted
                ? try TLSContext.client(
                    authorities: configuration.additionalAuthorities,
                    identity: authentication.identity,
                    isTLS13Required: configuration.minimumTLSVersion == .tls13
                ) : nil
            if let shared = configuration.sharedEventLoops {
                eventLoops = shared
            } else {
                eventLoops = try PushEventLoops(configuration.eventLoops, clock: loopClock)
            }
            let loops = eventLoops.take(configuration.eventLoops)
            taskExecutor = LoopTaskExecutor(loops[0])
            let share = configuration.share(ofLoops: loops.count)
            let makePool = { [tokenSource, feed] (endpoint: APNsEndpoint, loop: EventLoop) in
                PushPool(
                    to: HTTP2Connection.Endpoint(
                        host: endpoint.host,
                        port: endpoint.port,
                        tls: tls,
                        proxy: configuration.proxy?.wire
                    ),
                    tokenSource: tokenSource,
                    events: feed,
                    telemetry: ClientTelemetry(host: endpoint.host, configuration),
                    configuration: share,
                    clock: clock,
                    on: loop
                )
            }
            pools = loops.map { makePool(endpoint, $0) }
            ownChannelPool = endpoint.channels.map { _ in makePool(endpoint.channelEndpoint, loops[0]) }
        } catch {
            throw APNsError(error)
        }
        requests = RequestWriter(for: endpoint)
        channelRequests = RequestWriter(for: endpoint.channelEndpoint)
    }

    deinit {
        for pool in allPools { pool.closeImmediately() }
        feed.finish()
    }

    private var allPools: [PushPool] { pools + (ownChannelPool.map { [$0] } ?? []) }

    /// The pool that sends channel management requests.
    var channelPool: PushPool { ownChannelPool ?? pool }

    /// The next pool, round-robin.
    var pool: PushPool {
        guard pools.count > 1 else { return pools[0] }
        return pools[Int(turn.wrappingAdd(1, ordering: .relaxed).newValue % UInt(pools.count))]
    }

    /// An executor on the thread of the connections (the first, if there are several), for tasks that mainly send.
    ///
    /// A task that prefers it, as in `Task(executorPreference: client.executor) { … }`, spends no time on switching
    /// threads. It must not block, because it would block the connections of all clients of the event loop.
    public var executor: any TaskExecutor { taskExecutor }

    /// Sends a notification to one device and waits for the response of APNs.
    ///
    /// Cancelling the task cancels the push: a waiting push is not sent, and the stream of a push in flight is reset,
    /// in which case APNs may still deliver it.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - token: The device.
    ///   - topic: The app's bundle identifier; the suffix that the push type needs is added when it is missing.
    ///   - options: The differences from the configuration for this push.
    /// - Returns: The receipt of an accepted push. Accepted means that APNs will try to deliver it, not that it has.
    /// - Throws: ``APNsError``, whose ``APNsError/outcome`` states whether APNs rejected the push, it was never sent,
    ///   or the outcome is unknown.
    @discardableResult
    public func send(
        _ notification: PushNotification,
        to token: DeviceToken,
        topic: Topic,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        try await pool.send(push(notification, to: token, topic: topic, options: options)).receipt
    }

    /// Creates a push to one device, which is not sent before `delay` has passed.
    func push(
        _ notification: PushNotification,
        to token: DeviceToken,
        topic: Topic,
        options: SendOptions,
        after delay: Duration = .zero
    ) throws(APNsError) -> PendingPush {
        let id = notification.id ?? identifiers.next()
        let body = try encode(notification, topic: topic, id: id)
        let draft = draft(of: notification, body: body, topic: topic, options: options, after: delay)
        return PendingPush(draft, id: id, to: token)
    }

    /// Opens connections before the first push, so that it does not wait for name resolution and handshakes.
    ///
    /// - Parameter connections: The number of connections to open, and to keep open even when idle; at most
    ///   ``Configuration/connectionLimit``, or the limit set with ``limitConnections(to:)``.
    /// - Throws: ``APNsError`` when a connection cannot be opened.
    public func warmUp(connections: Int = 1) async throws(APNsError) {
        let results = await withTaskGroup { group in
            let share = (min(max(0, connections), 1_000) + pools.count - 1) / pools.count
            for pool in pools { group.addTask { await pool.warmUp(connections: share) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for result in results { try result.get() }
    }

    /// Changes the maximum number of connections, which is initially ``Configuration/connectionLimit``.
    ///
    /// Connections beyond the limit are closed when their pushes in flight have ended; connections for channel
    /// management are not affected.
    ///
    /// - Parameter limit: The maximum number of connections; each event loop has at least one.
    public func limitConnections(to limit: Int) {
        for pool in pools { pool.limitConnections(to: max(1, limit / pools.count)) }
    }

    /// Returns the client's events other than responses, from now on until it is closed, for logs.
    ///
    /// - Returns: A sequence for one reader, which buffers the newest 1,000 unread events.
    public func events() -> AsyncStream<ClientEvent> {
        feed.listen(buffering: .bufferingNewest(1_000)) { $0 }
    }

    /// The client's counters since its creation.
    public var counters: ClientCounters {
        get async {
            var sum = ClientCounters()
            for pool in allPools { sum = sum + (await pool.counters) }
            return sum
        }
    }

    /// Signs with another key of the same team from now on, without interrupting pushes.
    ///
    /// Pushes in flight complete on their connections. Later ones use new connections, because APNs ties a connection
    /// to its key and rejects tokens that change too often. When several clients share a source of tokens, call this on
    /// each of them.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the key belongs to another team, or this client was
    ///   created with a certificate or with a source of tokens other than a ``LocalProviderTokenSource``; with the code
    ///   `closed` after ``close(within:)``, in which case a source that other clients share keeps its key.
    public func replaceKey(with key: SigningKey) async throws(APNsError) {
        guard !isClosed.load(ordering: .acquiring) else {
            throw APNsError(.closed, description: "the key cannot be replaced, as the client is closed")
        }
        guard let source = tokenSource as? LocalProviderTokenSource else {
            throw APNsError(
                .badCredentials,
                description: "the key cannot be replaced, as this client signs no provider tokens itself"
            )
        }
        try source.replaceKey(with: key)
        for pool in allPools { await pool.replaceKey() }
    }

    /// Replaces a provider token that APNs rejects, and the connections on which it was sent.
    ///
    /// A token that is younger than 20 minutes is kept, because APNs would reject another one so soon.
    package func renewToken() async {
        let now = clock.secondsSince1970()
        guard let tokenSource, let issuedAt = await condition.tokenIssuedAt,
            ProviderTokenMachine.isReplaceable(tokenIssuedAt: issuedAt.secondsSince1970, at: now)
        else { return }
        await tokenSource.expired(tokenIssuedAt: issuedAt)
        for pool in allPools { await pool.replaceToken() }
    }

    /// Finishes the submitted pushes, closes the connections, and accepts no more pushes.
    ///
    /// It does not end earlier when the task is cancelled.
    ///
    /// - Parameter limit: The timeout; pushes that are unanswered by then fail with the code `closed`.
    public func close(within limit: Duration = .seconds(5)) async {
        isClosed.store(true, ordering: .releasing)
        await withDiscardingTaskGroup { group in
            for pool in allPools { group.addTask { await pool.close(within: limit) } }
        }
        feed.finish()
    }

    /// Returns the encoded payload; throws when the notification cannot be encoded or violates a rule.
    func encode(_ notification: PushNotification, topic: Topic, id: APNsID?) throws(APNsError) -> [UInt8] {
        let body = try writing(for: id, notification.payload.encoded)
        if configuration.checksBeforeSending,
            let finding = PushLint.firstError(in: notification, topic: topic, payloadByteCount: body.count)
        {
            throw APNsError(finding, id: id)
        }
        return body
    }

    /// Returns the common parts of a notification's pushes.
    func draft(
        of notification: PushNotification,
        body: [UInt8],
        topic: Topic,
        options: SendOptions,
        after delay: Duration = .zero
    ) -> PushDraft {
        PushDraft(
            requests.template(for: notification, topic: topic),
            body: body,
            limits: limits(of: options, isUrgent: notification.priority ?? .immediate == .immediate, after: delay)
        )
    }

    func limits(
        of options: SendOptions,
        isUrgent: Bool,
        after delay: Duration = .zero,
        startTimeout: Duration? = nil
    ) -> SendLimits {
        SendLimits(
            retry: configuration.allowsRetries ? options.retry ?? configuration.retry : .none,
            isUrgent: isUrgent,
            timeout: options.timeout ?? configuration.sendTimeout,
            delay: delay,
            startTimeout: startTimeout
        )
    }

    /// Sends a broadcast, but not before `delay` has passed.
    func send(
        _ broadcast: LiveActivityBroadcast,
        id: APNsID,
        options: SendOptions,
        after delay: Duration
    ) async throws(APNsError) -> AcceptedResponse {
        if configuration.checksBeforeSending, let finding = PushLint.firstError(in: broadcast) {
            throw APNsError(finding, id: id)
        }
        let fields = requests.broadcast(broadcast, id: id)
        let limits = limits(of: options, isUrgent: broadcast.priority == .immediate, after: delay)
        return try await pool.send(PendingPush(PushDraft(fields, body: broadcast.payload, limits: limits), id: id))
    }

    func send(
        _ request: Channels.Request,
        of app: Topic,
        options: SendOptions
    ) async throws(APNsError) -> AcceptedResponse {
        let id = identifiers.next()
        let body = request.body
        let fields = channelRequests.request(to: request.target(of: app), id: id, hasBody: !body.isEmpty)
        let draft = PushDraft(fields, body: body, limits: limits(of: options, isUrgent: false))
        return try await channelPool.send(PendingPush(draft, id: id))
    }
}

@_exported public import APNs
internal import Synchronization
package import Wire

/// Sends pushes through the Apple Push Notification service.
///
/// The client opens a connection on its first send, keeps it for hours or days as Apple asks, and shares it among
/// all callers: make one per team and environment and use it from anywhere.
///
/// ```swift
/// let key = try SigningKey(file: "AuthKey_ABC123DEFG.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
/// let client = try PushClient(.production, authentication: .token(key))
/// let alert = Alert(title: "Order ready", body: "Tap to open the order.")
/// let receipt = try await client.send(.alert(alert, sound: .default, badge: 3), to: token, topic: "com.example.app")
/// ```
///
/// The module `APNsClient` is the sending half of the protocol: provider tokens, connections and the requests on
/// them. It re-exports `APNs`, the words that notifications are written in.
public final class PushClient: Sendable {
    let configuration: Configuration
    private let loops: [EventLoop]
    private let taskExecutor: LoopTaskExecutor
    /// One for each loop.
    let pools: [PushPool]
    /// The connections to where channels are managed; nil when that is the same place.
    private let ownChannelPool: PushPool?
    private let mint: (any ProviderTokenMint)?
    private let feed = EventFeed()
    private let isClosed = Atomic(false)
    /// Counts pushes, to give each loop its share.
    private let turn = Atomic<UInt>(0)
    let requests: RequestWriter
    let channelRequests: RequestWriter
    let identifiers = APNsIDGenerator()
    let clock: WallClock
    let activityTimestamps = Mutex(ActivityTimestamps())

    /// A client at rest; it connects when the first push is sent.
    ///
    /// - Parameters:
    ///   - endpoint: Which APNs, or stand-in for it, to talk to.
    ///   - authentication: How to prove who sends.
    ///   - configuration: Trust, bounds and checks.
    /// - Throws: ``APNsError`` with the code `badCredentials` when a certificate, key or authority cannot be used, or
    ///   `system` when the process has no descriptors or threads left.
    public convenience init(
        _ endpoint: APNsEndpoint = .production,
        authentication: Authentication,
        configuration: Configuration = Configuration()
    ) throws(APNsError) {
        try self.init(endpoint, authentication: authentication, configuration: configuration, clock: .system)
    }

    /// A client with clocks of the caller's.
    package init(
        _ endpoint: APNsEndpoint,
        authentication: Authentication,
        configuration: Configuration,
        clock: WallClock,
        loopClock: ManualClock? = nil
    ) throws(APNsError) {
        self.configuration = configuration
        self.clock = clock
        mint = authentication.mint(clock: clock)
        do throws(WireError) {
            let tls =
                endpoint.isEncrypted
                ? try TLSContext.client(
                    authorities: configuration.additionalAuthorities,
                    identity: authentication.identity,
                    isTLS13Required: configuration.minimumTLSVersion == .tls13
                ) : nil
            var loops: [EventLoop] = []
            do throws(WireError) {
                for _ in 0..<max(1, configuration.eventLoops) { loops.append(try EventLoop(clock: loopClock)) }
            } catch {
                for loop in loops { loop.shutdown() }
                throw error
            }
            self.loops = loops
            taskExecutor = LoopTaskExecutor(loops[0])
            let share = configuration.share(ofLoops: loops.count)
            let makePool = { [mint, feed] (endpoint: APNsEndpoint, loop: EventLoop) in
                PushPool(
                    to: HTTP2Connection.Endpoint(
                        host: endpoint.host,
                        port: endpoint.port,
                        tls: tls,
                        proxy: configuration.proxy?.wire
                    ),
                    mint: mint,
                    events: feed,
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
        for pool in allPools { pool.cut() }
        for loop in loops { loop.shutdown() }
        feed.finish()
    }

    private var allPools: [PushPool] { pools + (ownChannelPool.map { [$0] } ?? []) }

    /// Who sends requests about channels.
    var channelPool: PushPool { ownChannelPool ?? pool }

    /// Whose turn it is to send.
    var pool: PushPool {
        guard pools.count > 1 else { return pools[0] }
        return pools[Int(turn.wrappingAdd(1, ordering: .relaxed).newValue % UInt(pools.count))]
    }

    /// The thread that the connections live on (the first, if there are several), for tasks that do little else than
    /// send.
    ///
    /// A task that prefers it, as in `Task(executorPreference: client.executor) { … }`, spends no time on changing
    /// threads. It must not block: everything else of the client waits meanwhile.
    public var executor: any TaskExecutor { taskExecutor }

    /// Sends a notification to one device and waits for the answer of APNs.
    ///
    /// Cancelling the task takes the push back: from the queue without a trace, from the wire by resetting its
    /// stream, which APNs may or may not heed.
    ///
    /// - Parameters:
    ///   - notification: What to send.
    ///   - token: The device it is for.
    ///   - topic: The app's bundle identifier; the suffix that the push type needs is added when it is missing.
    ///   - options: What is to be different from the configuration for this push.
    /// - Returns: The receipt of an accepted push. Accepted means that APNs will try to deliver it, not that it has.
    /// - Throws: ``APNsError``, which tells whether APNs refused the push, it was never sent, or nobody knows.
    @discardableResult
    public func send(
        _ notification: PushNotification,
        to token: DeviceToken,
        topic: Topic,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        try await pool.send(push(notification, to: token, topic: topic, options: options)).receipt
    }

    /// A push to one device, which is not sent before `delay` is over.
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

    /// Opens connections before the first push needs one, so that it need not wait for names and handshakes.
    ///
    /// - Parameter connections: How many to open, and to keep however little is sent; at most
    ///   ``Configuration/connectionLimit``, or what ``limitConnections(to:)`` has set.
    /// - Throws: ``APNsError`` when a connection cannot be opened.
    public func warmUp(connections: Int = 1) async throws(APNsError) {
        let results = await withTaskGroup { group in
            let share = (min(max(0, connections), 1_000) + pools.count - 1) / pools.count
            for pool in pools { group.addTask { await pool.warmUp(connections: share) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for result in results { try result.get() }
    }

    /// Sends over no more connections than these from now on, whatever ``Configuration/connectionLimit`` was.
    ///
    /// What is in flight on a connection beyond them ends there, and then it is closed; those for channels stay.
    ///
    /// - Parameter limit: How many at once; each event loop has one at least.
    public func limitConnections(to limit: Int) {
        for pool in pools { pool.limitConnections(to: max(1, limit / pools.count)) }
    }

    /// What happens to the client besides its answers, from now on until it is closed, for logs.
    ///
    /// - Returns: A sequence for one reader. Of events that it has not read yet it holds the newest 1 000.
    public func events() -> AsyncStream<ClientEvent> {
        feed.listen()
    }

    /// What the client has counted since it was made.
    public var counters: ClientCounters {
        get async {
            var sum = ClientCounters()
            for pool in allPools { sum = sum + (await pool.counters) }
            return sum
        }
    }

    /// Signs with another key of the same team from now on, without interrupting anything.
    ///
    /// What is in flight ends on the connections that it is on; what follows goes over fresh ones, since APNs ties a
    /// connection to its key and refuses tokens that change too often. Of several clients that share a mint each has to
    /// be told.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the key is another team's, or this client was made
    ///   with a certificate or with a mint of the caller's other than an ``InMemoryMint``; with the code `closed` after
    ///   ``close(within:)``, and then a mint that other clients share keeps its key.
    public func replaceKey(with key: SigningKey) async throws(APNsError) {
        guard !isClosed.load(ordering: .acquiring) else {
            throw APNsError(.closed, description: "the key cannot be replaced, as the client is closed")
        }
        guard let mint = mint as? InMemoryMint else {
            throw APNsError(.badCredentials, description: "this client does not sign with a key that it could replace")
        }
        try mint.replaceKey(with: key)
        for pool in allPools { await pool.replaceToken() }
    }

    /// Replaces a provider token that APNs refuses, and the connections that it was sent over.
    ///
    /// A token that is younger than 20 minutes is kept, since another one so soon would be refused for that.
    package func renewToken() async {
        guard let mint, let issuedAt = await condition.tokenIssuedAt,
            clock.secondsSince1970() - issuedAt.secondsSince1970 >= ProviderTokenSchedule.minimumAge
        else { return }
        await mint.expired(tokenIssuedAt: issuedAt)
        for pool in allPools { await pool.replaceToken() }
    }

    /// Finishes the pushes that were handed in, closes the connection, and takes no more.
    ///
    /// - Parameter limit: How long that may take; whatever is unanswered then fails with the code `closed`.
    public func close(within limit: Duration = .seconds(5)) async {
        isClosed.store(true, ordering: .releasing)
        await withDiscardingTaskGroup { group in
            for pool in allPools { group.addTask { await pool.close(within: limit) } }
        }
        feed.finish()
    }

    /// The payload's bytes, or what makes it not worth sending.
    func encode(_ notification: PushNotification, topic: Topic, id: APNsID?) throws(APNsError) -> [UInt8] {
        let body = try writing(for: id, notification.payload.encoded)
        if configuration.checksBeforeSending,
            let finding = Lint.firstError(in: notification, topic: topic, payloadByteCount: body.count)
        {
            throw APNsError(finding, id: id)
        }
        return body
    }

    /// What the pushes of a notification have in common.
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

    func limits(of options: SendOptions, isUrgent: Bool, after delay: Duration = .zero) -> SendLimits {
        SendLimits(
            retry: configuration.allowsRetries ? options.retry ?? configuration.retry : .none,
            isUrgent: isUrgent,
            timeout: options.timeout ?? configuration.sendTimeout,
            delay: delay
        )
    }

    /// Sends a broadcast, but not before `delay` is over.
    func send(
        _ broadcast: Broadcast,
        id: APNsID,
        options: SendOptions,
        after delay: Duration
    ) async throws(APNsError) -> Acceptance {
        if configuration.checksBeforeSending, let finding = Lint.firstError(in: broadcast) {
            throw APNsError(finding, id: id)
        }
        let fields = requests.broadcast(broadcast, id: id)
        let limits = limits(of: options, isUrgent: broadcast.priority == .immediate, after: delay)
        return try await pool.send(PendingPush(PushDraft(fields, body: broadcast.payload, limits: limits), id: id))
    }

    /// Sends a request about channels.
    func send(
        _ request: ChannelRequest,
        options: SendOptions
    ) async throws(APNsError) -> Acceptance {
        let id = identifiers.next()
        let fields = channelRequests.channel(request, id: id)
        let limits = limits(of: options, isUrgent: false)
        let draft = PushDraft(fields, body: request.body, limits: limits)
        return try await channelPool.send(PendingPush(draft, id: id))
    }

    /// What `body` writes, or what keeps it from being written, as a client's error.
    func writing<Value>(
        for id: APNsID? = nil,
        _ body: () throws(PayloadError) -> Value
    ) throws(APNsError) -> Value {
        do throws(PayloadError) {
            return try body()
        } catch {
            throw APNsError(.invalid, id: id, description: "the payload cannot be encoded: \(error)")
        }
    }
}

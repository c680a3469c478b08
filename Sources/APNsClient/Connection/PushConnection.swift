internal import APNs
internal import Synchronization
internal import Wire

/// Carries out what ``ConnectionMachine`` decides: one connection to APNs and the pushes that wait for it or are on it.
actor PushConnection {
    private typealias Machine = ConnectionMachine<PendingPush>

    /// What a server may send back; answers are tiny.
    private static let limits = HTTP2Limits(concurrentStreams: 0, bodyBytes: 64 * 1024, fieldBytes: 16 * 1024)

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    /// Pushes from other threads, which come over together.
    private nonisolated let mailbox = Mutex<[PendingPush]>([])

    private let endpoint: HTTP2Connection.Endpoint
    private let tokens: ProviderTokenSource?
    private let configuration: PushClient.Configuration
    private var machine: Machine
    private var connection: HTTP2Connection?
    private var inFlight: [PendingPush] = []
    private var authorization: ProviderTokenSource.Authorization?
    private var authorizationEnd = MonotonicTime.zero
    private var deadlineTimer: LoopTimer?
    private var closers: [CheckedContinuation<Void, Never>] = []

    init(
        to endpoint: HTTP2Connection.Endpoint,
        tokens: ProviderTokenSource?,
        configuration: PushClient.Configuration,
        on loop: EventLoop
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.tokens = tokens
        self.configuration = configuration
        machine = Machine(startsWithOneStream: tokens != nil, waitingLimit: configuration.waitingLimit)
    }

    // MARK: From any thread

    /// Sends the push and waits for its end.
    nonisolated func send(_ push: PendingPush) async throws(APNsError) -> PushReceipt {
        let result = await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                unsafe push.wait(with: continuation)
                submit(push)
            }
        } onCancel: {
            loop.execute { self.assumeIsolated { $0.cancel(push) } }
        }
        return try result.get()
    }

    private nonisolated func submit(_ push: PendingPush) {
        if loop.isCurrent {
            assumeIsolated { $0.accept(push) }
            return
        }
        let isFirst = mailbox.withLock { mailbox in
            mailbox.append(push)
            return mailbox.count == 1
        }
        if isFirst { loop.execute { self.assumeIsolated { $0.emptyMailbox() } } }
    }

    /// Ends everything now.
    nonisolated func cut() {
        loop.execute { self.assumeIsolated { $0.giveUp() } }
    }

    // MARK: Pushes

    private func emptyMailbox() {
        let pushes = mailbox.withLock { mailbox in
            defer { mailbox = [] }
            return mailbox
        }
        for push in pushes { accept(push) }
    }

    private func accept(_ push: PendingPush) {
        guard !push.isSettled else { return }
        push.deadline = loop.now.advanced(by: configuration.sendTimeout)
        switch machine.submitted(push) {
        case .open(let push):
            open(push)
        case .connect:
            connect()
        case .wait:
            break
        case .refuseOverload(let push):
            push.fail(.overloaded, "\(configuration.waitingLimit) sends wait already: send slower")
        case .refuseClosed(let push):
            push.fail(.closed, "the client is closed")
        }
        if deadlineTimer == nil { watchDeadlines(from: push.deadline) }
    }

    private func openWaiting() {
        while let push = machine.nextToOpen() {
            if push.isSettled {
                machine.abandoned()
            } else {
                open(push)
            }
        }
    }

    /// Puts a push onto the connection.
    private func open(_ push: PendingPush) {
        do throws(APNsError) {
            if tokens != nil {
                let authorization = try currentAuthorization()
                push.fields.append("authorization", authorization.value[...])
                push.tokenIssuedAt = authorization.issuedAt
            }
            push.place = inFlight.count
            inFlight.append(push)
            try stream(push)
        } catch {
            machine.abandoned()
            push.settle(.failure(error))
        }
    }

    private func stream(_ push: PendingPush) throws(APNsError) {
        do throws(WireError) {
            push.stream = try connection?.send(push.fields, body: push.body) { stream, outcome in
                self.ended(push, stream, outcome)
            }
        } catch {
            removeFromFlight(push)
            throw APNsError(error, id: push.id)
        }
    }

    /// The provider token, asked for again only when it may have to be replaced.
    private func currentAuthorization() throws(APNsError) -> ProviderTokenSource.Authorization {
        if let authorization, loop.now < authorizationEnd { return authorization }
        guard let tokens else { throw APNsError(.badCredentials, description: "there is no signing key") }
        let fresh = try tokens.authorization()
        authorization = fresh
        authorizationEnd = loop.now.advanced(by: fresh.validity)
        return fresh
    }

    private func ended(_ push: PendingPush, _ stream: HTTP2Stream, _ outcome: StreamOutcome) {
        removeFromFlight(push)
        push.stream = nil
        switch outcome {
        case .answered:
            machine.answered()
            let result = APNsAnswer.result(of: stream, for: push.id)
            if case .failure(let error) = result, error.reason == .expiredProviderToken, let issued = push.tokenIssuedAt
            {
                tokens?.expired(tokenIssuedAt: issued)
                authorization = nil
            }
            push.settle(result)
        case .broken(let failure):
            machine.abandoned()
            push.settle(
                .failure(APNsError(failure.cause, id: push.id, mayHaveBeenProcessed: !failure.isUnprocessed))
            )
        }
        openWaiting()
        finishIfClosed()
    }

    private func removeFromFlight(_ push: PendingPush) {
        guard push.place < inFlight.count, inFlight[push.place] === push else { return }
        let last = inFlight.removeLast()
        guard last !== push else { return }
        inFlight[push.place] = last
        last.place = push.place
    }

    private func cancel(_ push: PendingPush) {
        push.fail(
            .cancelled,
            "the task was cancelled",
            mayHaveBeenProcessed: push.stream != nil
        )
        if let stream = push.stream { connection?.cancel(stream) }
    }

    // MARK: Time

    private func watchDeadlines(from earliest: MonotonicTime) {
        deadlineTimer = loop.schedule(after: earliest.duration(since: loop.now)) { [weak self] in
            self?.assumeIsolated { $0.failOverdue() }
        }
    }

    private func failOverdue() {
        deadlineTimer = nil
        var earliest: MonotonicTime?
        for push in inFlight + machine.waitingRequests where !push.isSettled {
            guard push.deadline <= loop.now else {
                earliest = min(earliest ?? push.deadline, push.deadline)
                continue
            }
            let wasSent = push.stream != nil
            push.fail(
                .timedOut,
                "no answer within \(configuration.sendTimeout)" + (wasSent ? "" : ": it was never sent"),
                mayHaveBeenProcessed: wasSent
            )
            if let stream = push.stream { connection?.cancel(stream) }
        }
        if let earliest { watchDeadlines(from: earliest) }
    }

    // MARK: The connection

    private func connect() {
        do throws(WireError) {
            let connection = try HTTP2Connection(
                to: endpoint,
                limits: PushConnection.limits,
                timeout: configuration.connectTimeout,
                on: loop
            )
            self.connection = connection
            connection.start { event in self.handle(event, of: connection) }
        } catch {
            fail(machine.connectFailed(), error)
        }
    }

    private func handle(_ event: HTTP2Connection.Event, of connection: HTTP2Connection) {
        switch event {
        case .ready:
            machine.connected()
            openWaiting()
        case .settings:
            machine.peerAllows(streams: Int(connection.peerConcurrentStreams))
            openWaiting()
        case .goAway:
            machine.goAwayReceived()
        case .closed(let error):
            self.connection = nil
            lost(error)
        case .request, .pong:
            break
        }
    }

    private func lost(_ error: WireError) {
        guard machine.hasConnected else {
            fail(machine.connectFailed(), error)
            finishIfClosed()
            return
        }
        switch machine.disconnected() {
        case .rest: break
        case .connect: connect()
        case .closed(let waiting): fail(waiting, WireError(.closedLocally, "the client is closed"))
        }
        finishIfClosed()
    }

    private func fail(_ pushes: [PendingPush], _ error: WireError) {
        for push in pushes { push.settle(.failure(APNsError(error, id: push.id))) }
    }

    // MARK: Closing

    func close(within limit: Duration) async {
        machine.close()
        let timer = loop.schedule(after: limit) { [weak self] in self?.assumeIsolated { $0.giveUp() } }
        await withCheckedContinuation { continuation in
            closers.append(continuation)
            finishIfClosed()
        }
        timer.cancel()
    }

    private func giveUp() {
        let error = WireError(.closedLocally, "the client was closed")
        fail(machine.giveUp(), error)
        connection?.close(error)
        finishIfClosed()
    }

    private func finishIfClosed() {
        guard machine.isFinished else { return }
        deadlineTimer?.cancel()
        if let connection {
            connection.goAway()
            connection.close(WireError(.closedLocally, "the client was closed"))
        }
        let closers = closers
        self.closers = []
        for closer in closers { closer.resume() }
    }
}

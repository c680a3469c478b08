// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The driver of ``PoolMachine`` on one event loop: the connections to a server, and the pushes that wait for them or
/// are in flight on them.
actor PushPool {
    /// The limits for responses, which are small except for the list of 10,000 channels.
    private static let limits = HTTP2Limits(concurrentStreams: 0, bodyBytes: 1024 * 1024, fieldBytes: 16 * 1024)

    /// A message from another thread; messages are processed in batches.
    private enum Message {
        case send(PendingPush)
        case cancel(PendingPush)
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    private nonisolated let mailbox = Mutex<[Message]>([])

    private let endpoint: HTTP2Connection.Endpoint
    private let tokenSource: (any ProviderTokenSource)?
    private let events: EventFeed<ClientEvent>
    private nonisolated let telemetry: ClientTelemetry
    private let connectTimeout: Duration
    private let clock: WallClock
    private var machine: PoolMachine
    /// A list, because few connections are searched fastest this way.
    private var connections: [(id: PoolMachine.ConnectionID, connection: HTTP2Connection)] = []
    /// The pushes without a result, by the indices of their keys.
    private var pushes: [PendingPush?] = []
    /// The field with the current provider token; empty without one.
    private var authorization = HTTPFields()
    /// Reusable storage for the next list of actions.
    private var spareActions: [PoolMachine.Action] = []
    private var isCarryingOut = false
    private var timer: LoopTimer?
    private var timerDue = MonotonicTime.never
    private var closers: [CheckedContinuation<Void, Never>] = []
    private var warmUps: [CheckedContinuation<Result<Void, APNsError>, Never>] = []

    init(
        to endpoint: HTTP2Connection.Endpoint,
        tokenSource: (any ProviderTokenSource)?,
        events: EventFeed<ClientEvent>,
        telemetry: ClientTelemetry,
        configuration: PushClient.Configuration,
        clock: WallClock,
        on loop: EventLoop
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.tokenSource = tokenSource
        self.events = events
        self.telemetry = telemetry
        connectTimeout = configuration.connectTimeout
        self.clock = clock
        machine = PoolMachine(
            PoolMachine.Settings(
                usesProviderTokens: tokenSource != nil,
                waitingLimit: configuration.waitingLimit,
                connectionLimit: configuration.connectionLimit,
                breaksCircuit: configuration.breaksCircuit
            ),
            seed: .random(in: .min ... .max)
        )
    }

    // MARK: From any thread

    /// Sends the push and waits for its result.
    nonisolated func send(_ push: PendingPush) async throws(APNsError) -> AcceptedResponse {
        let span = telemetry.span(for: push)
        let result = await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                unsafe push.wait(with: continuation)
                submit(push)
            }
        } onCancel: {
            post(.cancel(push))
        }
        span.end(result)
        return try result.get()
    }

    private nonisolated func submit(_ push: PendingPush) {
        if loop.isCurrent {
            assumeIsolated { $0.accept(.send(push)) }
        } else {
            post(.send(push))
        }
    }

    private nonisolated func post(_ message: Message) {
        let isFirst = mailbox.withLock { mailbox in
            mailbox.append(message)
            return mailbox.count == 1
        }
        if isFirst { loop.execute { self.assumeIsolated { $0.emptyMailbox() } } }
    }

    /// Ends all pushes and connections immediately.
    nonisolated func closeImmediately() {
        loop.execute { self.assumeIsolated { $0.expire() } }
    }

    nonisolated func limitConnections(to count: Int) {
        loop.execute {
            self.assumeIsolated { pool in
                pool.machine.limitConnections(to: count, at: pool.loop.now)
                pool.carryOut()
            }
        }
    }

    // MARK: Messages

    private func emptyMailbox() {
        let messages = mailbox.withLock { mailbox in
            defer { mailbox = [] }
            return mailbox
        }
        for message in messages { accept(message) }
    }

    private func accept(_ message: Message) {
        switch message {
        case .send(let push):
            add(push)
        case .cancel(let push):
            if let key = push.key { machine.cancelled(key, at: loop.now) } else { push.isCancelled = true }
        }
        carryOut()
    }

    private func add(_ push: PendingPush) {
        let key = machine.submitted(push.id, push.draft.limits, isCancelled: push.isCancelled, at: loop.now)
        push.key = key
        PushPool.store(push, at: key.index, in: &pushes)
    }

    /// Stores a push in a list that grows as needed; the list is a parameter, so that it is accessed once.
    private static func store(_ push: PendingPush, at index: Int, in pushes: inout [PendingPush?]) {
        while pushes.count <= index { pushes.append(nil) }
        pushes[index] = push
    }

    // MARK: Bulk sends

    func submit(_ pushes: [PendingPush]) {
        for push in pushes { add(push) }
        carryOut()
    }

    /// Ends the pushes of a lane that have not been sent.
    func cancelUnsent(of lane: BulkLane) {
        machine.cancelUnsent(at: loop.now) { pushes[$0.index]?.ticket?.lane === lane }
        carryOut()
    }

    // MARK: Actions

    /// Performs the machine's actions, including those that are added meanwhile.
    private func carryOut() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        var actions: [PoolMachine.Action] = []
        swap(&actions, &spareActions)
        var wake = machine.takeActions(&actions)
        while !actions.isEmpty {
            for action in actions { carryOut(action) }
            actions.removeAll(keepingCapacity: true)
            wake = machine.takeActions(&actions)
        }
        swap(&actions, &spareActions)
        isCarryingOut = false
        if pushes.count > PushTable.spareSlots, machine.pushes.table.isEmpty { pushes = [] }
        if wake < timerDue { setTimer(at: wake) }
        if machine.isFinished { finish() }
    }

    private func carryOut(_ action: PoolMachine.Action) {
        switch action {
        case .open(let key, let id): open(key, on: id)
        case .settle(let key):
            let result = machine.pushes.takeResult(of: key)
            guard let push = pushes[key.index].take() else { break }
            telemetry.ended(push, push.settle(result))
        case .connect(let id): connect(id)
        case .reset(let key, let id):
            if let stream = pushes[key.index]?.stream { connection(id)?.reset(stream, .cancel) }
        case .ping(let id): connection(id)?.ping()
        case .close(let id, let reason):
            connection(id)?.goAway()
            connection(id)?.close(reason)
        case .requestToken(let request): requestToken(request)
        case .report(let event): report(event)
        }
    }

    private func open(_ key: PushKey, on id: PoolMachine.ConnectionID) {
        // The push may have been settled since the action was added.
        guard !machine.pushes.table.isSettled(key), let push = pushes[key.index] else {
            return machine.settledBeforeOpening(key, on: id, at: loop.now)
        }
        do throws(TransportError) {
            guard let connection = connection(id) else {
                throw TransportError(.closedLocally, "the connection is closed")
            }
            var fields = push.fields
            fields.append(contentsOf: authorization)
            push.stream = try connection.send(fields, body: push.draft.body, for: push)
        } catch {
            machine.notOpened(key, on: id, at: loop.now)
        }
    }

    private func ended(
        _ push: PendingPush,
        on id: PoolMachine.ConnectionID,
        _ stream: HTTP2Stream,
        _ outcome: StreamOutcome
    ) {
        guard let key = push.key else { return }
        switch outcome {
        case .answered where stream.isAcceptance:
            machine.answered(key, on: id, refusal: nil, at: loop.now)
        case .answered:
            push.stream = nil
            let answer = RejectedResponse(stream: stream, clock: clock)
            let refusal = answer.refusal(of: push.id)
            if refusal.status == 403, let skew = answer.clockSkew { report(.clockSkew(skew)) }
            machine.answered(key, on: id, refusal: refusal, at: loop.now)
        case .broken(let failure):
            push.stream = nil
            machine.broken(key, on: id, failure, at: loop.now)
        }
    }

    // MARK: Provider tokens

    private func requestToken(_ request: PoolTokenMachine.Request) {
        guard let tokenSource else { return }
        Task {
            if let issuedAt = request.rejectedIssuedAt { await tokenSource.expired(tokenIssuedAt: issuedAt) }
            do throws(APNsError) {
                let token = try await tokenSource.token()
                let now = loop.now
                if machine.tokenReceived(issuedAt: token.issuedAt, validity: token.validity, at: now) {
                    authorization = ["authorization": "bearer " + String(decoding: token.text, as: UTF8.self)]
                }
            } catch {
                machine.tokenFailed(error, at: loop.now)
            }
            carryOut()
        }
    }

    /// Uses another key, and sends again if everything was rejected because of the one before.
    func replaceKey() {
        machine.keyReplaced(at: loop.now)
        carryOut()
    }

    /// Uses another token: pushes in flight complete on their connections, and later ones use new connections.
    func replaceToken() {
        machine.tokenReplaced(at: loop.now)
        carryOut()
    }

    // MARK: Connections

    private func connection(_ id: PoolMachine.ConnectionID) -> HTTP2Connection? {
        connections.first { $0.id == id }?.connection
    }

    private func connect(_ id: PoolMachine.ConnectionID) {
        do throws(TransportError) {
            let connection = try HTTP2Connection(
                to: endpoint,
                limits: PushPool.limits,
                timeout: connectTimeout,
                on: loop
            )
            connections.append((id, connection))
            connection.start { event in self.handle(event, of: connection, id) }
        } catch {
            machine.disconnected(id, error, at: loop.now)
        }
    }

    private func handle(_ event: HTTP2Connection.Event, of connection: HTTP2Connection, _ id: Int) {
        let now = loop.now
        switch event {
        case .ended(let stream, let sender, let outcome):
            // The resulting actions are performed once for all streams that ended together.
            if let push = sender as? PendingPush { ended(push, on: id, stream, outcome) }
            return
        case .ready:
            machine.connected(id, at: now)
        case .settings:
            machine.streamLimitReceived(Int(connection.peerConcurrentStreams), on: id, at: now)
        case .goAway(let goAway):
            machine.goAwayReceived(goAway, on: id, at: now)
        case .pong:
            machine.pongReceived(on: id, at: now)
        case .closed(let error):
            connections.removeAll { $0.id == id }
            machine.disconnected(id, error, at: now)
        case .request, .served, .caughtUp:
            break
        }
        carryOut()
    }

    /// Opens connections before they are needed.
    func warmUp(connections count: Int) async -> Result<Void, APNsError> {
        await withCheckedContinuation { continuation in
            warmUps.append(continuation)
            machine.warmUp(to: count, at: loop.now)
            carryOut()
            resumeWarmUps(nil)
        }
    }

    private func resumeWarmUps(_ error: APNsError?) {
        guard error != nil || machine.connections.isWarm, !warmUps.isEmpty else { return }
        let waiting = warmUps
        warmUps = []
        for continuation in waiting { continuation.resume(returning: error.map { .failure($0) } ?? .success(())) }
    }

    // MARK: Time

    private func setTimer(at due: MonotonicTime) {
        timer?.cancel()
        timerDue = due
        timer = loop.schedule(after: timerDue.duration(since: loop.now)) { [weak self] in
            self?.assumeIsolated { $0.timerFired() }
        }
    }

    private func timerFired() {
        timer = nil
        timerDue = .never
        machine.timerFired(at: loop.now)
        carryOut()
    }

    // MARK: Reporting

    var counters: ClientCounters { machine.counters }

    var condition: ClientCondition { machine.condition }

    private func report(_ event: ClientEvent) {
        switch event {
        case .connected: resumeWarmUps(nil)
        case .connectionFailed(let error): resumeWarmUps(error)
        default: break
        }
        telemetry.happened(event)
        events.report(event)
    }

    // MARK: Closing

    func close(within limit: Duration) async {
        machine.close(at: loop.now)
        let timeout = loop.schedule(after: limit) { [weak self] in self?.assumeIsolated { $0.expire() } }
        await withCheckedContinuation { continuation in
            closers.append(continuation)
            carryOut()
        }
        timeout.cancel()
    }

    private func expire() {
        machine.giveUp(at: loop.now)
        carryOut()
    }

    private func finish() {
        timer?.cancel()
        let closing = closers
        closers = []
        for continuation in closing { continuation.resume() }
        resumeWarmUps(APNsError(.closed, description: "the client was closed"))
    }
}

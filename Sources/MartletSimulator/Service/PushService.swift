// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletServer
internal import MartletTransport

/// The simulated servers of Apple: it accepts connections, answers requests and applies faults.
///
/// The actor runs on the event loop of the simulator and carries out the decisions of ``ServiceMachine``. Its listeners
/// retain it until they are closed.
actor PushService {
    private nonisolated let loop: EventLoop
    /// The executor of the actor: the event loop of the simulator.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// The clock of the simulator, without the skew of a fault.
    nonisolated let clock: WallClock
    let inbox: PushInbox
    private let archive: ArchiveWriter
    private var machine: ServiceMachine
    private var listeners: [APNsListener] = []
    /// The numbering of the connections, shared by all ports.
    private let numbering = ConnectionNumbering()
    private(set) var clients: [ObjectIdentifier: ServedClient] = [:]
    private(set) var closedConnections = ClosedConnections()
    private var noticeLimit = NoticeLimit()
    /// The file of the certificate that clients must trust; nil without TLS.
    private let authorityFile: String?
    /// The number of pushes by the status of their answers.
    private(set) var answers: [Int: Int] = [:]
    /// The number of pushes over a connection whose answer was not written.
    private(set) var unanswered = 0
    /// The time in milliseconds since 1970 at which the expiry of stored pushes is recorded next.
    private var scheduledExpiry = Int64.max
    /// The number of the last report of a phone that was passed to the readers of events.
    private var lastReport = 0
    /// The time in milliseconds since 1970 at which ``phoneTimer`` fires; `.max` without a timer.
    private var phoneTime = Int64.max
    private var phoneTimer: LoopTimer?

    /// Creates a service without ports.
    init(
        _ configuration: SimulatedAPNs.Configuration,
        _ inbox: PushInbox,
        _ archive: ArchiveWriter,
        clock: WallClock,
        on loop: EventLoop
    ) {
        self.loop = loop
        self.clock = clock
        self.inbox = inbox
        self.archive = archive
        authorityFile = configuration.isEncrypted ? configuration.authority?.certificateFile ?? "ca.pem" : nil
        machine = ServiceMachine(configuration)
        machine.evaluator.phones = configuration.phones.map { phones in
            PhonePopulation(phones, seed: configuration.seed, at: clock.millisecondsSince1970())
        }
    }

    deinit {
        loop.shutdown()
    }

    // MARK: Listening

    /// Whether the service accepts pushes.
    var isListening: Bool { !listeners.isEmpty }

    /// Listens on a port.
    ///
    /// - Returns: The port.
    /// - Throws: ``TransportError`` when the address is in use, or not one of this machine.
    func listen(
        on host: String,
        _ port: UInt16,
        _ tls: TLSContext?,
        for kind: ConnectionRecord.Port
    ) throws(TransportError) -> UInt16 {
        let listener = try APNsListener(
            host: host,
            port: port,
            tls: tls,
            limits: APNsListener.Limits(initialStreams: machine.initialStreams),
            on: loop,
            numbering: numbering,
            admits: { self.machine.admitsConnection() },
            onEvent: { connection, event in self.handle(event, from: connection, on: kind) }
        )
        listeners.append(listener)
        return listener.port
    }

    /// Stops listening, and waits for open requests.
    func close(grace: Duration) async {
        let closing = listeners
        listeners = []
        for listener in closing {
            await withCheckedContinuation { continuation in
                listener.close(grace: grace) { continuation.resume() }
            }
        }
        // The last requests may have scheduled the timer, and none may follow.
        phoneTimer?.cancel()
        phoneTime = .min
    }

    // MARK: Requests

    private func handle(
        _ event: APNsListener.Event,
        from connection: ClientConnection,
        on port: ConnectionRecord.Port
    ) {
        let key = ObjectIdentifier(connection)
        switch event {
        case .opened:
            // The simulator serves developers, so that no client has to be protected from others.
            connection.authenticated()
            let client = ServedClient(connection, on: port, at: clock.millisecondsSince1970())
            updateStreamLimit(of: client)
            clients[key] = client
        case .request(let request, let reply):
            if let client = clients[key] { answer(request, reply, from: client, on: port) }
        case .served(let tag, let status):
            if let client = clients[key] { recordAnswer(tag, status: status, to: client) }
        case .unreadable(let status, let isMalformed):
            clients[key]?.record.unreadable(status, isMalformed: isMalformed)
        case .refused(let count):
            report(ConnectionNotice(streamsRefused: count, on: connection.id))
        case .goAway(let goAway):
            clients[key]?.record.goAwayReceived = goAway
        case .closed(let reason):
            let now = clock.millisecondsSince1970()
            let opened = clients.removeValue(forKey: key)
            let client = opened ?? ServedClient(connection, on: port, at: now)
            client.record.hasFailedHandshake = opened == nil
            if noticeLimit.admits(reason, from: connection.peer, at: now) {
                let (id, peer) = (connection.id, connection.peer)
                report(ConnectionNotice(connection: id, from: peer, failed: reason, authorityFile: authorityFile))
            }
            closedConnections.add(client.record.closed(reason, at: now, with: client.state.connection, connection))
        }
    }

    private func report(_ notice: ConnectionNotice?) {
        if let notice { inbox.assumeIsolated { $0.report(.noticed(notice)) } }
    }

    private func answer(
        _ request: APNsRequest,
        _ reply: APNsReply,
        from client: ServedClient,
        on port: ConnectionRecord.Port
    ) {
        // The client knows that a GOAWAY frame has excluded the request, and sends it again over another connection.
        guard reply.streamID <= client.lastStreamID else { return reply.reset(.refusedStream) }
        let now = clock.millisecondsSince1970()
        let request = RequestEvaluator.completed(request, over: client.state.connection)
        client.record.receivedRequest(openStreams: client.connection.openStreamCount)
        let decision = machine.decide(on: request, from: &client.state, over: port, at: now)
        updateStreamLimit(of: client)
        if request.isAboutChannels {
            saveChannel(of: request, decision.evaluated)
        } else {
            // Recorded before a fault can end the stream, because that end is recorded on the push.
            let connection = client.connection.id
            reply.tag = receive(request, decision, over: connection, from: &client.state, at: now).number
        }
        client.send(decision, reply, on: loop)
    }

    /// Receives a push that was sent from the inbox page, and returns it with its answer.
    func receive(composed request: APNsRequest) -> ReceivedPush {
        let now = clock.millisecondsSince1970()
        let decision = machine.decide(onComposed: request, at: now)
        // Answers over a connection are counted when they have been written.
        answers[decision.answer.status, default: 0] += 1
        var page = ClientState.page
        return receive(request, decision, over: ReceivedPush.noConnection, from: &page, at: now)
    }

    /// Records an answered push at a time in milliseconds since 1970.
    private func receive(
        _ request: APNsRequest,
        _ decision: ServiceMachine.Decision,
        over connection: Int,
        from client: inout ClientState,
        at now: Int64
    ) -> ReceivedPush {
        let (header, deviceToken) = (request.namespace, request.deviceToken)
        let (number, namespace) = inbox.assumeIsolated { inbox in
            (inbox.lastNumber + 1, inbox.namespace(header: header, deviceToken: deviceToken))
        }
        let (push, others, repeated) = machine.record(
            request,
            decision,
            number: number,
            in: namespace,
            over: connection,
            from: &client,
            at: now
        )
        inbox.assumeIsolated { inbox in
            inbox.record(others)
            inbox.receive(push, repeating: repeated)
        }
        scheduleExpiry()
        followPhones()
        return push
    }

    /// Records the expiry of stored pushes when it is due, also while no request reads pushes.
    private func scheduleExpiry() {
        let expiry = machine.evaluator.devices.nextExpiry
        guard expiry < scheduledExpiry else { return }
        scheduledExpiry = expiry
        let now = clock.millisecondsSince1970()
        loop.schedule(after: .milliseconds(max(expiry, now) - now + 1)) { [weak self] in
            self?.assumeIsolated { service in
                service.scheduledExpiry = .max
                service.deliver { machine, now in machine.evaluator.devices.discardExpired(at: now) }
                service.scheduleExpiry()
            }
        }
    }

    /// Passes new reports of the phones to the readers of events, and schedules the next change of a phone.
    func followPhones() {
        guard let next = machine.evaluator.phones?.nextTime else { return }
        for report in machine.evaluator.phones?.reports(after: lastReport) ?? [] {
            lastReport = report.number
            inbox.assumeIsolated { $0.report(.reported(report)) }
        }
        guard next < phoneTime else { return }
        phoneTime = next
        phoneTimer?.cancel()
        let now = clock.millisecondsSince1970()
        phoneTimer = loop.schedule(after: .milliseconds(max(next, now) - now + 1)) { [weak self] in
            self?.assumeIsolated { service in
                service.phoneTime = .max
                service.machine.evaluator.phones?.advance(to: service.clock.millisecondsSince1970())
                service.followPhones()
            }
        }
    }

    /// Records whether the answer to a request was written to the connection.
    ///
    /// - Parameters:
    ///   - number: The number of its push; 0 for a request about channels.
    ///   - status: The status of the answer; 0 when it was not written.
    ///   - client: The client.
    private func recordAnswer(_ number: Int, status: Int, to client: ServedClient) {
        client.record.answered(status)
        guard number > 0 else { return }
        guard status == 0 else {
            answers[status, default: 0] += 1
            return
        }
        unanswered += 1
        let loss = client.endingFault.map(AnswerLoss.connection) ?? .client
        inbox.assumeIsolated { $0.loseAnswer(of: number, to: loss) }
    }

    /// Updates the number of streams that a client may have open, which is sent when it has changed.
    private func updateStreamLimit(of client: ServedClient) {
        client.connection.allow(concurrentStreams: machine.streamLimit(of: client.state))
    }

    /// Saves a channel that a request has created or deleted.
    private func saveChannel(of request: APNsRequest, _ answer: RequestEvaluator.Answer) {
        guard case .channels(let app)? = request.target else { return }
        if answer.status == 201, let channel = answer.channel {
            save(channel, of: String(app))
        } else if answer.status == 204, let channel = request.channelID {
            save(ChannelID(channel), of: String(app))
        }
    }

    /// Saves the current state of a channel, or its deletion.
    func save(_ channel: ChannelID, of app: String) {
        let storage = machine.evaluator.channels.storage(of: channel.rawValue, in: app)
        archive.assumeIsolated { $0.save(channel, of: app, storage) }
    }

    // MARK: State

    /// The devices, channels and signing keys.
    var evaluator: RequestEvaluator { machine.evaluator }
    /// The faults.
    var plan: FaultPlan { machine.plan }
    /// The contracts of Live Activities.
    var contracts: ActivityContracts { machine.contracts }

    /// Changes the devices, channels, signing keys or contracts; the change is passed the time in milliseconds since
    /// 1970.
    func update<Value, Failure>(
        _ change: @Sendable (inout ServiceMachine, Int64) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try change(&machine, clock.millisecondsSince1970())
    }

    /// Changes the devices, and records the delivery events of stored pushes.
    func deliver(_ change: @Sendable (inout ServiceMachine, Int64) -> DeviceRegistry.Deliveries) {
        let deliveries = update(change)
        inbox.assumeIsolated { $0.record(deliveries) }
    }

    /// Changes the faults, applies them to all connections, and reports the change.
    ///
    /// - Parameters:
    ///   - endsLimits: Whether the stream limits of faults that affected single connections end.
    ///   - change: The change.
    /// - Throws: The error of the change.
    func updateFaults<Failure>(
        endsLimits: Bool,
        _ change: @Sendable (inout ServiceMachine) throws(Failure) -> Void
    ) throws(Failure) {
        try change(&machine)
        for listener in listeners { listener.use(initialStreams: machine.initialStreams) }
        for client in clients.values {
            if endsLimits { client.state.faultStreamLimit = nil }
            updateStreamLimit(of: client)
        }
        inbox.assumeIsolated { $0.report(.faultsChanged) }
    }
}

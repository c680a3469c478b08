internal import Martlet
internal import MartletCore
internal import MartletServer
internal import MartletTransport

/// A connected client, with the state of its connection.
final class ServedClient {
    let connection: ClientConnection
    var state = Judge.ConnectionState()
    /// The number of accepted pushes from the client.
    var acceptedCount = 0
    /// The number of 4xx answers other than 410, after too many of which APNs closes the connection; `BadDeviceToken`
    /// counts twice.
    var errorCount = 0
    /// The fault that has ended the connection.
    var endingFault: FaultInjection?
    /// Whether a fault has sent the GOAWAY frame that follows too many errors.
    var hasTooManyErrors = false
    /// The maximum number of streams that a fault has set for the connection; nil for none.
    var faultStreamLimit: UInt32?
    var notes: ConnectionNotes

    init(_ connection: ClientConnection, on port: ConnectionNotes.Port, at now: Int64) {
        self.connection = connection
        notes = ConnectionNotes(connection, on: port, at: now)
        state.certificate = connection.certificate
        // A client authenticated by a certificate for pushes need not wait for a first answer.
        state.hasAllStreams = state.isKnownByCertificate
    }
}

/// The handling of connections and requests.
extension SimulatedAPNs {
    func handle(
        _ event: APNsListener.Event,
        from connection: ClientConnection,
        on port: ConnectionNotes.Port
    ) {
        let key = ObjectIdentifier(connection)
        switch event {
        case .opened:
            let client = ServedClient(connection, on: port, at: clock.secondsSince1970())
            updateStreamLimit(of: client)
            clients[key] = client
        case .request(let request, let reply):
            if let client = clients[key] { answer(request, reply, from: client) }
        case .served(let tag, let status):
            clients[key].map { served(tag, status: status, to: $0) }
        case .unreadable(let status, let isMalformed):
            clients[key]?.notes.unreadable(status, isMalformed: isMalformed)
        case .refused(let count):
            guard let client = clients[key] else { return }
            inbox.note(.streamsRefused(RefusedStreams(connection: client.connection.id, count: count)))
            tellFollowersSoon()
        case .goAway(let goAway):
            clients[key]?.notes.goAwayReceived = goAway
        case .closed(let reason):
            let now = clock.secondsSince1970()
            let opened = clients.removeValue(forKey: key)
            let client = opened ?? ServedClient(connection, on: port, at: now)
            client.notes.hasFailedHandshake = opened == nil
            closedConnections.note(client.notes.closed(reason, at: now, with: client.state, connection))
        }
    }

    /// Returns whether the next client may connect, and counts down the connections that a fault refuses.
    func admits() -> Bool {
        guard refusals > 0 else { return true }
        refusals -= 1
        return false
    }

    /// Records whether the answer to a request was written to the connection.
    ///
    /// - Parameters:
    ///   - tag: The number of its push; 0 for a request about channels.
    ///   - status: The status of the answer; 0 when it was not written.
    ///   - client: The client.
    private func served(_ tag: Int, status: Int, to client: ServedClient) {
        client.notes.served(status)
        guard tag > 0 else { return }
        guard status == 0 else {
            answers[status, default: 0] += 1
            return
        }
        unanswered += 1
        inbox.loseAnswer(of: tag, to: client.endingFault.map(AnswerLoss.connection) ?? .client)
        tellFollowersSoon()
    }

    private func answer(
        _ request: APNsRequest,
        _ reply: APNsReply,
        from client: ServedClient
    ) {
        let onChannelPort = client.notes.port == .channels
        let now = clock.secondsSince1970()
        let request = Judge.completed(request, over: client.state)
        client.notes.asked(openStreams: client.connection.openStreamCount)
        // With a provider certificate APNs ignores `authorization`.
        let hasToken = request.authorization != nil && !client.state.isKnownByCertificate
        var injections = plan.injections(on: request.deviceToken, request.headers, hasToken: hasToken, at: now)
        for case .skewClock(let duration) in injections.map(\.action) {
            skew = min(max(duration.components.seconds, -SimulatedAPNs.longestSkew), SimulatedAPNs.longestSkew)
        }
        for case .limitStreams(let limit) in injections.map(\.action) { client.faultStreamLimit = limit }
        let wasBound = client.state.isBound
        let judged =
            !onChannelPort || request.isAboutChannels
            ? judge.verdict(on: request, over: &client.state, at: now + skew, using: &generator)
            : .refused(Judge.notAboutChannels)
        // A fault changes the answer, not the effect of the request.
        var verdict = judged
        for injection in injections {
            guard let injected = Judge.Verdict(injection, at: now) else { continue }
            verdict = injected
            // A token that was answered as expired remains expired, so its replacement is not too early.
            if injected.reason == .expiredProviderToken { judge.expire(request.authorization) }
        }
        // A client does not know of an acceptance that a fault has replaced by a refusal.
        if verdict.status != 200, !wasBound { client.state.unbind() }
        adjustStreams(of: client, after: verdict)
        client.errorCount += verdict.errorWeight
        if verdict.errorWeight > 0, !client.hasTooManyErrors {
            let errors = plan.injections(
                on: request.deviceToken,
                request.headers,
                afterErrors: client.errorCount,
                verdict.reason
            )
            client.hasTooManyErrors = !errors.isEmpty
            injections += errors
        }
        let (id, response) = response(to: request, verdict, hasRequestID: onChannelPort || request.hasRequestID)
        let isPush: Bool
        switch request.target {
        case .channels, .allChannels: isPush = false
        case .device, .broadcast, nil: isPush = true
        }
        if isPush {
            reply.tag = inbox.log.lastNumber + 1
            // Recorded before a fault can end the stream, because that end is recorded on the push.
            receive(request, answeredWith: verdict, id: id, injections.decisive, from: client, at: now)
        } else {
            keepChannel(of: request, judged)
        }
        send(response, to: client, reply, injections)
    }

    /// Sends an answer, unless a fault withholds it, and applies the faults to the connection.
    private func send(
        _ response: APNsResponse,
        to client: ServedClient,
        _ reply: APNsReply,
        _ injections: [FaultInjection]
    ) {
        guard !injections.contains(where: \.withholdsAnswer) else {
            for injection in injections { inject(injection, into: client, reply) }
            return
        }
        for injection in injections where !injection.isGoAway { inject(injection, into: client, reply) }
        // Some clients read nothing after a GOAWAY frame, so the answer that caused it is sent first.
        let goAways = injections.filter(\.isGoAway)
        let delay = injections.reduce(Duration.zero) { $0 + $1.delay }
        guard delay != .zero else {
            reply.send(response)
            for goAway in goAways { client.end(with: goAway, reply) }
            return
        }
        loop.schedule(after: delay) {
            reply.send(response)
            for goAway in goAways { client.end(with: goAway, reply) }
        }
    }

    /// Records a push with its answer; a push without a client was sent from the inbox page.
    ///
    /// - Returns: The push with its findings and delivery events.
    @discardableResult
    func receive(
        _ request: APNsRequest,
        answeredWith verdict: Judge.Verdict,
        id: String,
        _ injection: FaultInjection?,
        from client: ServedClient?,
        at now: Int64
    ) -> ReceivedPush {
        // Answers over a connection are counted when they have been written.
        if client == nil { answers[verdict.status, default: 0] += 1 }
        var push = ReceivedPush(
            request,
            number: inbox.log.lastNumber + 1,
            answeredWith: verdict,
            id: id,
            fault: injection?.name,
            in: namespaces.namespace(header: request.namespace, deviceToken: request.deviceToken),
            over: client?.connection.id ?? ReceivedPush.noConnection,
            at: now
        )
        if let encoding = request.contentEncoding, encoding.lowercased() != "identity" {
            push.observations.append(RequestRules.compressed(encoding))
        }
        let loss = injection.flatMap { $0.withholdsAnswer ? AnswerLoss.fault($0) : nil }
        if push.status == 200 {
            if loss == nil {
                observe(&push, from: client)
                deliver(&push, at: now)
            }
        } else if let reason = push.reason {
            if let finding = verdict.finding {
                push.observations.append(finding)
            } else if !push.findings.contains(where: { $0.reason == reason }) {
                push.observations.append(RefusalRules.other(reason))
            }
        }
        push.observations += RefusalRules.findings(about: request)
        if let loss { push.loseAnswer(to: loss) }
        inbox.receive(push)
        tellFollowersSoon()
        return push
    }

    /// Adds the findings about an accepted push that depend on earlier pushes, its sender, channels and contracts.
    private func observe(_ push: inout ReceivedPush, from client: ServedClient?) {
        defer { client?.acceptedCount += 1 }
        if let activity = ActivityPush(push) {
            push.observations += contracts.findings(for: activity)
            contracts.note(activity)
        }
        if let finding = judge.channels.finding(for: push) { push.observations.append(finding) }
        guard push.app == nil else {
            if let token = client?.state.providerToken {
                push.observations += TrafficRules.findings(about: token, at: push.time, skew: skew)
            }
            return
        }
        if let client, push.headers.isForMDM, !client.state.isKnownByCertificate {
            push.observations.append(RefusalRules.mdmWithToken)
        }
        let deviceToken = push.deviceToken.lowercased()
        push.observations += traffic.findings(
            for: TrafficRules.Facts(
                time: push.time,
                skew: skew,
                connection: push.connection,
                sender: client?.state.sender(in: push.namespace) ?? "",
                // The page opens no connections, so it cannot break the rule about too many of them.
                earlierPushCount: client?.acceptedCount ?? 1,
                deviceToken: deviceToken,
                isOnline: judge.devices.isOnline(deviceToken),
                topic: push.headers.topic ?? "",
                pushType: push.headers.pushType.map(PushType.init(rawValue:)),
                collapseID: push.headers.collapseID,
                payload: push.payload,
                providerToken: client?.state.providerToken
            )
        )
    }

    /// Delivers an accepted push, and records its delivery events and those of other pushes that it affects.
    private func deliver(_ push: inout ReceivedPush, at now: Int64) {
        // Without registered devices, most pushes are delivered at once.
        guard judge.devices.concerns(push) else {
            push.note(DeliveryEvent(.delivered, at: now))
            return
        }
        for (number, event) in judge.devices.receive(push, at: now, using: &generator) {
            if number == push.number {
                push.note(event)
            } else {
                inbox.note(event, on: number)
            }
        }
    }

    /// Returns the response for a verdict, and the identifier in it.
    func response(
        to request: APNsRequest,
        _ verdict: Judge.Verdict,
        hasRequestID: Bool
    ) -> (id: String, APNsResponse) {
        var fields: [(name: String, value: String)] = []
        let id: String
        if hasRequestID {
            id = request.requestID?.lowercased() ?? APNsID.random(using: &generator).description
            fields.append(("apns-request-id", id))
            if let channel = verdict.channel { fields.append(("apns-channel-id", channel.rawValue)) }
        } else {
            // APNs answers with the canonical form, which is in lower case.
            id = request.headers.id?.lowercased() ?? APNsID.random(using: &generator).description
            fields.append(("apns-id", id))
            if configuration.environment == .development {
                fields.append(("apns-unique-id", APNsID.random(using: &generator).description))
            }
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

    /// The maximum skew of the clock, in seconds: about three years.
    private static let longestSkew: Int64 = 100_000_000
}

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletServer
internal import MartletTransport

/// A request over the APNs protocol that is not answered yet; used only on the event loop.
struct PendingRequest {
    var request: APNsRequest
    /// The identifier of the push if the client has chosen none.
    let freshID: APNsID
    let caller: Callers.Caller?
    let connection: RelayConnection
    let environment: PushEnvironment
    let reply: APNsReply
    let start: ContinuousClock.Instant
}

/// The requests whose pushes are being stored or have no outcome yet.
///
/// The intake receives their numbers, so that they never leave the actor of the connections.
struct PendingRequests {
    private var requests: [Int: PendingRequest] = [:]
    private var next = 0

    /// Stores a request and returns its number.
    mutating func add(_ request: PendingRequest) -> Int {
        next += 1
        requests[next] = request
        return next
    }

    /// Removes and returns a request.
    mutating func take(_ number: Int) -> PendingRequest? { requests.removeValue(forKey: number) }
}

/// Serving of the APNs protocol.
extension RelayServer {
    /// Handles an event of a connection.
    func handle(_ event: APNsListener.Event, from client: ClientConnection, for environment: PushEnvironment) {
        let key = ObjectIdentifier(client)
        switch event {
        case .opened:
            connections[key] = RelayConnection(client)
        case .request(let request, let reply):
            if let other = request.other, let match = RelayAPI.match(of: other) {
                guard !request.isBodyTooLong else {
                    return reply.send(
                        APIProblem(413, "the body is longer than \(RelayServer.longestBody) bytes").response
                    )
                }
                return answer(other, match, from: client.peer, reply)
            }
            guard let connection = connections[key] else { return }
            let start = ContinuousClock.now
            answer(
                PendingRequest(
                    request: request,
                    freshID: APNsID(milliseconds: context.now, randomBits: (generator.next(), generator.next())),
                    caller: request.target == nil ? nil : caller(request.authorization, over: connection),
                    connection: connection,
                    environment: environment,
                    reply: reply,
                    start: start
                )
            )
        case .closed(let error):
            if connections.removeValue(forKey: key) == nil { noteFailedHandshake(error, of: client.peer) }
        case .served, .unreadable, .refused, .goAway:
            break
        }
    }

    /// Answers a request that is not part of the APNs protocol: the JSON API over HTTP/2.
    private func answer(_ request: HTTPRequest, _ match: RelayAPI.Match, from peer: String?, _ reply: APNsReply) {
        guard let api = api?.over(.listen) else {
            return reply.send(APIProblem(503, "the relay is shutting down").response)
        }
        Task { await answer(request, match, from: peer, reply, with: api) }
    }

    private func answer(
        _ request: HTTPRequest,
        _ match: RelayAPI.Match,
        from peer: String?,
        _ reply: APNsReply,
        with api: RelayAPI
    ) async {
        switch await api.answer(request, match, from: peer) {
        case .whole(let response): reply.send(response)
        case .pieces(let fields, let pieces) where fields["content-type"] != "text/event-stream":
            var body: [UInt8] = []
            for await piece in pieces { body += piece }
            reply.send(HTTPResponse(status: 200, fields: fields, body: body))
        case .pieces:
            reply.send(APIProblem(501, "event streams are only served over HTTP/1.1").response)
        }
    }

    private func answer(_ pending: PendingRequest) {
        let now = context.now
        let screen = APNsScreen(isDraining: isDraining)
        switch screen.verdict(
            on: pending.request,
            from: pending.caller,
            rejection: pending.connection.rejection,
            at: now
        ) {
        case .rejected(let reason, let retryAfter):
            finish(pending, .rejected(reason, retryAfter: retryAfter))
        case .refused(let refusal, let reason):
            noteRefusal(refusal, of: pending.connection.peer)
            finish(pending, .rejected(reason))
        case .passed(let caller):
            answer(pending, from: caller, at: now)
        }
    }

    private func answer(_ pending: PendingRequest, from caller: Callers.Caller, at now: Int64) {
        let verdict = intake.assumeIsolated { $0.verdict(onRequestOf: caller) }
        if case .refuse(_, let seconds) = verdict {
            return finish(pending, .rejected(.serviceUnavailable, retryAfter: seconds))
        }
        var request = pending.request
        if case .device? = request.target, request.headers.topic == nil { request.headers.topic = caller.defaultTopic }
        let ingress = APNsIngress(callers: callers, environment: pending.environment)
        switch ingress.verdict(on: request, from: caller, id: pending.freshID, at: now, hasLane: openLanes.contains) {
        case .refused(let reason): finish(pending, .rejected(reason))
        case .foreign(let reason, let bundle):
            let refusal = CallerRefusal(cause: .foreignTopic, caller: caller.name, bundle: bundle)
            noteRefusal(refusal, of: pending.connection.peer)
            finish(pending, .rejected(reason))
        case .channels(let lane, let bundle, let isList):
            forward(pending, lane, bundle, isList: isList)
        case .push(let push):
            let waits = !request.prefersAsync && verdict == .take(mayWait: true)
            var pending = pending
            // The push has the body; the request may wait for Apple's answer for long.
            pending.request.body = []
            let number = pendingRequests.add(pending)
            intake.assumeIsolated { intake in
                intake.accept([push], from: caller.name) { result, _ in
                    self.assumeIsolated { $0.accepted(push, result, for: number, waits: waits) }
                }
            }
        }
    }

    private func accepted(
        _ push: OutboxPush,
        _ result: Result<ArraySlice<Acceptance>, OutboxError>,
        for number: Int,
        waits: Bool
    ) {
        guard let pending = pendingRequests.take(number) else { return }
        if let response = APNsResponse(result.map(\.first)) { return finish(pending, response) }
        let time = context.configuration.answerTime
        guard waits, time > .zero, let caller = pending.caller else { return finish(pending, .accepted) }
        let waiting = pendingRequests.add(pending)
        intake.assumeIsolated { intake in
            intake.wait(for: push.id, of: push.lane.app, by: caller, within: time) { end in
                self.assumeIsolated { server in
                    guard let pending = server.pendingRequests.take(waiting) else { return }
                    server.finish(pending, end.map { .ended($0.outcome) } ?? .accepted)
                }
            }
        }
    }

    /// Forwards a request about channels to Apple and returns Apple's answer; nothing is stored.
    private func forward(_ pending: PendingRequest, _ lane: Lane, _ bundle: String, isList: Bool) {
        let request = pending.request
        guard let client = dispatcher.assumeIsolated({ $0.clients[lane]?.client }) else {
            return finish(pending, .rejected(.topicMismatch))
        }
        let channel = request.channelID.map { ChannelID($0) }
        let id = request.ownID.flatMap { try? APNsID($0, allowsUpperCase: true) } ?? pending.freshID
        let target = RequestTarget.channels(method: request.method, bundle: bundle, channel, isList: isList)
        Task {
            let response: APNsResponse
            do throws(APNsError) {
                response = APNsResponse(try await client.forward(to: target, id: id, body: request.body))
            } catch {
                response = APNsResponse(error)
            }
            if request.method != "GET", let caller = pending.caller {
                audit(AuditEntry(request, lane, from: caller, peer: pending.connection.peer, response))
            }
            finish(pending, response)
        }
    }

    /// Counts a request and sends its response.
    private func finish(_ pending: PendingRequest, _ response: APNsResponse) {
        let request = pending.request
        counts.answered(
            request.method,
            request.target?.route ?? "other",
            status: response.status,
            ContinuousClock.now - pending.start,
            by: pending.caller?.name ?? CallerCounter.other
        )
        var response = response
        response.identify(request, as: APNsRequest.returnedID(request.ownID) ?? pending.freshID.description)
        pending.reply.send(response)
    }
}

extension APNsResponse {
    /// Creates the response for the answer of the outbox to a push; nil when the push is stored and has not ended.
    fileprivate init?(_ result: Result<Acceptance?, OutboxError>) {
        switch result {
        case .success(.accepted), .success(nil): return nil
        case .success(.duplicate(let status)):
            guard case .ended(let outcome, _) = status.place else { return nil }
            self = .ended(outcome)
        case .success(.conflict): self = .rejected(.badMessageID)
        case .success(.suppressed(let token)): self = .suppressed(token)
        case .success(.full): self = .rejected(.serviceUnavailable, retryAfter: 30)
        case .failure: self = .rejected(.serviceUnavailable, retryAfter: 5)
        }
    }
}

extension APNsRequest.Target {
    /// The path without identifiers of devices, apps and channels.
    fileprivate var route: String {
        switch self {
        case .device: "/3/device/{token}"
        case .broadcast: "/4/broadcasts/apps/{bundle}"
        case .channels: "/1/apps/{bundle}/channels"
        case .allChannels: "/1/apps/{bundle}/all-channels"
        }
    }
}

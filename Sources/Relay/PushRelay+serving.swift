internal import APNs
internal import APNsClient
internal import APNsServer
internal import Outbox
internal import WebAPI
internal import Wire

/// One connection of a caller, with who it is.
final class RelayConnection {
    /// The credentials that were looked at last: callers show the same ones for an hour.
    var authorization: String?
    fileprivate var caller: Callers.Caller?
    fileprivate let peer: String

    fileprivate init(peer: String) {
        self.peer = peer
    }
}

/// Answers callers that speak APNs' own language.
extension PushRelay {
    func handle(_ event: APNsListener.Event, from connection: ClientConnection, for environment: PushEnvironment) {
        let key = ObjectIdentifier(connection)
        switch event {
        case .opened:
            connections[key] = RelayConnection(peer: connection.peer)
        case .request(let request, let reply):
            if let other = request.other {
                guard !request.isBodyTooLong else {
                    return reply.send(APIProblem(413, "the body is too long").response)
                }
                return answer(other, from: connections[key]?.peer, reply)
            }
            guard let connection = connections[key] else { return }
            let id = request.headers.id ?? request.requestID
            let start = ContinuousClock.now
            answer(request, over: connection, for: environment) { response in
                let route = request.target?.route ?? "other"
                self.counts.answered(request.method, route, status: response.status, ContinuousClock.now - start)
                var response = response
                if !response.fields.contains(where: { $0.name == "apns-id" }), let id {
                    response.fields.append(("apns-id", id))
                }
                reply.send(response)
            }
        case .closed:
            connections[key] = nil
        case .served, .refused, .goAway:
            break
        }
    }

    /// Answers a request that is none of APNs': the interface in JSON, over HTTP/2.
    private func answer(_ request: HTTPRequest, from peer: String?, _ reply: APNsReply) {
        Task {
            switch await RelayAPI(self, over: .listen).answer(request, from: peer) {
            case .whole(let response): reply.send(response)
            case .pieces(let fields, let pieces) where fields["content-type"] != "text/event-stream":
                var body: [UInt8] = []
                for await piece in pieces { body += piece }
                reply.send(HTTPResponse(status: 200, fields: fields, body: body))
            case .pieces:
                reply.send(APIProblem(501, "events are told over HTTP/1.1").response)
            }
        }
    }

    /// Notes that a caller of the interface in JSON was answered, without waiting for a loop that may be stuck.
    nonisolated func noteAnswer(_ method: String, _ route: String, status: Int, _ time: Duration) {
        loop.execute { [weak self] in
            self?.assumeIsolated { $0.counts.answered(method, route, status: status, time) }
        }
    }

    /// The caller of the interface in JSON; nil, and logged with the client's address if the listener reports it, when
    /// the credentials are not valid.
    func caller(_ authorization: String?, from peer: String? = nil) -> Callers.Caller? {
        guard let caller = currentCaller(authorization) else {
            noteRefusal(of: peer)
            return nil
        }
        return caller
    }

    /// Whether the credentials of a request in JSON are not valid, which is logged; known before its body has come.
    nonisolated func refuses(_ authorization: String?, from peer: String? = nil) -> Bool {
        guard currentCaller(authorization) == nil else { return false }
        loop.execute { [weak self] in self?.assumeIsolated { $0.noteRefusal(of: peer) } }
        return true
    }

    /// The caller with these credentials; nil when they are not valid.
    nonisolated func currentCaller(_ authorization: String?) -> Callers.Caller? {
        let caller = callers.caller(authorization)
        return caller.flatMap { $0.isCurrent(at: now / 1_000) ? $0 : nil }
    }

    /// Counts and logs that a caller was rejected; the peer is nil when the listener does not report addresses.
    private func noteRefusal(of peer: String?) {
        counts.refusedCallers += 1
        guard let heldBack = refusals.take(at: now) else { return }
        log.warning(
            "a caller was refused: it shows no key of this relay",
            ["peer": .string(peer ?? "http"), "not-logged": heldBack > 0 ? .whole(heldBack) : nil]
        )
    }

    private func answer(
        _ request: APNsRequest,
        over connection: RelayConnection,
        for environment: PushEnvironment,
        _ reply: @escaping (APNsResponse) -> Void
    ) {
        if connection.authorization != request.authorization {
            connection.authorization = request.authorization
            connection.caller = callers.caller(request.authorization)
            if connection.caller == nil { noteRefusal(of: connection.peer) }
        }
        guard request.authorization != nil else { return reply(.refused(.missingProviderToken)) }
        let isAboutChannels =
            switch request.target {
            case .channels, .allChannels: true
            default: false
            }
        guard let caller = connection.caller, isAboutChannels || caller.scopes.contains(.send) else {
            return reply(.refused(.invalidProviderToken))
        }
        let now = now
        guard caller.isCurrent(at: now / 1_000) else { return reply(.refused(.expiredProviderToken)) }
        guard !isDraining else { return reply(.refused(.shutdown, retryAfter: 1)) }
        // Before the push is looked at, so that refusing costs little.
        let app = caller.apps.count == 1 ? caller.apps.first : nil
        let verdict = gate.verdict(on: 1, load(of: app, by: caller), at: now)
        if case .refuse(_, let seconds) = verdict {
            counts.shed += 1
            return reply(.refused(.serviceUnavailable, retryAfter: seconds))
        }
        let ingress = APNsIngress(callers: callers, environment: environment)
        let id = APNsID(milliseconds: now, randomBits: (generator.next(), generator.next()))
        switch ingress.verdict(on: request, from: caller, id: id, at: now, hasLane: openLanes.contains) {
        case .refused(let reason): reply(.refused(reason))
        case .channels(let lane, let bundle, let isList):
            pass(request, lane, bundle, isList: isList, id: id, reply)
        case .push(let push):
            let waits = !request.prefersAsync && verdict == .take(mayWait: true)
            accept([push]) { result in self.accepted(push, result, waitingFor: waits ? caller : nil, reply) }
        }
    }
}

/// What becomes of a push that a caller has handed in.
extension PushRelay {
    fileprivate func accepted(
        _ push: OutboxPush,
        _ result: Result<ArraySlice<Acceptance>, OutboxError>,
        waitingFor caller: Callers.Caller?,
        _ reply: @escaping (APNsResponse) -> Void
    ) {
        let known: PushStatus?
        switch result.map(\.first) {
        case .success(.accepted), .success(nil):
            known = nil
        case .success(.duplicate(let status)):
            known = status
        case .success(.conflict):
            return reply(.refused(.badMessageID))
        case .success(.suppressed(let dead)):
            return reply(.refused(.unregistered, timestamp: dead.since ?? dead.learntAt))
        case .success(.full):
            return reply(.refused(.serviceUnavailable, retryAfter: 30))
        case .failure:
            return reply(.refused(.serviceUnavailable, retryAfter: 5))
        }
        if case .ended(let outcome, _)? = known?.place { return reply(.ended(outcome, push)) }
        guard let caller, configuration.answerTime > .zero else { return reply(.kept(push)) }
        wait(waiters.makeNumber(), for: push.id, of: push.lane.app, by: caller, within: configuration.answerTime) {
            outcome in
            reply(outcome.map { .ended($0, push) } ?? .kept(push))
        }
    }

    /// Sends a request about channels to Apple, and its answer back: nothing of it is kept.
    fileprivate func pass(
        _ request: APNsRequest,
        _ lane: Lane,
        _ bundle: String,
        isList: Bool,
        id: APNsID,
        _ reply: @escaping (APNsResponse) -> Void
    ) {
        guard let client = clients[lane]?.client else { return reply(.refused(.topicMismatch)) }
        let channel = request.channelID.map { ChannelID($0) }
        let ownID = request.requestID.flatMap { try? APNsID($0) } ?? id
        let target = ForwardedRequest.Target.channels(method: request.method, bundle: bundle, channel, isList: isList)
        Task {
            do throws(APNsError) {
                let answer = try await client.forward(ForwardedRequest(target, id: ownID, body: request.body))
                counts.channelRequests += 1
                reply(APNsResponse(answer))
            } catch {
                reply(APNsResponse(error, id: ownID))
            }
        }
    }
}

extension APNsRequest.Target {
    /// The path, without what tells one device or app from another.
    fileprivate var route: String {
        switch self {
        case .device: "/3/device/{token}"
        case .broadcast: "/4/broadcasts/apps/{bundle}"
        case .channels: "/1/apps/{bundle}/channels"
        case .allChannels: "/1/apps/{bundle}/all-channels"
        }
    }
}

extension APNsResponse {
    /// A refusal of the relay's own, in Apple's words.
    fileprivate static func refused(_ reason: Reason, timestamp: Int64? = nil, retryAfter: Int? = nil) -> APNsResponse {
        let fields = retryAfter.map { [(name: "retry-after", value: String($0))] } ?? []
        return APNsResponse(status: reason.status ?? 400, reason: reason, timestamp: timestamp, fields: fields)
    }

    /// The push is kept; Apple has not answered yet.
    fileprivate static func kept(_ push: OutboxPush) -> APNsResponse {
        APNsResponse(status: 200, fields: push.identity + [("x-martlet-state", "accepted")])
    }

    /// How the push has ended: in Apple's words where they are Apple's.
    fileprivate static func ended(_ outcome: Outcome, _ push: OutboxPush) -> APNsResponse {
        var fields = push.identity
        if let uniqueID = outcome.uniqueID { fields.append(("apns-unique-id", uniqueID)) }
        if outcome.unknownTries > 0 { fields.append(("x-martlet-unknown-tries", String(outcome.unknownTries))) }
        guard outcome.state == .refused else {
            if outcome.state != .delivered { fields.append(("x-martlet-state", outcome.state.rawValue)) }
            return APNsResponse(status: 200, fields: fields)
        }
        return APNsResponse(
            status: outcome.status ?? 400,
            reason: outcome.reason.map(Reason.init(rawValue:)),
            timestamp: outcome.unregisteredAt,
            fields: fields
        )
    }

    /// Apple's answer to a request that went through.
    fileprivate init(_ answer: ForwardedAnswer) {
        let identifiers = [
            ("apns-request-id", answer.fields["apns-request-id"]),
            ("apns-channel-id", answer.fields["apns-channel-id"]),
        ]
        let fields = identifiers.compactMap { name, value in value.map { (name: name, value: $0) } }
        self.init(status: answer.fields.status, fields: fields, body: try? JSONReader.read(answer.body))
    }

    fileprivate init(_ error: APNsError, id: APNsID) {
        let reason = error.reason ?? .serviceUnavailable
        self.init(status: error.status ?? 503, reason: reason, fields: [("apns-request-id", id.description)])
    }
}

extension OutboxPush {
    /// The field that tells which push is answered.
    fileprivate var identity: [(name: String, value: String)] {
        switch destination {
        case .device: [("apns-id", id.description)]
        case .channel: [("apns-request-id", id.description)]
        }
    }
}

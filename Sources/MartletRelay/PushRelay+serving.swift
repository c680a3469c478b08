internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletServer
internal import MartletTransport

/// A connection of a client, with the caller that it was identified as.
final class RelayConnection {
    /// The credentials of the last request, with the caller that they identify: clients send the same for an hour.
    fileprivate var lookup: (authorization: String?, caller: Callers.Caller?)?
    /// Whether the unusual form of the provider token was logged, which is done once for each connection.
    fileprivate var hasUnusualToken = false
    /// The certificate of the client; nil without one, or when the client must reconnect to show it again.
    fileprivate var certificate: CertificateFacts?
    fileprivate let client: ClientConnection

    fileprivate init(_ client: ClientConnection) {
        self.client = client
        certificate = client.certificate
    }

    /// Returns the reason to reject a request that identifies no caller.
    fileprivate func refusal(of authorization: String?) -> Reason {
        if let authorization, APNsRequest.hasCredential(authorization) { return .invalidProviderToken }
        return client.certificate == nil ? .missingProviderToken : .badCertificate
    }
}

/// Serving of the APNs protocol.
extension PushRelay {
    func handle(_ event: APNsListener.Event, from connection: ClientConnection, for environment: PushEnvironment) {
        let key = ObjectIdentifier(connection)
        switch event {
        case .opened:
            connections[key] = RelayConnection(connection)
        case .request(let request, let reply):
            if let other = request.other, RelayAPI.hasPath(of: other) {
                guard !request.isBodyTooLong else {
                    return reply.send(APIProblem(413, "the body is too long").response)
                }
                return answer(other, from: connections[key]?.client.peer, reply)
            }
            guard let connection = connections[key] else { return }
            let freshID = APNsID(milliseconds: now, randomBits: (generator.next(), generator.next()))
            // APNs returns an identifier in lower case, which is the canonical form.
            let id = request.ownID?.lowercased() ?? freshID.description
            let start = ContinuousClock.now
            let caller = request.target == nil ? nil : self.caller(request.authorization, over: connection)
            answer(request, freshID, from: caller, over: connection, for: environment) { response in
                let time = ContinuousClock.now - start
                let (route, name) = (request.target?.route ?? "other", caller?.name ?? CallerCounts.other)
                self.counts.answered(request.method, route, status: response.status, time, by: name)
                var response = response
                response.identify(request, as: id)
                reply.send(response)
            }
        case .closed(let error):
            if connections.removeValue(forKey: key) == nil { noteFailedHandshake(error, of: connection.peer) }
        case .served, .unreadable, .refused, .goAway:
            break
        }
    }

    /// Counts and logs a client whose TLS handshake failed, for instance because it does not trust the certificate.
    private func noteFailedHandshake(_ error: WireError, of peer: String) {
        // A probe of a load balancer opens a connection and closes it.
        guard error.kind != .closedByPeer, error.kind != .closedLocally else { return }
        counts.failedHandshakes += 1
        guard let heldBack = failedHandshakes.take(at: now) else { return }
        log.info(
            "handshake failed",
            [
                "peer": .string(peer), "error": .string("\(error)"),
                "not-logged": heldBack > 0 ? .whole(heldBack) : nil,
            ]
        )
    }

    /// Answers a request that is not part of the APNs protocol: the JSON API over HTTP/2.
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

    /// Counts an answered request to the JSON API, without waiting for the event loop, which may be stuck.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - route: The path without identifiers.
    ///   - status: The HTTP status.
    ///   - start: The time at which the request was read.
    ///   - caller: The name of the caller; nil for a request that needs none.
    nonisolated func noteAnswer(
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
        let reason = caller?.refusal(at: now / 1_000)
        if let caller, reason == nil { return caller }
        let refusal =
            caller?.refusal(for: reason ?? .expiredProviderToken) ?? callers.refusal(of: authorization)
        loop.execute { [weak self] in self?.assumeIsolated { $0.noteRefusal(refusal, of: peer) } }
        throw refusal
    }

    /// Returns the caller with these credentials; nil when they are not valid.
    nonisolated func currentCaller(_ authorization: String?) -> Callers.Caller? {
        let caller = callers.caller(authorization)
        return caller.flatMap { $0.refusal(at: now / 1_000) == nil ? $0 : nil }
    }

    /// Counts and logs a rejected caller; the peer is nil when the listener does not report addresses.
    private func noteRefusal(_ refusal: CallerRefusal, of peer: String?, certificate: CertificateFacts? = nil) {
        // A caller that is known is counted under its name.
        if refusal.caller == nil { counts.refusedCallers += 1 }
        guard let heldBack = refusals[refusal.cause, default: LogThrottle()].take(at: now) else { return }
        func bounded(_ text: String?) -> JSONValue? { text.map { .string($0.bounded) } }
        log.warning(
            "caller rejected",
            [
                "cause": .string(refusal.cause.rawValue), "peer": .string(peer ?? "http"),
                "caller": bounded(refusal.caller), "key-id": bounded(refusal.keyID),
                "team-id": bounded(refusal.teamID), "bundle-id": bounded(refusal.bundle),
                "certificate-sha256": certificate.map { .string($0.fingerprint) },
                "certificate-subject": certificate.map { .string($0.subject) },
                "not-logged": heldBack > 0 ? .whole(heldBack) : nil,
            ]
        )
    }

    /// Logs the numbers of rejected callers that no later line has told within half a minute.
    func logOmittedRefusals(at now: Int64) {
        for cause in CallerRefusal.Cause.allCases {
            guard let count = refusals[cause]?.takeOmitted(at: now) else { continue }
            log.warning("caller rejected", ["cause": .string(cause.rawValue), "not-logged": .whole(count)])
        }
    }

    /// Returns the caller of a request over the APNs protocol; nil, and logged, for an unknown one.
    private func caller(_ authorization: String?, over connection: RelayConnection) -> Callers.Caller? {
        if let lookup = connection.lookup, lookup.authorization == authorization { return lookup.caller }
        // With a valid certificate APNs ignores `authorization` ("Sending notification requests to APNs").
        let caller = connection.certificate.flatMap { callers.caller($0) } ?? callers.caller(authorization)
        connection.lookup = (authorization, caller)
        if let caller {
            noteDeviations(of: caller, over: connection)
        } else {
            let certificate = authorization == nil ? connection.client.certificate : nil
            let refusal =
                certificate == nil
                ? callers.refusal(of: authorization) : CallerRefusal(cause: .unknownCertificate)
            noteRefusal(refusal, of: connection.client.peer, certificate: certificate)
        }
        return caller
    }

    /// Counts and logs a provider token of a form that Apple's documentation does not describe.
    private func noteDeviations(of caller: Callers.Caller, over connection: RelayConnection) {
        guard !caller.deviations.isEmpty, !connection.hasUnusualToken else { return }
        connection.hasUnusualToken = true
        for deviation in caller.deviations { counts.unusualTokens[deviation, default: 0] += 1 }
        guard let heldBack = unusualTokens.take(at: now) else { return }
        log.info(
            "unusual provider token",
            [
                "peer": .string(connection.client.peer), "caller": .string(caller.name),
                "deviations": .string(caller.deviations.map(\.description).joined(separator: "; ")),
                "not-logged": heldBack > 0 ? .whole(heldBack) : nil,
            ]
        )
    }

    /// Clears the cached callers of all connections, after the configuration has changed.
    ///
    /// - Parameter haveAuthoritiesChanged: Whether other authorities issue certificates now. Clients with a certificate
    ///   then have to connect again, since a certificate is verified in the handshake.
    func forgetCallers(haveAuthoritiesChanged: Bool) {
        for connection in connections.values {
            connection.lookup = nil
            guard haveAuthoritiesChanged, connection.certificate != nil else { continue }
            connection.certificate = nil
            connection.client.shutDown(debugData: [])
        }
    }

    private func answer(
        _ request: APNsRequest,
        _ id: APNsID,
        from caller: Callers.Caller?,
        over connection: RelayConnection,
        for environment: PushEnvironment,
        _ reply: @escaping (APNsResponse) -> Void
    ) {
        guard request.target != nil else { return reply(.rejected(.badPath)) }
        let isAboutChannels =
            switch request.target {
            case .channels, .allChannels: true
            default: false
            }
        guard let caller else {
            return reply(.rejected(connection.refusal(of: request.authorization)))
        }
        guard isAboutChannels || caller.scopes.contains(.send) else { return reply(.rejected(.invalidProviderToken)) }
        let now = now
        if let reason = caller.refusal(at: now / 1_000) {
            noteRefusal(caller.refusal(for: reason), of: connection.client.peer)
            return reply(.rejected(reason))
        }
        guard !isDraining else { return reply(.rejected(.shutdown, retryAfter: 1)) }
        // Before the push is checked, so that a refusal is cheap.
        let app = caller.apps.count == 1 ? caller.apps.first : nil
        let verdict = gate.verdict(on: 1, load(of: app, by: caller), at: now)
        if case .refuse(let refusal, let seconds) = verdict {
            counts.refused(1, by: caller.name, refusal)
            return reply(.rejected(.serviceUnavailable, retryAfter: seconds))
        }
        var request = request
        if case .device? = request.target, request.headers.topic == nil { request.headers.topic = caller.defaultTopic }
        let ingress = APNsIngress(callers: callers, environment: environment)
        switch ingress.verdict(on: request, from: caller, id: id, at: now, hasLane: openLanes.contains) {
        case .refused(let reason): reply(.rejected(reason))
        case .foreign(let reason, let bundle):
            let refusal = CallerRefusal(cause: .foreignTopic, caller: caller.name, bundle: bundle)
            noteRefusal(refusal, of: connection.client.peer)
            reply(.rejected(reason))
        case .channels(let lane, let bundle, let isList):
            pass(request, lane, bundle, isList: isList, id: id) { response in
                if request.method != "GET" {
                    let peer = connection.client.peer
                    self.log.audit(AuditEntry(request, lane, from: caller, peer: peer, response))
                }
                reply(response)
            }
        case .push(let push):
            let waits = !request.prefersAsync && verdict == .take(mayWait: true)
            accept([push]) { result, _ in self.accepted(push, result, from: caller, waits: waits, reply) }
        }
    }
}

/// Answers to pushes over the APNs protocol.
extension PushRelay {
    fileprivate func accepted(
        _ push: OutboxPush,
        _ result: Result<ArraySlice<Acceptance>, OutboxError>,
        from caller: Callers.Caller,
        waits: Bool,
        _ reply: @escaping (APNsResponse) -> Void
    ) {
        let known: PushStatus?
        switch result.map(\.first) {
        case .success(.accepted), .success(nil):
            known = nil
        case .success(.duplicate(let status)):
            known = status
        case .success(.conflict):
            return reply(.rejected(.badMessageID))
        case .success(.suppressed(let dead)):
            return reply(.suppressed(dead))
        case .success(.full):
            counts.shed(1, by: caller.name)
            return reply(.rejected(.serviceUnavailable, retryAfter: 30))
        case .failure:
            counts.callers.notStored(1, by: caller.name)
            return reply(.rejected(.serviceUnavailable, retryAfter: 5))
        }
        if case .ended(let outcome, _)? = known?.place { return reply(.ended(outcome)) }
        guard waits, configuration.answerTime > .zero else { return reply(.accepted) }
        wait(waiters.makeNumber(), for: push.id, of: push.lane.app, by: caller, within: configuration.answerTime) {
            end in
            reply(end.map { .ended($0.outcome) } ?? .accepted)
        }
    }

    /// Forwards a request about channels to Apple and returns Apple's answer; nothing is stored.
    fileprivate func pass(
        _ request: APNsRequest,
        _ lane: Lane,
        _ bundle: String,
        isList: Bool,
        id: APNsID,
        _ reply: @escaping (APNsResponse) -> Void
    ) {
        guard let client = clients[lane]?.client else { return reply(.rejected(.topicMismatch)) }
        let channel = request.channelID.map { ChannelID($0) }
        let ownID = request.ownID.flatMap { try? APNsID($0, allowsUpperCase: true) } ?? id
        let target = ForwardedRequest.Target.channels(method: request.method, bundle: bundle, channel, isList: isList)
        Task {
            do throws(APNsError) {
                let answer = try await client.forward(ForwardedRequest(target, id: ownID, body: request.body))
                counts.channelRequests += 1
                reply(APNsResponse(answer))
            } catch {
                reply(APNsResponse(error))
            }
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

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletServer
internal import MartletTransport

/// Pushes over the APNs protocol.
extension RelayServer {
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
                return answerJSON(other, match, from: client, reply)
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
            if connections.removeValue(forKey: key) == nil { recordFailedHandshake(error, of: client.peer) }
        case .served, .unreadable, .refused, .goAway:
            break
        }
    }

    /// Answers a request over the APNs protocol, after the checks that need only its header fields.
    private func answer(_ pending: PendingRequest) {
        let now = context.now
        let authorization = APNsAuthorization(isDraining: isDraining)
        switch authorization.decision(
            on: pending.request,
            from: pending.caller,
            rejection: pending.connection.rejection,
            at: now
        ) {
        case .rejected(let reason, let retryAfter):
            finish(pending, .rejected(reason, retryAfter: retryAfter))
        case .invalidCredentials(let refusal, let reason):
            recordRefusal(refusal, of: pending.connection.peer)
            finish(pending, .rejected(reason))
        case .passed(let caller):
            answer(pending, from: caller, at: now)
        }
    }

    private func answer(_ pending: PendingRequest, from caller: Callers.Caller, at now: Int64) {
        let decision = intake.assumeIsolated { $0.decision(onRequestOf: caller) }
        if case .refuse(_, let seconds) = decision {
            return finish(pending, .rejected(.serviceUnavailable, retryAfter: seconds))
        }
        var request = pending.request
        if case .device? = request.target, request.headers.topic == nil { request.headers.topic = caller.defaultTopic }
        let ingress = APNsIngress(callers: callers, environment: pending.environment)
        switch ingress.decision(on: request, from: caller, id: pending.freshID, at: now, hasLane: openLanes.contains) {
        case .refused(let reason): finish(pending, .rejected(reason))
        case .notPermitted(let reason, let bundle):
            let refusal = CallerRefusal(cause: .topicOfAnotherApp, caller: caller.name, bundle: bundle)
            recordRefusal(refusal, of: pending.connection.peer)
            finish(pending, .rejected(reason))
        case .channels(let lane, let bundle, let isList):
            forwardToApple(pending, lane, bundle, isList: isList)
        case .push(let push):
            let mayWait = !request.prefersAsync && decision == .take(mayWait: true)
            // The client of a push that cannot end in time is answered at once.
            let waits = mayWait && !holdsNewPushes(of: push.lane)
            var pending = pending
            // The push has the body; the request may wait for Apple's answer for long.
            pending.request.body = []
            let number = pendingRequests.add(pending)
            intake.assumeIsolated { intake in
                intake.accept([HashedPush(push)], from: caller.name) { result, _ in
                    self.assumeIsolated { $0.accepted(push, result, for: number, waits: waits) }
                }
            }
        }
    }

    /// Returns whether a push that is stored now waits for an operator who has paused its lane, or for the end of an
    /// outage.
    ///
    /// During an outage of this relay, another one with the same outbox may reach Apple.
    private func holdsNewPushes(of lane: Lane) -> Bool {
        dispatcher.assumeIsolated { dispatcher in
            guard let state = dispatcher.machine.lanes[lane] else { return false }
            if state.isPausedManually { return true }
            return dispatcher.context.sharedOutbox == nil && state.holdsNewPushes(at: dispatcher.context.now)
        }
    }

    private func accepted(
        _ push: OutboxPush,
        _ result: Result<ArraySlice<Acceptance>, OutboxError>,
        for number: Int,
        waits: Bool
    ) {
        guard var pending = pendingRequests.take(number) else { return }
        switch result.map(\.first) {
        case .success(.accepted?), .success(.superseding?), .success(.duplicate?):
            pending.notes = push.notes(at: context.now).map(\.rule)
        default: break
        }
        if let response = APNsResponse(result.map(\.first)) { return finish(pending, response) }
        let time = context.configuration.answerTime
        guard waits, time > .zero, let caller = pending.caller else { return finish(pending, .accepted) }
        let waiting = pendingRequests.add(pending)
        intake.assumeIsolated { intake in
            intake.wait(for: push.id, of: push.lane.app, by: caller, within: time) { push in
                self.assumeIsolated { server in
                    guard let pending = server.pendingRequests.take(waiting) else { return }
                    server.finish(pending, push?.outcome.map(APNsResponse.ended) ?? .accepted)
                }
            }
        }
    }

    /// Counts a request and sends its response.
    func finish(_ pending: PendingRequest, _ response: APNsResponse) {
        let request = pending.request
        counts.answered(
            request.method,
            request.target?.route ?? "other",
            status: response.status,
            ContinuousClock.now - pending.start,
            by: pending.caller?.name ?? CallerCounter.other
        )
        var response = response
        response.identify(request, orAs: pending.freshID)
        if !pending.notes.isEmpty {
            response.fields.append((APNsResponse.notesField, pending.notes.joined(separator: ", ")))
        }
        pending.reply.send(response)
    }
}

extension APNsResponse {
    /// Creates the response for the answer of the outbox to a push; nil when the push is stored and has not ended.
    fileprivate init?(_ result: Result<Acceptance?, OutboxError>) {
        switch result {
        case .success(.accepted), .success(.superseding), .success(nil): return nil
        case .success(.duplicate(let status)):
            guard let outcome = status.outcome else { return nil }
            self = .ended(outcome)
        case .success(.conflict): self = .rejected(.badMessageID)
        case .success(.suppressed(let token)): self = .suppressed(token)
        case .success(.full): self = .rejected(.serviceUnavailable, retryAfter: 30)
        // A push of an APNs client is to a token, so it has no former user, and no limit of alerts.
        case .success(.vanished), .success(.contested), .success(.formerUser), .success(.limited):
            self = .rejected(.serviceUnavailable, retryAfter: 1)
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

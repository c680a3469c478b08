internal import APNs
internal import APNsServer
internal import Outbox

/// What a relay makes of a request in APNs' own language: a value without I/O.
///
/// It answers as Apple would where the answer can be known: a push that is sure to be refused is refused at once.
struct APNsIngress {
    /// What is to be done with a request.
    enum Verdict: Equatable {
        /// It is refused, as Apple would.
        case refused(Reason)
        /// It is a push to be kept.
        case push(OutboxPush)
        /// It is about channels, and goes through to Apple.
        case channels(Lane, bundle: String, isList: Bool)
    }

    let callers: Callers
    let environment: PushEnvironment

    /// What is to be done with a request of a caller who is known.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - caller: Who sends it.
    ///   - id: The identifier that it gets when it brings none.
    ///   - now: Milliseconds since 1970.
    ///   - hasLane: Whether there is a lane.
    /// - Returns: The verdict.
    func verdict(
        on request: APNsRequest,
        from caller: Callers.Caller,
        id: APNsID,
        at now: Int64,
        hasLane: (Lane) -> Bool
    ) -> Verdict {
        guard let target = request.target else { return .refused(.badPath) }
        guard request.duplicatedField == nil else { return .refused(.duplicateHeaders) }
        switch target {
        case .device(let token):
            guard request.method == "POST" else { return .refused(.methodNotAllowed) }
            if let reason = Lint.firstRefusal(headers: request.headers, payload: request.body) {
                return .refused(reason)
            }
            guard let token = try? DeviceToken(hex: token) else {
                return .refused(token.isEmpty ? .missingDeviceToken : .badDeviceToken)
            }
            let bundle = Topic(request.headers.topic ?? "").bundleIdentifier
            guard let lane = lane(ofBundle: bundle, for: caller, hasLane) else { return .refused(.topicDisallowed) }
            return keep(request, .device(token), in: lane, id: id, at: now)
        case .broadcast(let app):
            guard request.method == "POST" else { return .refused(.methodNotAllowed) }
            let bundle = String(app)
            if let reason = broadcastProblem(request, bundle) { return .refused(reason) }
            let channel = ChannelID(request.channelID ?? "")
            guard let lane = lane(ofBundle: bundle, for: caller, hasLane) else { return .refused(.topicMismatch) }
            return keep(request, .channel(channel, bundle: bundle), in: lane, id: id, at: now)
        case .channels(let app), .allChannels(let app):
            let isList = if case .allChannels = target { true } else { false }
            guard let lane = lane(ofBundle: String(app), for: caller, hasLane) else { return .refused(.topicMismatch) }
            guard caller.maySendAboutChannels(request.method) else { return .refused(.invalidProviderToken) }
            return .channels(lane, bundle: String(app), isList: isList)
        }
    }

    private func broadcastProblem(_ request: APNsRequest, _ bundle: String) -> Reason? {
        Lint.firstRefusal(broadcastTo: bundle, channel: request.channelID, headers: request.headers)
            ?? Lint.firstRefusal(broadcastPayload: request.body)
    }

    private func lane(
        ofBundle bundle: String,
        for caller: Callers.Caller,
        _ hasLane: (Lane) -> Bool
    ) -> Lane? {
        guard let app = callers.app(ofBundle: bundle), caller.apps.contains(app) else { return nil }
        let lane = Lane(app: app, environment: environment)
        return hasLane(lane) ? lane : nil
    }

    private func keep(
        _ request: APNsRequest,
        _ destination: PushDestination,
        in lane: Lane,
        id: APNsID,
        at now: Int64
    ) -> Verdict {
        let ownID: APNsID?
        do throws(APNsIDError) {
            ownID = try request.ownID.map { (text) throws(APNsIDError) in try APNsID(text, allowsUpperCase: true) }
        } catch {
            return .refused(.badMessageID)
        }
        var headers = request.headers
        headers.id = nil
        return .push(
            OutboxPush(
                lane: lane,
                id: ownID ?? id,
                hasCallersID: ownID != nil,
                destination: destination,
                headers: headers,
                payload: request.body,
                expiresAt: PushAdmission.end(headers.expiration, at: now),
                orderKey: PushAdmission.orderKey(destination, headers),
                traceParent: request.traceParent.flatMap(TraceContext.init)?.text
            )
        )
    }
}

/// What a push's own words mean for how it is kept.
enum PushAdmission {
    /// How long a push is worth trying that Apple is to try once.
    private static let attemptOnceTime: Int64 = 60_000

    /// When a push is of no use any more, by the text of `apns-expiration`; nil when that never happens.
    ///
    /// Apple tries a push once whose time is over, and so does the relay, for a minute.
    static func end(_ expiration: String?, at now: Int64) -> Int64? {
        guard let seconds = expiration.flatMap({ Int64($0) }) else { return nil }
        let (milliseconds, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000)
        let end = isTooMuch ? (seconds < 0 ? .min : .max) : milliseconds
        return max(end, now + attemptOnceTime)
    }

    /// What a push keeps its order with: its activity, its channel or its collapse identifier; nil without any.
    static func orderKey(_ destination: PushDestination, _ headers: PushHeaders) -> String? {
        switch destination {
        case .channel(let channel, let bundle): return "channel \(bundle) \(channel)"
        case .device(let token):
            if headers.pushType == PushType.liveActivity.rawValue { return "activity \(token.hex)" }
            return headers.collapseID.map { "collapse \(token.hex) \($0)" }
        }
    }
}

extension APNsRequest {
    /// The identifier that the client chose, in whatever form; nil when it chose none.
    ///
    /// Apple's samples of broadcasts have `apns-id` in one place and `apns-request-id` in another.
    var ownID: String? { hasRequestID ? requestID ?? headers.id : headers.id }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletServer

/// The handling of a request over the APNs protocol.
///
/// It answers as Apple would where the answer is certain: a push that Apple would reject is rejected at once. So is a
/// payload that is not a JSON object, although Apple documents an answer only for broadcasts.
struct APNsIngress {
    /// The decision about a request.
    enum Decision: Equatable {
        /// The request is rejected, as by Apple.
        case refused(APNsReason)
        /// The request is for an app that the caller has no right to, or that the relay does not serve.
        case notPermitted(APNsReason, bundle: String)
        /// The request is a push to be stored.
        case push(OutboxPush)
        /// The request is about channels and is forwarded to Apple.
        case channels(Lane, bundle: String, isList: Bool)
    }

    let callers: Callers
    let environment: PushEnvironment

    /// Decides about a request of a known caller; the identifier is for a push without one.
    func decision(
        on request: APNsRequest,
        from caller: Callers.Caller,
        id: APNsID,
        at now: Int64,
        hasLane: (Lane) -> Bool
    ) -> Decision {
        guard let target = request.target else { return .refused(.badPath) }
        if let reason = target.reason(forMethod: request.method) { return .refused(reason) }
        if let field = request.duplicatedField, let reason = target.reason(forRepeated: field) {
            return .refused(reason)
        }
        if request.hasMalformedRequestID { return .refused(.badMessageID) }
        switch target {
        case .device(let token):
            if let reason = PushLint.firstReasonNotToSend(headers: request.headers, payload: request.body) {
                return .refused(reason)
            }
            guard let token = try? DeviceToken(hex: token) else {
                return .refused(token.isEmpty ? .missingDeviceToken : .badDeviceToken)
            }
            let bundle = Topic(request.headers.topic ?? "").bundleIdentifier
            guard let lane = lane(ofBundle: bundle, for: caller, hasLane) else {
                return .notPermitted(.topicDisallowed, bundle: bundle)
            }
            return push(request, .device(token), in: lane, id: id, at: now)
        case .broadcast(let app):
            let bundle = String(app)
            if let reason = broadcastProblem(request, bundle) { return .refused(reason) }
            let channel = ChannelID(request.channelID ?? "")
            guard let lane = lane(ofBundle: bundle, for: caller, hasLane) else {
                return .notPermitted(.topicMismatch, bundle: bundle)
            }
            return push(request, .channel(channel, bundle: bundle), in: lane, id: id, at: now)
        case .channels(let app), .allChannels(let app):
            let isList = if case .allChannels = target { true } else { false }
            let bundle = String(app)
            let needsChannel = !isList && request.method != "POST"
            if let reason = PushLint.firstRefusal(app: bundle, channel: request.channelID, needsChannel: needsChannel) {
                return .refused(reason)
            }
            guard let lane = lane(ofBundle: bundle, for: caller, hasLane) else {
                return .notPermitted(.topicMismatch, bundle: bundle)
            }
            guard caller.maySendAboutChannels(request.method) else { return .refused(.invalidProviderToken) }
            return .channels(lane, bundle: bundle, isList: isList)
        }
    }

    private func broadcastProblem(_ request: APNsRequest, _ bundle: String) -> APNsReason? {
        PushLint.firstReasonNotToSend(broadcastTo: bundle, channel: request.channelID, headers: request.headers)
            ?? PushLint.firstRefusal(broadcastPayload: request.body)
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

    /// Returns the push to store, or the refusal of an identifier that is not a UUID.
    private func push(
        _ request: APNsRequest,
        _ destination: PushDestination,
        in lane: Lane,
        id: APNsID,
        at now: Int64
    ) -> Decision {
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
                expiresAt: headers.expiry(at: now),
                orderKey: headers.orderKey(for: destination),
                traceParent: request.traceParent.flatMap(TraceContext.init)?.text
            )
        )
    }
}

extension APNsRequest {
    /// The identifier that the client chose, unchanged; nil when it chose none.
    ///
    /// Broadcasts and requests about channels have `apns-request-id`; their `apns-id` is ignored.
    var ownID: String? { hasRequestID ? requestID : headers.id }
}

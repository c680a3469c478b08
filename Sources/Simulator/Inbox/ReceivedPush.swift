public import APNs
internal import APNsServer

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One push that came in, with the answer it got.
public struct ReceivedPush: Sendable, Hashable {
    /// Counts up from 1 in the order of arrival.
    public let number: Int
    /// The time of arrival in seconds since 1970.
    package let time: Int64
    /// The time of arrival, in whole seconds.
    public var date: Date { Date(secondsSince1970: time) }
    /// When this simulator got it, which for one of an export is later, in seconds since 1970.
    let arrival: Int64
    /// Which of the simulator's connections it came over; they count up from 1, and 0 stands for the inbox's own page.
    public let connection: Int
    /// The device token as it stood in the path, whatever it was; empty for a broadcast.
    public let deviceToken: String
    /// The channel of a broadcast, as it was sent; nil for a push to a device.
    public let channel: ChannelID?
    /// The app of a broadcast, as it stood in the path; nil for a push to a device.
    public let app: String?
    /// The namespace it belongs to; nil for none.
    public let namespace: String?
    /// The headers that describe it, as they were sent; a topic that was left out is that of the client certificate.
    public let headers: PushHeaders
    /// The payload, cut off when it was far too long.
    public let payload: [UInt8]
    /// The status it was answered with; 0 when no answer was written to the connection, because of a fault or because
    /// the client did not wait for it.
    public internal(set) var status: Int
    /// The reason it was refused for; nil when it was accepted, or not answered.
    public internal(set) var reason: Reason?
    /// The `apns-id` of the answer.
    public let id: String
    /// The fault that affected the answer: the name of its action in JSON, such as `hang`, or the suffix of the device
    /// token, such as `00deaf`; nil when no fault did.
    public internal(set) var fault: String?
    /// Whether a ``Fault``, or the suffix of the device token, affected the answer.
    public var isDisturbed: Bool { fault != nil }
    /// The size of a payload that was cut off; nil when ``payload`` is all of it.
    var truncatedPayloadSize: TruncatedPayloadSize?
    /// What became of it after it was accepted, oldest first; empty for what was refused.
    public internal(set) var deliveries: [DeliveryEvent] = []
    /// What was wrong with it after the pushes before it, and by the contracts that were known then.
    var observations: [Lint.Finding] = []

    /// Adds what became of it, with the finding that comes of it; a broadcast that many devices ignore gets one.
    mutating func note(_ event: DeliveryEvent) {
        deliveries.append(event)
        guard let finding = event.finding, !observations.contains(where: { $0.rule == finding.rule }) else { return }
        observations.append(finding)
    }

    /// Notes that the answer was not written to the connection; ``deliveries`` stay, as APNs had taken the push.
    ///
    /// - Parameter loss: The cause.
    mutating func loseAnswer(to loss: AnswerLoss) {
        guard status != 0 else { return }
        observations.removeAll { $0.rule == Lint.Rule.answeredByFault.id }
        // A client can reset thousands of streams: no more memory than needed.
        observations.reserveCapacity(observations.count + 1)
        observations.append(RefusalRules.answerLost(status: status, to: loss))
        status = 0
        reason = nil
        fault = loss.fault?.name ?? fault
    }

    /// In place of a connection: it was sent from the page.
    static let noConnection = 0

    /// What is wrong with it or will be surprising on the phone, in the order of the rules.
    public var findings: [Lint.Finding] {
        // A request with another path or method is not a push, so the rules about pushes do not apply.
        let pathRules = [Lint.Rule.requestPathUnknown, .requestMethodWrong].map(\.id)
        if observations.contains(where: { pathRules.contains($0.rule) }) { return observations }
        let ownFindings =
            switch (app, truncatedPayloadSize) {
            case (nil, nil): Lint.check(headers: headers, payload: payload, at: date)
            case (nil, let size?): Lint.check(headers: headers, payloadSize: size, at: date)
            case (let app?, nil):
                Lint.check(
                    broadcastTo: app,
                    channel: channel?.rawValue,
                    headers: headers,
                    payload: payload,
                    at: date
                )
            case (let app?, let size?):
                Lint.check(
                    broadcastTo: app,
                    channel: channel?.rawValue,
                    headers: headers,
                    payloadSize: size,
                    at: date
                )
            }
        return ownFindings + observations
    }
}

extension ReceivedPush {
    /// A request that has been answered.
    init(
        _ request: APNsRequest,
        number: Int,
        answeredWith verdict: Judge.Verdict,
        id: String,
        fault: String?,
        in namespace: String?,
        over connection: Int,
        at now: Int64
    ) {
        self.number = number
        time = now
        arrival = now
        self.connection = connection
        deviceToken = request.deviceToken
        if case .broadcast(let app)? = request.target { self.app = String(app) } else { app = nil }
        channel = app == nil ? nil : ChannelID(request.channelID ?? "")
        self.namespace = namespace
        headers = request.headers
        payload = request.body
        if request.isBodyTooLong {
            // The client is answered before it has sent all, so its own statement is all that is known.
            let declared = request.declaredBodyByteCount.flatMap { $0 > request.body.count ? $0 : nil }
            truncatedPayloadSize = declared.map { .exactly($0) } ?? .atLeast(request.body.count + 1)
        }
        status = verdict.status
        reason = verdict.reason
        self.id = id
        self.fault = fault
    }
}

extension ReceivedPush {
    /// The app's bundle identifier: that of a broadcast's path, or the topic without what its push type adds.
    var bundleID: String? {
        (app ?? headers.topic).map { Topic($0).ofApp.rawValue }
    }

    /// Whether it is for a Live Activity; Apple's pages write the type in several ways, and a lenient simulator takes
    /// them.
    var isLiveActivity: Bool {
        app != nil || headers.resolvedPushType?.rawValue.lowercased() == PushType.liveActivity.rawValue
    }
}

extension APNsRequest {
    /// Whether the request is about an app's channels.
    var isAboutChannels: Bool {
        switch target {
        case .channels, .allChannels: true
        case .device, .broadcast, nil: false
        }
    }

    /// The device token as it stands in the path; empty for a request about none.
    var deviceToken: String {
        if case .device(let token)? = target { token } else { "" }
    }
}

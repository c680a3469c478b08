// SPDX-License-Identifier: Apache-2.0

public import MartletCore
internal import MartletServer

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A push that the simulator received, with its answer.
public struct ReceivedPush: Sendable, Hashable {
    /// The number of the push, from 1 in the order of arrival.
    public let number: Int
    /// The time of arrival in milliseconds since 1970.
    package let time: Int64
    /// The time of arrival, to the millisecond.
    public var date: Date { Date(millisecondsSince1970: time) }
    /// The time at which this simulator received it, in milliseconds since 1970; for an imported push, the time of the
    /// import.
    let arrival: Int64
    /// The simulator's connection that it came over, numbered from 1; 0 for a push sent from the inbox page.
    public let connection: Int
    /// The device token in the path, unchanged even if invalid; empty for a broadcast.
    public let deviceToken: String
    /// The token that ``deviceToken`` contains; nil for a broadcast, and for text that is not a token.
    public var token: DeviceToken? { try? DeviceToken(hex: deviceToken) }
    /// The channel of a broadcast, as the client sent it; nil for a push to a device.
    public let channel: ChannelID?
    /// The app of a broadcast, as in the path; nil for a push to a device.
    public let app: String?
    /// The namespace that it belongs to; nil for none.
    public let namespace: String?
    /// The headers that describe it, as the client sent them; a missing topic is that of the client certificate.
    public let headers: PushHeaders
    /// The priority that ``headers`` contain; nil without one, and for text that is not a number.
    public var priority: PushNotification.Priority? {
        headers.priority.flatMap { Int($0) }.map(PushNotification.Priority.init(rawValue:))
    }
    /// The payload, truncated if it was far too long.
    public let payload: [UInt8]
    /// The status of the answer; 0 when no answer was written to the connection, because of a fault or because the
    /// client did not wait for it.
    public internal(set) var status: Int
    /// The reason of a refusal; nil when the push was accepted, or not answered.
    public internal(set) var reason: APNsReason?
    /// The identifier in the answer: the `apns-id` of a push to a device, or the `apns-request-id` of a broadcast.
    public let id: String
    /// The fault that affected the answer: the name of its action in JSON, such as `hang`, or the suffix of the device
    /// token, such as `00deaf`; nil when no fault did.
    public internal(set) var fault: String?
    /// Whether a ``SimulatedAPNs/Fault``, or the suffix of the device token, affected the answer.
    public var wasFaulted: Bool { fault != nil }
    /// The size of a truncated payload; nil when ``payload`` is complete.
    var truncatedPayloadSize: PayloadSize?
    /// The delivery events after it was accepted, oldest first; empty for a refused push.
    public internal(set) var deliveries: [DeliveryEvent] = []
    /// The tags, the pin, and the nickname of the device.
    var labels = PushLabels()
    /// The stored findings, which depend on earlier pushes, on the contracts at its arrival, or on its delivery.
    var observations: [PushLint.Finding] = []
    /// The facts that follow from the request alone.
    let requestFacts = RequestFacts()

    /// Adds a delivery event and its finding; a broadcast that many devices ignore gets the finding once.
    mutating func record(_ event: DeliveryEvent) {
        deliveries.append(event)
        guard let finding = event.finding, !observations.contains(where: { $0.rule == finding.rule }) else { return }
        observations.append(finding)
    }

    /// Records that the answer was not written to the connection; ``deliveries`` stay, because APNs had accepted the
    /// push.
    mutating func loseAnswer(to loss: AnswerLoss) {
        guard status != 0 else { return }
        observations.removeAll { $0.rule == PushLint.Rule.answeredByFault.id }
        // A client can reset thousands of streams, so reserve no more memory than needed.
        observations.reserveCapacity(observations.count + 1)
        observations.append(RefusalRules.answerLost(status: status, to: loss))
        status = 0
        reason = nil
        fault = loss.fault?.name ?? fault
    }

    /// The payload as JSON, parsed at each access; nil when it is not valid JSON, or repeats a name.
    var content: JSONValue? { try? JSONReader.readPayload(payload) }
    /// The size of the payload in bytes; of a payload that was far too long, the least that it can be.
    var payloadByteCount: Int {
        switch truncatedPayloadSize {
        case .exactly(let count), .atLeast(let count): count
        case nil: payload.count
        }
    }
    /// Whether the push is a broadcast.
    var isBroadcast: Bool { app != nil }
    /// The headers with the identifier of a push to a device and of a broadcast.
    static let pushIDName = "apns-id"
    static let requestIDName = "apns-request-id"

    /// The ``connection`` of a push that was sent from the page.
    static let noConnection = 0

    /// The errors in the push, and behavior on the device that may be unexpected, in the order of the rules.
    public var findings: [PushLint.Finding] {
        (isPush ? requestFindings : []) + observations
    }

    /// The rules and severities of ``findings``, without evaluating the rules again for each list and query.
    var findingMarks: [FindingMark] {
        (isPush ? requestFacts.marks { requestFindings.map(FindingMark.init) } : [])
            + observations.map(FindingMark.init)
    }

    /// Whether the rules about pushes apply: a request with another path or method is not a push.
    private var isPush: Bool {
        let pathRules = [PushLint.Rule.requestPathUnknown, .requestMethodWrong].map(\.id)
        return !observations.contains { pathRules.contains($0.rule) }
    }

    /// The findings that depend only on the request.
    private var requestFindings: [PushLint.Finding] {
        let channel = channel?.rawValue
        return switch (app, truncatedPayloadSize) {
        case (nil, nil): PushLint.check(headers: headers, payload: payload, at: date)
        case (nil, let size?): PushLint.check(headers: headers, payloadSize: size, at: date)
        case (let app?, nil):
            PushLint.check(broadcastTo: app, channel: channel, headers: headers, payload: payload, at: date)
        case (let app?, let size?):
            PushLint.check(broadcastTo: app, channel: channel, headers: headers, payloadSize: size, at: date)
        }
    }
}

extension ReceivedPush: CustomStringConvertible {
    /// The push on one line: its number, type, destination, answer and payload.
    public var description: String {
        let type = headers.pushType ?? "no push type"
        let destination =
            if let channel, let app { "channel \(channel) of \(app)" } else {
                "\(deviceToken.prefix(8))… for \(headers.topic ?? "no topic")"
            }
        let answer = status == 0 ? "no answer" : reason.map { "\(status) \($0)" } ?? "\(status)"
        return "push \(number): \(type) to \(destination), \(answer), \(String(decoding: payload, as: UTF8.self))"
    }

    /// Decodes the payload.
    ///
    /// - Parameters:
    ///   - type: The type of the payload, or of the value at `key`: an app's own type, or `APS` for `aps`.
    ///   - key: The key of the value to decode; nil, the default, for the whole payload.
    ///   - decoder: The decoder. With nil, the default, a number is a date in seconds since 2001, as ActivityKit reads
    ///     it. Text in ISO 8601, with or without fractions of a second, is a date, too, unless `key` is `aps`: custom
    ///     data has such dates by default.
    /// - Returns: The value.
    /// - Throws: `DecodingError` if the payload is not valid JSON, or does not have the form of the type.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        at key: String? = nil,
        with decoder: JSONDecoder? = nil
    ) throws -> Value {
        let decoder = decoder ?? ReceivedPush.decoder(at: key)
        guard let key else { return try decoder.decode(type, from: Data(payload)) }
        return try decoder.decode(type, from: Data((content?[key] ?? .null).encoded()))
    }

    /// Returns the decoder for the value of a key, or for the whole payload.
    private static func decoder(at key: String?) -> JSONDecoder {
        let decoder = JSONDecoder()
        // ActivityKit does not read text in aps as a date.
        if key != "aps" { decoder.dateDecodingStrategy = .custom(ReceivedPush.readDate) }
        return decoder
    }

    private static func readDate(from decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self) else { return try Date(from: decoder) }
        // The strategy with fractions requires them.
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let date = (try? Date(text, strategy: fractional)) ?? (try? Date(text, strategy: .iso8601)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "the text is not a date and time in ISO 8601"
            )
        }
        return date
    }
}

extension ReceivedPush {
    /// Creates a push from an answered request.
    init(
        _ request: APNsRequest,
        number: Int,
        answeredWith answer: RequestEvaluator.Answer,
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
            // The client gets its answer before it has sent the whole body, so only the size that it declares is known.
            let declared = request.declaredBodyByteCount.flatMap { $0 > request.body.count ? $0 : nil }
            truncatedPayloadSize = declared.map { .exactly($0) } ?? .atLeast(request.body.count + 1)
        }
        status = answer.status
        reason = answer.reason
        self.id = id
        self.fault = fault
    }
}

extension ReceivedPush {
    /// The app's bundle identifier: the app in a broadcast's path, or the topic without the suffix of its push type.
    var bundleID: String? {
        (app ?? headers.topic).map { Topic($0).bundleIdentifier }
    }

    /// Whether the push is for a Live Activity.
    var isLiveActivity: Bool { app != nil || headers.isForLiveActivity }

    /// Returns whether the push, whose payload is passed as JSON, has the push type of Live Activities and a token that
    /// updates one: false for the token of a device, and for one that starts activities.
    func isToActivityToken(_ content: JSONValue?) -> Bool {
        let rules = observations.map(\.rule)
        // Without a push type a search for the type does not find the push.
        guard headers.pushType != nil, isLiveActivity, !isBroadcast,
            !rules.contains(PushLint.Rule.activityDeviceToken.id)
        else { return false }
        let isStart = content?["aps"]?["event"]?.stringValue == ActivityPush.Event.start.rawValue
        // Only a start to such a token breaks the rule; an update breaks it at a token that starts activities.
        return isStart == rules.contains(PushLint.Rule.activityTokenWrong.id)
    }

    /// Whether the push is for the token of a device, and not of a Live Activity: an alert or a background push.
    var needsDeviceToken: Bool {
        guard !isLiveActivity else { return false }
        return headers.isAlert || headers.resolvedPushType?.rawValue.lowercased() == PushType.background.rawValue
    }
}

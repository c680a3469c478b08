#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The rules that judge a push, each in one place: the client asks before it sends, the simulator when it answers,
/// the inbox when it explains.
public enum Lint {
    /// One rule that a push breaks.
    public struct Finding: Sendable, Hashable {
        private let broken: Rule
        private let text: String
        /// Where in the push.
        public let place: Place
        /// What APNs answers; nil when it accepts the push all the same.
        public let reason: Reason?

        /// A finding of a rule.
        ///
        /// - Parameters:
        ///   - rule: The rule that is broken.
        ///   - place: Where in the push.
        ///   - text: What is wrong and what comes of it on the phone, in a sentence without the final stop.
        ///   - reason: What APNs answers; nil when it accepts the push all the same.
        ///   - refuser: The server that refuses the push: APNs, unless the limit is Martlet's own.
        package init(
            _ rule: Rule,
            _ place: Place,
            _ text: String,
            reason: Reason? = nil,
            refuser: String = "APNs"
        ) {
            broken = rule
            self.text = reason == nil ? text : "\(text); \(refuser) refuses the push"
            self.place = place
            self.reason = reason
        }

        /// The rule's name, which stays the same.
        public var rule: String { broken.id }
        /// How bad it is.
        public var severity: Severity { broken.severity }
        /// What is wrong and what comes of it, on the phone or at APNs, in a sentence without the final stop.
        public var message: String { text }
        /// The address of Apple's page about it.
        public var page: String { broken.page }
    }

    /// How bad a finding is.
    public enum Severity: String, Sendable, Hashable {
        /// APNs refuses the push, or the phone ignores what is wrong.
        case error
        /// The push works, though perhaps not as meant.
        case warning
    }

    /// Where in a push a finding is.
    public enum Place: Sendable, Hashable, CustomStringConvertible {
        /// In the header of this name.
        case header(String)
        /// In the payload, at this JSON Pointer (RFC 6901); empty for all of it.
        case payload(String)
        /// In how the connection is used that it came over.
        case connection

        /// The header's name, `payload` with the pointer, or `connection`.
        public var description: String {
            switch self {
            case .header(let name): name
            case .payload(let pointer): "payload\(pointer)"
            case .connection: "connection"
            }
        }
    }

    /// Everything that is wrong with a push, headers first.
    ///
    /// - Parameters:
    ///   - headers: Its headers, as they travel.
    ///   - payload: Its payload.
    ///   - date: When it is sent; nil to leave out the rules that need a clock.
    /// - Returns: The findings in the order of the rules; none when all is well.
    public static func check(headers: PushHeaders, payload: [UInt8], at date: Date? = nil) -> [Finding] {
        let push = PushFacts(headers, at: date?.secondsSince1970)
        let (value, flaw) = PayloadRules.read(payload)
        let findings =
            headerFindings(headers, of: push, value) + [PayloadRules.size(payload.count, of: push.type), flaw]
        return findings.compactMap(\.self) + (value.map { content($0, byteCount: payload.count, of: push) } ?? [])
    }

    /// The findings about the headers of a push; its payload, when known, suggests a missing push type.
    static func headerFindings(_ headers: PushHeaders, of push: PushFacts, _ payload: JSONValue?) -> [Finding?] {
        [
            PushTypeRules.pushType(push, payload),
            HeaderRules.id(headers.id),
            HeaderRules.priority(headers.priority, of: push.type),
            HeaderRules.expiration(headers.expiration),
            HeaderRules.pastExpiration(headers.expiration, at: push.time),
            HeaderRules.topic(headers.topic, of: push.type),
            HeaderRules.doubledSuffix(headers.topic, of: push.type),
            HeaderRules.ambiguousSuffix(headers.topic, of: push.type),
            HeaderRules.collapseID(of: headers),
        ]
    }

    /// Everything that is wrong with a broadcast, headers first.
    ///
    /// - Parameters:
    ///   - app: The app in the path.
    ///   - channel: `apns-channel-id`.
    ///   - headers: The other headers, as they travel.
    ///   - payload: Its payload.
    ///   - date: When it is sent; nil to leave out the rules that need a clock.
    /// - Returns: The findings in the order of the rules; none when all is well.
    public static func check(
        broadcastTo app: String,
        channel: String?,
        headers: PushHeaders,
        payload: [UInt8],
        at date: Date? = nil
    ) -> [Finding] {
        let time = date?.secondsSince1970
        var push = PushFacts(headers, at: time)
        push.type = .liveActivity
        push.isBroadcast = true
        let (value, flaw) = PayloadRules.read(payload)
        let findings =
            headerFindings(broadcastTo: app, channel: channel, headers, at: time)
            + [PayloadRules.broadcastSize(payload.count), flaw, LiveActivityRules.broadcastStart(value)]
        return findings.compactMap(\.self) + (value.map { content($0, byteCount: payload.count, of: push) } ?? [])
    }

    /// The findings about the path and the headers of a broadcast.
    static func headerFindings(
        broadcastTo app: String,
        channel: String?,
        _ headers: PushHeaders,
        at time: Int64?
    ) -> [Finding?] {
        [
            HeaderRules.broadcastApp(app),
            HeaderRules.channel(channel),
            HeaderRules.broadcastType(headers.pushType),
            HeaderRules.broadcastPriority(headers.priority),
            HeaderRules.broadcastExpiration(headers.expiration),
            HeaderRules.pastExpiration(headers.expiration, at: time),
        ]
    }

    /// What is wrong inside a payload that is an object.
    private static func content(_ payload: JSONValue, byteCount: Int, of push: PushFacts) -> [Finding] {
        var findings = PayloadRules.check(payload, byteCount: byteCount, of: push) + MDMRules.check(payload, of: push)
        // The rules of a type that needs keys in aps also name what is missing when there is no aps at all.
        let absent: JSONValue? = push.type?.needsDictionary == true ? [:] : nil
        guard let aps = payload["aps"] ?? absent, aps.members != nil else {
            return findings + secrets(in: payload, of: push)
        }
        findings += KeyRules.check(aps, of: push)
        findings += PushTypeRules.check(aps, of: push)
        findings += AlertRules.check(aps, of: push)
        findings += LiveActivityRules.check(aps, of: push)
        findings += WidgetRules.check(payload, aps, of: push)
        findings += AccessoryRules.check(payload, aps, of: push)
        findings += WebsiteRules.check(payload, aps, of: push)
        findings += secrets(in: payload, of: push)
        if findings.isEmpty { findings += PushTypeRules.nothingToShow(aps, of: push) }
        return findings
    }

    /// The latest time in seconds since 1970 that is plausible; a greater number is a time in milliseconds.
    package static let latestPlausibleTime = HeaderRules.farFuture

    /// Returns the findings about secrets; none for a push of type accessory, whose encrypted text matches by chance.
    private static func secrets(in payload: JSONValue, of push: PushFacts) -> [Finding] {
        push.type == .accessory ? [] : SecretRules.check(payload)
    }

    /// The reason APNs has to refuse a push, if any; the same rules as ``check(headers:payload:at:)``, and quicker.
    ///
    /// - Parameters:
    ///   - headers: Its headers, as they travel.
    ///   - payload: Its payload.
    /// - Returns: The reason of the first rule that is broken.
    public static func firstRefusal(headers: PushHeaders, payload: [UInt8]) -> Reason? {
        let type = headers.resolvedPushType
        return HeaderRules.pushType(headers.pushType)?.reason
            ?? HeaderRules.id(headers.id)?.reason
            ?? HeaderRules.priority(headers.priority, of: type)?.reason
            ?? HeaderRules.expiration(headers.expiration)?.reason
            ?? HeaderRules.topic(headers.topic, of: type)?.reason
            ?? HeaderRules.collapseID(of: headers)?.reason
            ?? PayloadRules.size(payload.count, of: type)?.reason
            ?? (JSONReader.isObject(payload) ? nil : .badRequestPayload)
    }

    /// What is wrong with a notification that is about to be sent, as far as that can be told without reading its
    /// payload: its types rule out the rest.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - topic: The topic it is sent with.
    ///   - payloadByteCount: The size of its payload.
    /// - Returns: The first error; nil when all is well.
    public static func firstError(
        in notification: PushNotification,
        topic: Topic,
        payloadByteCount: Int
    ) -> Finding? {
        let type = notification.pushType
        let qualified = type.map(topic.qualified(for:)) ?? topic
        return HeaderRules.topic(topic.rawValue.isEmpty ? nil : qualified.rawValue, of: type)
            ?? HeaderRules.priority(notification.priority, of: type)
            ?? HeaderRules.expiration(notification.expiration)
            ?? PayloadRules.size(payloadByteCount, of: type ?? PushHeaders(topic: topic.rawValue).resolvedPushType)
            ?? PayloadRules.ranges(notification.payload)
    }

    /// The reason APNs has to refuse a request about an app's channels for what it names, if any.
    ///
    /// - Parameters:
    ///   - app: The app in the path.
    ///   - channel: `apns-channel-id`; of no account where the request needs none.
    ///   - needsChannel: Whether it does.
    /// - Returns: The reason of the first rule that is broken.
    package static func firstRefusal(app: String, channel: String?, needsChannel: Bool) -> Reason? {
        HeaderRules.broadcastApp(app)?.reason ?? (needsChannel ? HeaderRules.channel(channel)?.reason : nil)
    }

    /// The reason APNs has to refuse a broadcast for its headers, if any.
    ///
    /// - Parameters:
    ///   - app: The app in the path.
    ///   - channel: `apns-channel-id`.
    ///   - headers: The other headers, all of which Apple demands of a broadcast.
    /// - Returns: The reason of the first rule that is broken.
    package static func firstRefusal(broadcastTo app: String, channel: String?, headers: PushHeaders) -> Reason? {
        firstRefusal(app: app, channel: channel, needsChannel: true)
            ?? HeaderRules.broadcastType(headers.pushType)?.reason
            ?? HeaderRules.broadcastExpiration(headers.expiration)?.reason
            ?? HeaderRules.broadcastPriority(headers.priority)?.reason
    }

    /// The reason APNs has to refuse a broadcast for its payload, if any.
    ///
    /// - Parameter payload: The payload.
    /// - Returns: The reason of the first rule that is broken.
    package static func firstRefusal(broadcastPayload payload: [UInt8]) -> Reason? {
        guard !payload.isEmpty else { return .payloadEmpty }
        guard payload.count <= PushLimits.broadcastPayloadByteCount else { return .payloadTooLarge }
        return JSONReader.isObject(payload) ? nil : .badRequestPayload
    }

    /// The reason APNs has to refuse what is to go to a channel for its type.
    package static func broadcastTypeRefusal(_ type: String?) -> Reason? {
        HeaderRules.broadcastType(type)?.reason
    }

    /// What is wrong with a broadcast that is about to be sent.
    ///
    /// - Parameter broadcast: The broadcast.
    /// - Returns: The first error; nil when all is well.
    public static func firstError(in broadcast: Broadcast) -> Finding? {
        HeaderRules.broadcastApp(broadcast.app.rawValue)
            ?? HeaderRules.channel(broadcast.channel.rawValue)
            ?? HeaderRules.priority(broadcast.priority, of: .liveActivity)
            ?? HeaderRules.expiration(broadcast.expiration)
            ?? PayloadRules.broadcastSize(broadcast.payload.count)
    }
}

/// What the rules about payloads know of a push besides.
struct PushFacts {
    /// The push type, or the type that the topic implies; nil when there is neither.
    var type: PushType?
    /// `apns-push-type`; nil when it is missing.
    var declaredType: String?
    /// Whether the push is a broadcast.
    var isBroadcast = false
    /// `apns-topic`.
    var topic: String?
    /// Whether the topic is that of an MDM push certificate.
    var isForMDM: Bool
    /// `apns-priority`.
    var priority: String?
    /// When it is sent, in seconds since 1970; nil without a clock.
    var time: Int64?

    init(_ headers: PushHeaders, at time: Int64?) {
        type = headers.resolvedPushType
        declaredType = headers.pushType
        topic = headers.topic
        isForMDM = headers.hasMDMTopic
        priority = headers.priority
        self.time = time
    }
}

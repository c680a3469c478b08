/// The rules that judge a push, each in one place: the client asks before it sends, the simulator when it answers,
/// the inbox when it explains.
public enum Lint {
    /// One rule that a push breaks.
    public struct Finding: Sendable, Hashable {
        /// The rule's name, which stays the same.
        public let rule: String
        /// How bad it is.
        public let severity: Severity
        /// Where in the push.
        public let place: Place
        /// What is wrong and what comes of it, in a sentence without the final stop.
        public let message: String
        /// What APNs answers; nil when it accepts the push all the same.
        public let reason: Reason?

        /// A finding from its parts, for rules that live in other modules.
        ///
        /// - Parameters:
        ///   - rule: The rule's name, which stays the same.
        ///   - severity: How bad it is.
        ///   - place: Where in the push.
        ///   - message: What is wrong and what comes of it, in a sentence without the final stop.
        ///   - reason: What APNs answers; nil when it accepts the push all the same.
        package init(_ rule: String, _ severity: Severity, _ place: Place, _ message: String, reason: Reason? = nil) {
            self.rule = rule
            self.severity = severity
            self.place = place
            self.message = message
            self.reason = reason
        }
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

        /// The header's name, or `payload` with the pointer.
        public var description: String {
            switch self {
            case .header(let name): name
            case .payload(let pointer): "payload\(pointer)"
            }
        }
    }

    /// Everything that is wrong with a push, headers first.
    ///
    /// - Parameters:
    ///   - headers: Its headers, as they travel.
    ///   - payload: Its payload.
    /// - Returns: The findings in the order of the rules; none when all is well.
    public static func check(headers: PushHeaders, payload: [UInt8]) -> [Finding] {
        let type = headers.pushType.map(PushType.init(rawValue:))
        let findings = [
            HeaderRules.pushType(headers.pushType),
            HeaderRules.id(headers.id),
            HeaderRules.priority(headers.priority, of: type),
            HeaderRules.expiration(headers.expiration),
            HeaderRules.topic(headers.topic, of: type),
            HeaderRules.collapseID(headers.collapseID),
            PayloadRules.size(payload.count, of: type),
        ]
        return findings.compactMap(\.self) + PayloadRules.content(payload, of: type)
    }

    /// The reason APNs has to refuse a push, if any; the same rules as ``check(headers:payload:)``, and quicker.
    ///
    /// - Parameters:
    ///   - headers: Its headers, as they travel.
    ///   - payload: Its payload.
    /// - Returns: The reason of the first rule that is broken.
    public static func firstRefusal(headers: PushHeaders, payload: [UInt8]) -> Reason? {
        let type = headers.pushType.map(PushType.init(rawValue:))
        return HeaderRules.pushType(headers.pushType)?.reason
            ?? HeaderRules.id(headers.id)?.reason
            ?? HeaderRules.priority(headers.priority, of: type)?.reason
            ?? HeaderRules.expiration(headers.expiration)?.reason
            ?? HeaderRules.topic(headers.topic, of: type)?.reason
            ?? HeaderRules.collapseID(headers.collapseID)?.reason
            ?? PayloadRules.size(payload.count, of: type)?.reason
            ?? (JSONReader.isObject(payload) ? nil : PayloadRules.notAnObject(nil).reason)
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
            ?? PayloadRules.size(payloadByteCount, of: type)
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
            ?? broadcastTypeRefusal(headers.pushType)
            ?? (headers.expiration == nil ? .badExpirationDate : HeaderRules.expiration(headers.expiration)?.reason)
            ?? (headers.priority == nil
                ? .badPriority : HeaderRules.priority(headers.priority, of: .liveActivity)?.reason)
    }

    /// The reason APNs has to refuse what is to go to a channel for its type, which Apple's pages write in three ways.
    package static func broadcastTypeRefusal(_ type: String?) -> Reason? {
        guard let type else { return .missingPushType }
        return type.lowercased() == PushType.liveActivity.rawValue ? nil : .invalidPushType
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

// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The rules for pushes, shared by the client before it sends, by the simulator when it answers, and by the inbox when
/// it explains a push.
public enum PushLint {
    /// A violation of a rule by a push.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        private let broken: Rule
        private let text: String
        /// The part of the push that breaks the rule.
        public let place: Place
        /// The reason with which APNs refuses the push; nil if APNs accepts it.
        public let reason: APNsReason?

        /// Creates a finding.
        ///
        /// - Parameters:
        ///   - rule: The rule that is broken.
        ///   - place: The part of the push that breaks the rule.
        ///   - text: The error and its consequence on the phone, in a sentence without the final stop.
        ///   - reason: The reason with which APNs refuses the push; nil if APNs accepts it.
        ///   - refuser: The server that refuses the push: APNs, unless the limit is Martlet's own.
        package init(
            _ rule: Rule,
            _ place: Place,
            _ text: String,
            reason: APNsReason? = nil,
            refuser: String = "APNs"
        ) {
            broken = rule
            self.text = reason == nil ? text : "\(text); \(refuser) refuses the push"
            self.place = place
            self.reason = reason
        }

        /// Creates a finding from its message, which includes the refusal of the push.
        package init(_ rule: Rule, _ place: Place, message: String, reason: APNsReason?) {
            broken = rule
            text = message
            self.place = place
            self.reason = reason
        }

        /// The rule's name, which does not change in later versions.
        public var rule: String { broken.id }
        /// The reason for which the client and the relay do not send the push; nil if they do.
        ///
        /// APNs accepts a time in milliseconds, and a push with it never expires.
        package var reasonNotToSend: APNsReason? {
            reason ?? (broken == .expirationInMilliseconds ? .badExpirationDate : nil)
        }
        /// Whether the finding is reported about a push that is sent: it is about a header, or a badge below 0.
        ///
        /// Other findings about the payload may be intended.
        package var isNote: Bool {
            guard reasonNotToSend == nil else { return false }
            if case .header = place { return true }
            return broken == .badgeNegative
        }
        /// The severity of the finding.
        public var severity: Severity { broken.severity }
        /// The error and its consequence on the phone or at APNs, in a sentence without the final stop.
        public var message: String { text }
        /// The address of the page in Apple's documentation.
        public var page: String { broken.page }
        /// Severity, place and message in one line.
        public var description: String { "\(severity.rawValue): \(place): \(text)" }
    }

    /// The severity of a finding.
    public enum Severity: String, Sendable, Hashable {
        /// APNs refuses the push, or the phone ignores the faulty part.
        case error
        /// The push is delivered, but possibly not as intended.
        case warning
    }

    /// The part of a push that a finding is about.
    public enum Place: Sendable, Hashable, CustomStringConvertible {
        /// The header with this name.
        case header(String)
        /// The payload at this JSON Pointer (RFC 6901); empty for the whole payload.
        case payload(String)
        /// The use of the connection over which the push was sent.
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

    /// Checks a push, headers first.
    ///
    /// - Parameters:
    ///   - headers: The headers, as they are sent.
    ///   - payload: The payload.
    ///   - date: The time of sending; nil to skip the rules that need a clock.
    /// - Returns: The findings in the order of the rules; empty if no rule is broken.
    public static func check(headers: PushHeaders, payload: [UInt8], at date: Date? = nil) -> [Finding] {
        var push = PushFacts(headers, at: date?.secondsSince1970)
        let (value, flaw) = PayloadRules.read(payload)
        push.payload = value
        let findings =
            HeaderRules.checks.map { $0(headers, push) }
            + [PayloadRules.size(.exactly(payload.count), of: push.type), flaw]
        return findings.compactMap(\.self) + (value.map { content($0, byteCount: payload.count, of: push) } ?? [])
    }

    /// Checks a broadcast, headers first.
    ///
    /// - Parameters:
    ///   - app: The app in the path.
    ///   - channel: `apns-channel-id`.
    ///   - headers: The other headers, as they are sent.
    ///   - payload: The payload.
    ///   - date: The time of sending; nil to skip the rules that need a clock.
    /// - Returns: The findings in the order of the rules; empty if no rule is broken.
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
        let (value, flaw) = PayloadRules.read(payload, isBroadcast: true)
        let findings =
            headerFindings(broadcastTo: app, channel: channel, headers, at: time)
            + [PayloadRules.broadcastSize(.exactly(payload.count)), flaw, LiveActivityRules.broadcastStart(value)]
        return findings.compactMap(\.self) + (value.map { content($0, byteCount: payload.count, of: push) } ?? [])
    }

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
            HeaderRules.broadcastExpiration(headers.expiration),
            HeaderRules.pastExpiration(headers.expiration, at: time),
            HeaderRules.broadcastPriority(headers.priority),
        ]
    }

    private static func content(_ payload: JSONValue, byteCount: Int, of push: PushFacts) -> [Finding] {
        var findings =
            PayloadRules.check(payload, byteCount: byteCount, of: push) + KeyRules.forSimctl(payload)
            + MDMRules.check(payload, of: push) + PassRules.check(payload, of: push)
        // The rules of a type that needs keys in aps also report the missing keys when there is no aps at all.
        let absent: JSONValue? = push.type?.needsDictionary == true ? [:] : nil
        // The rules about an aps are for apps; the phone ignores that of a push for a Wallet pass.
        guard let aps = payload["aps"] ?? absent, aps.members != nil, !push.hasPassTopic else {
            return findings + secrets(in: payload, of: push)
        }
        findings += KeyRules.check(aps, of: push)
        findings += PushTypeRules.check(aps, of: push)
        findings += AlertRules.check(aps, of: push)
        findings += AttachmentRules.check(payload, aps)
        findings += LiveActivityRules.check(aps, of: push)
        findings += WidgetRules.check(payload, aps, of: push)
        findings += AccessoryRules.check(payload, aps, of: push)
        findings += WebsiteRules.check(payload, aps, of: push)
        findings += secrets(in: payload, of: push)
        if findings.isEmpty { findings += PushTypeRules.nothingToShow(aps, of: push) }
        return findings
    }

    /// The latest plausible time in seconds since 1970; a greater number is taken to be in milliseconds.
    package static let latestPlausibleTime = HeaderRules.farFuture

    /// Returns the findings about secrets; none for a push of type accessory, whose encrypted text matches by chance.
    private static func secrets(in payload: JSONValue, of push: PushFacts) -> [Finding] {
        push.type == .accessory ? [] : SecretRules.check(payload)
    }

    /// Returns the reason for which APNs would refuse a push; applies the refusing rules of
    /// ``check(headers:payload:at:)``, but faster.
    ///
    /// - Parameters:
    ///   - headers: The headers, as they are sent.
    ///   - payload: The payload.
    /// - Returns: The reason of the first rule that is broken; nil if APNs would accept the push.
    public static func firstRefusal(headers: PushHeaders, payload: [UInt8]) -> APNsReason? {
        firstReason(headers, payload, \.reason)
    }

    static func firstReason(
        _ headers: PushHeaders,
        _ payload: [UInt8],
        _ reason: (Finding) -> APNsReason?
    ) -> APNsReason? {
        let push = PushFacts(headers, at: nil)
        return firstReason(headers, of: push, reason)
            ?? PayloadRules.size(.exactly(payload.count), of: push.type)?.reason
            ?? (JSONReader.isObject(payload) ? nil : .badRequestPayload)
    }

    static func firstReason(
        _ headers: PushHeaders,
        of push: PushFacts,
        _ reason: (Finding) -> APNsReason?
    ) -> APNsReason? {
        for check in HeaderRules.checks {
            if let reason = check(headers, push).flatMap(reason) { return reason }
        }
        return nil
    }

    /// Checks a notification before it is sent, without parsing its payload: its types rule out the other errors.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - topic: The topic it is sent with.
    ///   - payloadByteCount: The size of its payload.
    /// - Returns: The first error; nil if there is none.
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
            ?? HeaderRules.collapseID(notification.collapseID)
            ?? PayloadRules.size(
                .exactly(payloadByteCount),
                of: type ?? PushHeaders(topic: topic.rawValue).resolvedPushType
            )
            ?? PayloadRules.ranges(notification.payload)
    }

    /// Returns the reason for which APNs would refuse a request about an app's channels because of the app or the
    /// channel.
    ///
    /// - Parameters:
    ///   - app: The app in the path.
    ///   - channel: `apns-channel-id`; ignored if the request needs none.
    ///   - needsChannel: Whether the request needs a channel.
    /// - Returns: The reason of the first rule that is broken; nil if there is none.
    package static func firstRefusal(app: String, channel: String?, needsChannel: Bool) -> APNsReason? {
        HeaderRules.broadcastApp(app)?.reason ?? (needsChannel ? HeaderRules.channel(channel)?.reason : nil)
    }

    /// Returns the reason for which APNs would refuse a broadcast because of its headers.
    ///
    /// - Parameters:
    ///   - app: The app in the path.
    ///   - channel: `apns-channel-id`.
    ///   - headers: The other headers, all of which Apple requires for a broadcast.
    /// - Returns: The reason of the first rule that is broken; nil if there is none.
    package static func firstRefusal(broadcastTo app: String, channel: String?, headers: PushHeaders) -> APNsReason? {
        firstReason(broadcastTo: app, channel, headers, \.reason)
    }

    static func firstReason(
        broadcastTo app: String,
        _ channel: String?,
        _ headers: PushHeaders,
        _ reason: (Finding) -> APNsReason?
    ) -> APNsReason? {
        for finding in headerFindings(broadcastTo: app, channel: channel, headers, at: nil) {
            if let reason = finding.flatMap(reason) { return reason }
        }
        return nil
    }

    /// Returns the reason for which APNs would refuse a broadcast because of its payload.
    ///
    /// - Parameter payload: The payload.
    /// - Returns: The reason of the first rule that is broken; nil if there is none.
    package static func firstRefusal(broadcastPayload payload: [UInt8]) -> APNsReason? {
        guard !payload.isEmpty else { return .payloadEmpty }
        guard payload.count <= PushLimits.broadcastPayloadByteCount else { return .payloadTooLarge }
        return JSONReader.isObject(payload) ? nil : .badRequestPayload
    }

    /// Returns the reason for which APNs would refuse a broadcast because of its push type.
    package static func broadcastTypeRefusal(_ type: String?) -> APNsReason? {
        HeaderRules.broadcastType(type)?.reason
    }

    /// Checks a broadcast before it is sent.
    ///
    /// - Parameter broadcast: The broadcast.
    /// - Returns: The first error; nil if there is none.
    public static func firstError(in broadcast: LiveActivityBroadcast) -> Finding? {
        HeaderRules.broadcastApp(broadcast.app.rawValue)
            ?? HeaderRules.channel(broadcast.channel.rawValue)
            ?? HeaderRules.priority(broadcast.priority, of: .liveActivity)
            ?? HeaderRules.expiration(broadcast.expiration)
            ?? PayloadRules.broadcastSize(.exactly(broadcast.payload.count))
    }
}

/// The facts about a push, besides its payload, that the payload rules use.
struct PushFacts {
    /// The push type, or the type that the topic implies; nil when there is neither.
    var type: PushType?
    /// `apns-push-type`; nil when it is missing.
    var declaredType: String?
    var isBroadcast = false
    /// `apns-topic`.
    var topic: String?
    var isForMDM: Bool
    /// `apns-priority`.
    var priority: String?
    /// The time of sending in seconds since 1970; nil without a clock.
    var time: Int64?
    /// The payload, which suggests a missing push type; nil when it is not known.
    var payload: JSONValue?

    init(_ headers: PushHeaders, at time: Int64?) {
        type = headers.resolvedPushType
        declaredType = headers.pushType
        topic = headers.topic
        isForMDM = headers.hasMDMTopic
        priority = headers.priority
        self.time = time
    }
}

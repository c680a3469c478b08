// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The start of a Live Activity on a device that has provided a push-to-start token (iOS and iPadOS 17.2).
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications".
public struct LiveActivityStart: Sendable, Hashable, Codable {
    /// The way in which the new activity receives updates (iOS and iPadOS 18).
    public enum UpdateSource: Sendable, Hashable, Codable {
        /// The way that the app has configured.
        case byApp
        /// A token of its own, which the app receives and sends to the server.
        case byToken
        /// Broadcasts on a channel.
        case byChannel(ChannelID)

        private enum CodingKeys: CodingKey {
            case token, channel
        }

        /// Decodes what ``encode(to:)`` encodes.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            if let channel = try values.decodeIfPresent(ChannelID.self, forKey: .channel) {
                self = .byChannel(channel)
            } else {
                self = try values.decodeIfPresent(Bool.self, forKey: .token) == true ? .byToken : .byApp
            }
        }

        /// Encodes `channel` or `token`, or an empty object for ``byApp``.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .byApp: break
            case .byToken: try values.encode(true, forKey: .token)
            case .byChannel(let channel): try values.encode(channel, forKey: .channel)
            }
        }
    }

    private let attributesType: String
    private let attributes: JSONText
    private let contentState: JSONText
    private var alert: LiveActivityAlert?
    private let updateSource: UpdateSource
    private let staleDate: Date?
    private let relevanceScore: Double?

    /// Creates a start; Apple requires an alert.
    ///
    /// - Parameters:
    ///   - attributes: The data that does not change while the activity runs.
    ///   - state: The initial content.
    ///   - alert: The alert shown to the user.
    ///   - updateSource: The way in which the activity receives updates.
    ///   - staleDate: The time from which the content counts as outdated.
    ///   - relevanceScore: The rank among several activities: the one with the highest score is shown first; any
    ///     number.
    /// - Throws: ``PayloadError`` if attributes or state do not encode to a JSON object.
    public init<Attributes: LiveActivityAttributes>(
        _ attributes: Attributes,
        state: Attributes.ContentState,
        alert: LiveActivityAlert,
        updateSource: UpdateSource = .byApp,
        staleDate: Date? = nil,
        relevanceScore: Double? = nil
    ) throws(PayloadError) {
        attributesType = Attributes.attributesType
        self.attributes = try LiveActivityContent.encode(attributes, for: "attributes")
        contentState = try LiveActivityContent.encode(state, for: "content-state")
        self.alert = alert
        self.updateSource = updateSource
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
    }

    /// Creates a start from JSON values.
    ///
    /// - Parameters:
    ///   - attributesType: The name of the app's type.
    ///   - attributes: The data that does not change while the activity runs.
    ///   - state: The initial content.
    ///   - alert: The alert shown to the user.
    ///   - updateSource: The way in which the activity receives updates.
    ///   - staleDate: The time from which the content counts as outdated.
    ///   - relevanceScore: The rank among several activities: the one with the highest score is shown first; any
    ///     number.
    /// - Throws: ``PayloadError`` if attributes or state are not objects.
    public init(
        attributesType: String,
        attributes: JSONValue,
        state: JSONValue,
        alert: LiveActivityAlert,
        updateSource: UpdateSource = .byApp,
        staleDate: Date? = nil,
        relevanceScore: Double? = nil
    ) throws(PayloadError) {
        self.attributesType = attributesType
        self.attributes = try LiveActivityContent.encode(attributes, for: "attributes")
        contentState = try LiveActivityContent.encode(state, for: "content-state")
        self.alert = alert
        self.updateSource = updateSource
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
    }

    /// Returns the start without its alert, as other clients send it; no phone shows such a start.
    package func withoutAlert() -> LiveActivityStart {
        var start = self
        start.alert = nil
        return start
    }

    /// Returns the payload of a push created at a time.
    ///
    /// - Parameter timestamp: The time of the push, rounded down to a whole second. The phone ignores an update whose
    ///   timestamp is not later than this one, so use a time slightly in the past.
    /// - Returns: The payload.
    /// - Throws: ``PayloadError`` for a relevance score that is not a finite number, and for a date before 1970 or
    ///   later than JSON integers can represent.
    public func payload(timestamp: Date) throws(PayloadError) -> PushNotification.Payload {
        var object = JSONObjectWriter(capacity: 512 + contentState.bytes.count + attributes.bytes.count)
        try object.write("aps") { (aps) throws(PayloadError) in
            try aps.write("timestamp", timestamp)
            aps.write("event", "start")
            aps.write("content-state", json: contentState.bytes)
            aps.write("attributes-type", attributesType)
            aps.write("attributes", json: attributes.bytes)
            if let alert {
                try aps.write("alert") { (object) throws(PayloadError) in try alert.write(into: &object) }
            }
            switch updateSource {
            case .byApp: break
            case .byToken: aps.write("input-push-token", 1)
            case .byChannel(let channel): aps.write("input-push-channel", channel.rawValue)
            }
            try aps.write("stale-date", staleDate)
            try aps.write("relevance-score", relevanceScore)
        }
        return PushNotification.Payload(opaque: object.finish())
    }
}

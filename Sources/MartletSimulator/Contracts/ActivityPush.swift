// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The parts of a push to a Live Activity that contracts check.
public struct ActivityPush: Sendable, Hashable {
    /// The effect of a push on an activity.
    public enum Event: String, Sendable, Hashable {
        /// The push starts an activity.
        case start
        /// The push updates the content of an activity.
        case update
        /// The push ends an activity.
        case end
    }

    /// The app's bundle identifier, without the suffix of Live Activities.
    public let topic: Topic
    /// The device token in the path, in lower case; empty for a broadcast.
    public let deviceToken: String
    /// The effect of the push.
    public let event: Event
    /// The value of `timestamp`, in seconds since 1970; nil when it is missing or not a whole number.
    package let timestamp: Int64?
    /// The value of `timestamp`; nil when it is missing or not a whole number.
    public var date: Date? { timestamp.map(Date.init(secondsSince1970:)) }
    /// The name of the app's attributes type, which a push that starts an activity contains; nil when it is missing.
    public let attributesType: String?
    /// The value of `attributes`; nil when it is missing.
    public let attributes: JSONValue?
    /// The value of `content-state`; nil when it is missing.
    public let contentState: JSONValue?
    /// Whether the push has no alert, no stale date and nothing else besides its content.
    package let hasContentAlone: Bool

    /// Creates the parts of a push to a Live Activity; nil when the push is not for one.
    ///
    /// - Parameters:
    ///   - topic: The topic of the push, or the app of a broadcast.
    ///   - pushType: The value of `apns-push-type`.
    ///   - deviceToken: The device token in the path; empty for a broadcast.
    ///   - payload: The payload.
    public init?(topic: String, pushType: String?, deviceToken: String, payload: [UInt8]) {
        let content = ActivityPush.isType(pushType) ? (try? JSONReader.readPayload(payload)) : nil
        self.init(topic: topic, pushType: pushType, deviceToken: deviceToken, content: content)
    }

    /// Creates the parts of a push to a Live Activity from its payload as JSON; nil when the push is not for one.
    private init?(topic: String, pushType: String?, deviceToken: String, content: JSONValue?) {
        guard ActivityPush.isType(pushType), let aps = content?["aps"],
            let event = aps["event"]?.stringValue.flatMap(Event.init(rawValue:))
        else { return nil }
        self.topic = Topic(topic).ofLiveActivities
        self.deviceToken = deviceToken.lowercased()
        self.event = event
        timestamp = aps["timestamp"]?.wholeValue
        attributesType = aps["attributes-type"]?.stringValue
        attributes = aps["attributes"]
        contentState = aps["content-state"]
        hasContentAlone = (aps.members ?? []).allSatisfy { ["timestamp", "event", "content-state"].contains($0.name) }
    }

    private static func isType(_ pushType: String?) -> Bool {
        pushType?.lowercased() == PushType.liveActivity.rawValue
    }
}

extension ActivityPush {
    /// Creates the parts of a received push to a Live Activity; nil when the push is not for one.
    ///
    /// - Parameter push: The push.
    public init?(_ push: ReceivedPush) {
        self.init(push, push.content)
    }

    /// Creates the parts of a received push from its payload as JSON; nil when the push is not for a Live Activity.
    init?(_ push: ReceivedPush, _ content: JSONValue?) {
        self.init(
            topic: push.app ?? push.headers.topic ?? "",
            pushType: push.headers.pushType,
            deviceToken: push.deviceToken,
            content: content
        )
    }
}

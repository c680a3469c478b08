// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The parts of a push that its delivery depends on.
struct DeliveredPush: Sendable, Hashable {
    let number: Int
    /// The time of arrival in milliseconds since 1970.
    let time: Int64
    /// The device token in lower case; empty for a broadcast.
    let deviceToken: String
    let topic: String
    let channel: ChannelID?
    /// The channel or the topic, for each of which at most one push is stored for an offline device.
    let slot: String
    /// The value of `apns-expiration` in seconds since 1970.
    let expiration: Int64?
    let collapseID: String?
    /// Whether the priority is 10, the default of APNs.
    let isImmediate: Bool
    let isLiveActivity: Bool
    let isBroadcast: Bool
    let payload: JSONValue?
    /// Whether the device shows a notification for the push.
    let isShown: Bool
    /// The finding about content that the app's types cannot decode; nil for none.
    let undecodable: PushLint.Finding?
    /// Whether a value in the content has another type than in earlier content.
    let hasChangedType: Bool

    /// Creates the parts of a push.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - payload: Its payload as JSON; nil when it cannot be parsed.
    init(_ push: ReceivedPush, _ payload: JSONValue?) {
        number = push.number
        time = push.time
        deviceToken = push.deviceToken.lowercased()
        topic = push.headers.topic ?? ""
        channel = push.channel
        slot = push.channel?.rawValue ?? topic
        expiration = push.headers.expiration.flatMap { Int64($0) }
        collapseID = push.headers.collapseID
        isImmediate = push.headers.isImmediate
        isLiveActivity = push.isLiveActivity
        isBroadcast = push.app != nil
        self.payload = payload
        isShown = NotificationPresentation.isVisible(push.headers, payload)
        undecodable = push.observations.first { ActivityContract.decodingRule(of: $0) != nil }
        hasChangedType = push.observations.contains { $0.rule == PushLint.Rule.activityStateTypeChanged.id }
    }

    /// Creates the parts of a push to a token of a phone, or of a broadcast.
    ///
    /// - Parameters:
    ///   - number: The number of the push in the order of arrival.
    ///   - token: The device token; nil for a broadcast.
    ///   - channel: The channel of a broadcast.
    ///   - slot: The slot in which APNs stores the push while the phone is offline.
    ///   - headers: The headers.
    ///   - payload: The payload as JSON; nil when it cannot be parsed.
    ///   - time: The time of arrival in milliseconds since 1970.
    init(
        number: Int,
        to token: DeviceToken?,
        channel: ChannelID? = nil,
        slot: String,
        headers: PushHeaders,
        payload: JSONValue?,
        at time: Int64
    ) {
        self.number = number
        self.time = time
        deviceToken = token?.hex ?? ""
        topic = headers.topic ?? ""
        self.channel = channel
        self.slot = slot
        expiration = headers.expiration.flatMap { Int64($0) }
        collapseID = headers.collapseID
        isImmediate = headers.isImmediate
        isLiveActivity = headers.isForLiveActivity
        isBroadcast = channel != nil
        self.payload = payload
        isShown = NotificationPresentation.isVisible(headers, payload)
        undecodable = nil
        hasChangedType = false
    }

    /// The channel to which an activity that the push starts subscribes; nil for none.
    var startChannel: ChannelID? {
        payload?["aps"]?["input-push-channel"]?.stringValue.map(ChannelID.init(rawValue:))
    }

    /// Whether an activity that the push starts gets an update token.
    ///
    /// Apple does not document whether the token or the channel updates an activity whose start requests both.
    var startsWithToken: Bool { startChannel == nil || payload?["aps"]?["input-push-token"] != nil }

    /// The maximum time in milliseconds for which APNs stores a push: thirty days.
    private static let storageLimit: Int64 = 30 * 24 * 60 * 60 * 1_000
    /// The maximum time in milliseconds for which APNs stores a broadcast: eight hours ("Sending channel management
    /// requests to APNs").
    private static let broadcastStorageLimit: Int64 = 8 * 60 * 60 * 1_000

    /// Returns the time until which APNs stores a push that arrived at another time, in milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - expiration: The value of `apns-expiration` in seconds since 1970; nil when the header is missing.
    ///   - arrival: The time of arrival in milliseconds since 1970.
    ///   - isBroadcast: Whether the push is a broadcast.
    /// - Returns: The time.
    static func storageEnd(expiration: Int64?, arrival: Int64, isBroadcast: Bool) -> Int64 {
        let longest = isBroadcast ? broadcastStorageLimit : storageLimit
        let (limit, overflows) = arrival.addingReportingOverflow(longest)
        return min(expiration.map(Int64.init(millisecondsOf:)) ?? .max, overflows ? .max : limit)
    }

    /// The time until which APNs stores the push, in milliseconds since 1970.
    var storageEnd: Int64 {
        DeliveredPush.storageEnd(expiration: expiration, arrival: time, isBroadcast: isBroadcast)
    }

    /// Returns whether the push has expired, at a time in milliseconds since 1970.
    func isLate(at now: Int64) -> Bool { storageEnd < now }
}

extension PushHeaders {
    /// Whether the priority is 10, the default of APNs.
    fileprivate var isImmediate: Bool { priority.map { $0 == "10" } ?? true }
}

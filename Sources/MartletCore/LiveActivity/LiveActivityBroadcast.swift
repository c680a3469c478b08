// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A push to all devices that listen on a channel.
///
/// Source: "Sending broadcast push notification requests to APNs".
public struct LiveActivityBroadcast: Sendable, Hashable {
    /// The app's bundle identifier, without any suffix.
    public let app: Topic
    /// The channel.
    public let channel: ChannelID
    /// The priority of the delivery.
    public let priority: PushNotification.Priority
    /// The time until which APNs stores the push for offline devices; ``PushNotification/Expiration/attemptOnce`` for
    /// channels that store nothing.
    public let expiration: PushNotification.Expiration
    /// The payload's bytes.
    public let payload: [UInt8]

    /// Creates a broadcast that updates or ends Live Activities.
    ///
    /// - Parameters:
    ///   - update: The update or end.
    ///   - channel: The channel.
    ///   - app: The app's bundle identifier, without any suffix.
    ///   - timestamp: The time of the push, rounded down to a whole second; later for each push on the same channel.
    ///   - priority: The priority of the delivery.
    ///   - expiration: The time until which APNs stores the push for offline devices, at most eight hours ahead. The
    ///     default stores nothing, as channels without storage require.
    /// - Throws: ``PayloadError`` for a relevance score that is not a finite number, and for a date before 1970 or
    ///   later than JSON integers can represent.
    public init(
        _ update: LiveActivityUpdate,
        on channel: ChannelID,
        of app: Topic,
        timestamp: Date,
        priority: PushNotification.Priority = .powerAware,
        expiration: PushNotification.Expiration = .attemptOnce
    ) throws(PayloadError) {
        self.app = app
        self.channel = channel
        self.priority = priority
        self.expiration = expiration
        payload = try update.payload(timestamp: timestamp).encoded()
    }
}

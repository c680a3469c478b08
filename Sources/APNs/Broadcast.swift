#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One push to everybody who listens on a channel.
///
/// Source: "Sending broadcast push notification requests to APNs".
public struct Broadcast: Sendable, Hashable {
    /// The app's bundle identifier, without any suffix.
    public let app: Topic
    /// The channel.
    public let channel: ChannelID
    /// How soon it should arrive.
    public let priority: Priority
    /// Until when APNs keeps it for devices that are away; ``Expiration/attemptOnce`` for channels that store nothing.
    public let expiration: Expiration
    /// The payload's bytes.
    public let payload: [UInt8]

    /// A broadcast of a Live Activity's update or end.
    ///
    /// - Parameters:
    ///   - update: What the activities are told.
    ///   - channel: The channel.
    ///   - app: The app's bundle identifier, without any suffix.
    ///   - timestamp: The time of the push, rounded down to a whole second; later for each push on one channel.
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when APNs keeps it for devices that are away, eight hours at most; by default it does not,
    ///     as channels that store nothing demand.
    /// - Throws: ``PayloadError`` for a relevance score that is not a finite number, and for a date before 1970 or
    ///   later than JSON integers can represent.
    public init(
        _ update: LiveActivityUpdate,
        on channel: ChannelID,
        of app: Topic,
        timestamp: Date,
        priority: Priority = .powerAware,
        expiration: Expiration = .attemptOnce
    ) throws(PayloadError) {
        self.app = app
        self.channel = channel
        self.priority = priority
        self.expiration = expiration
        payload = try update.payload(timestamp: timestamp).encoded()
    }
}

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PushNotification {
    /// The beginning of a Live Activity; send it to a push-to-start token.
    ///
    /// - Parameters:
    ///   - start: The activity.
    ///   - timestamp: The time of the push, rounded down to a whole second. An update is only shown when its timestamp
    ///     is later.
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    /// - Throws: ``PayloadError`` for a relevance score that is not a finite number, and for a date before 1970 or
    ///   later than JSON integers can represent.
    public static func liveActivity(
        _ start: LiveActivityStart,
        timestamp: Date,
        priority: LiveActivityPriority = .immediate,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) throws(PayloadError) -> PushNotification {
        liveActivity(try start.payload(timestamp: timestamp), priority, expiration, id)
    }

    /// A change or the end of a Live Activity; send it to the activity's own token.
    ///
    /// - Parameters:
    ///   - update: The change.
    ///   - timestamp: The time of the push, rounded down to a whole second; later for each push to one activity.
    ///   - priority: How soon it should arrive; only immediate pushes count against the system's budget.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    /// - Throws: ``PayloadError`` for a relevance score that is not a finite number, and for a date before 1970 or
    ///   later than JSON integers can represent.
    public static func liveActivity(
        _ update: LiveActivityUpdate,
        timestamp: Date,
        priority: LiveActivityPriority = .powerAware,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) throws(PayloadError) -> PushNotification {
        liveActivity(try update.payload(timestamp: timestamp), priority, expiration, id)
    }

    private static func liveActivity(
        _ payload: Payload,
        _ priority: LiveActivityPriority,
        _ expiration: Expiration?,
        _ id: APNsID?
    ) -> PushNotification {
        PushNotification(
            pushType: .liveActivity,
            priority: priority.priority,
            expiration: expiration,
            collapseID: nil,
            id: id,
            payload: payload
        )
    }
}

/// The priorities that a push about a Live Activity may have.
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications".
public enum LiveActivityPriority: Sendable, Hashable {
    /// At once; counts against the hourly budget of the system.
    case immediate
    /// When the device's power allows; does not count.
    case powerAware

    /// The priority as it travels.
    public var priority: Priority {
        switch self {
        case .immediate: .immediate
        case .powerAware: .powerAware
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PushNotification {
    /// Creates the start of a Live Activity; send it to a push-to-start token.
    ///
    /// - Parameters:
    ///   - start: The activity.
    ///   - timestamp: The time of the push, rounded down to a whole second. The phone shows an update only if its
    ///     timestamp is later.
    ///   - priority: The priority of the delivery.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
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

    /// Creates an update or the end of a Live Activity; send it to the activity's own token.
    ///
    /// - Parameters:
    ///   - update: The update or end.
    ///   - timestamp: The time of the push, rounded down to a whole second; later for each push to the same activity.
    ///   - priority: The priority of the delivery; only immediate pushes count against the system's budget.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
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
    /// Immediate delivery; counts against the system's hourly budget.
    case immediate
    /// Delivery when the device's power budget allows; does not count against the budget.
    case powerAware

    /// The priority as it is sent.
    public var priority: PushNotification.Priority {
        switch self {
        case .immediate: .immediate
        case .powerAware: .powerAware
        }
    }
}

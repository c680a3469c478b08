// SPDX-License-Identifier: Apache-2.0

/// A notification, ready to be sent to any number of devices.
///
/// The types rule out notifications that APNs would refuse: for example, a background push has no parameters for an
/// alert or a priority.
///
/// A notification can be stored, for example in a table of jobs: decoding what was encoded gives an equal notification,
/// which is sent with the same bytes.
public struct PushNotification: Sendable, Hashable, Codable {
    /// The push type; nil only for opaque notifications without one.
    public let pushType: PushType?
    /// The priority of the delivery; nil for the default of APNs, ``PushNotification/Priority/immediate``.
    public let priority: Priority?
    /// The time until which APNs tries to deliver the push; nil for the default of APNs.
    public var expiration: Expiration?
    /// The identifier of pushes that replace each other on the device.
    public var collapseID: CollapseID?
    /// The identifier; nil to generate one for each send.
    public var id: APNsID?
    /// The content.
    public let payload: Payload

    /// Creates a notification that shows an alert, plays a sound or sets the badge.
    ///
    /// - Parameters:
    ///   - alert: The text that is shown.
    ///   - sound: The sound that is played.
    ///   - badge: The number on the icon; 0 removes it.
    ///   - threadID: The identifier by which notifications are grouped.
    ///   - category: The category that defines the actions.
    ///   - targetContentID: The window to bring forward.
    ///   - interruptionLevel: The importance and delivery timing.
    ///   - relevanceScore: The rank in a notification summary, from 0 to 1.
    ///   - filterCriteria: The criteria that the current Focus evaluates.
    ///   - mutableContent: Whether the app's service extension may change the notification before it is shown.
    ///   - custom: The app's own keys.
    ///   - priority: The priority of the delivery.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - collapseID: The identifier of pushes that replace each other on the device.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func alert(
        _ alert: Alert?,
        sound: Sound? = nil,
        badge: Int? = nil,
        threadID: String? = nil,
        category: String? = nil,
        targetContentID: String? = nil,
        interruptionLevel: InterruptionLevel? = nil,
        relevanceScore: Double? = nil,
        filterCriteria: String? = nil,
        mutableContent: Bool = false,
        custom: CustomData? = nil,
        priority: Priority = .immediate,
        expiration: Expiration? = nil,
        collapseID: CollapseID? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        let aps = APS(
            alert: alert,
            badge: badge,
            sound: sound,
            threadID: threadID,
            category: category,
            mutableContent: mutableContent,
            targetContentID: targetContentID,
            interruptionLevel: interruptionLevel,
            relevanceScore: relevanceScore,
            filterCriteria: filterCriteria
        )
        return PushNotification(
            pushType: .alert,
            priority: priority,
            expiration: expiration,
            collapseID: collapseID,
            id: id,
            payload: Payload(aps, custom: custom)
        )
    }

    /// Creates a notification that wakes the app without notifying the user; its priority is always 5, as APNs
    /// requires.
    ///
    /// Source: "Pushing background updates to your App".
    ///
    /// - Parameters:
    ///   - custom: The app's own keys.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - collapseID: The identifier of pushes that replace each other.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func background(
        custom: CustomData? = nil,
        expiration: Expiration? = nil,
        collapseID: CollapseID? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        PushNotification(
            pushType: .background,
            priority: .powerAware,
            expiration: expiration,
            collapseID: collapseID,
            id: id,
            payload: Payload(APS(contentAvailable: true), custom: custom)
        )
    }

    /// Creates a notification whose payload is sent unchanged.
    ///
    /// ```swift
    /// let payload = #"{"aps":{"alert":"Order ready"},"order":42}"#
    /// let notification = PushNotification.opaque(payload.utf8, pushType: .alert, priority: .immediate)
    /// ```
    ///
    /// - Parameters:
    ///   - payload: The payload, of which only the size is checked.
    ///   - pushType: The push type; nil to leave the header out.
    ///   - priority: The priority of the delivery; nil to leave the header out.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - collapseID: The identifier of pushes that replace each other.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func opaque(
        _ payload: some Sequence<UInt8>,
        pushType: PushType?,
        priority: Priority? = nil,
        expiration: Expiration? = nil,
        collapseID: CollapseID? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        PushNotification(
            pushType: pushType,
            priority: priority,
            expiration: expiration,
            collapseID: collapseID,
            id: id,
            payload: Payload(opaque: payload)
        )
    }
}

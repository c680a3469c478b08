/// One notification, ready to be sent to any number of devices.
///
/// What Apple would refuse cannot be written: a background push has no alert and no priority to get wrong.
public struct PushNotification: Sendable, Hashable {
    /// What kind of push it is; nil only for opaque ones that do not say.
    public let pushType: PushType?
    /// How soon it should arrive; nil leaves it to APNs, which takes ``Priority/immediate``.
    public let priority: Priority?
    /// Until when it is worth delivering; nil leaves it to APNs.
    public var expiration: Expiration?
    /// Makes pushes replace each other on the device.
    public var collapseID: CollapseID?
    /// Its identifier; nil to have one made for each send.
    public var id: APNsID?
    /// What it carries.
    public let payload: Payload

    /// A notification that a person sees, hears or finds as a badge.
    ///
    /// - Parameters:
    ///   - alert: What a person reads.
    ///   - sound: What a person hears.
    ///   - badge: The number on the icon; 0 removes it.
    ///   - threadID: Which notifications are grouped with it.
    ///   - category: The category that brings its actions.
    ///   - targetContentID: The window to bring forward.
    ///   - interruptionLevel: How much it may disturb.
    ///   - relevanceScore: How it ranks in a summary, from 0 to 1.
    ///   - filterCriteria: What the current Focus evaluates.
    ///   - isMutable: Whether the app's service extension may change it first.
    ///   - custom: The app's own keys.
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when it is worth delivering.
    ///   - collapseID: Makes pushes replace each other on the device.
    ///   - id: Its identifier.
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
        isMutable: Bool = false,
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
            isMutable: isMutable,
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

    /// A notification that wakes the app without a sign to the person; APNs takes its priority to be 5 and no other.
    ///
    /// Source: "Pushing background updates to your App".
    ///
    /// - Parameters:
    ///   - custom: The app's own keys.
    ///   - expiration: Until when it is worth delivering.
    ///   - collapseID: Makes pushes replace each other.
    ///   - id: Its identifier.
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
            payload: Payload(APS(isContentAvailable: true), custom: custom)
        )
    }

    /// A notification whose bytes are sent as they are.
    ///
    /// - Parameters:
    ///   - payload: The bytes, which only their size is checked of.
    ///   - pushType: What kind of push it is; nil to leave the header out.
    ///   - priority: How soon it should arrive; nil to leave the header out.
    ///   - expiration: Until when it is worth delivering.
    ///   - collapseID: Makes pushes replace each other.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func opaque(
        _ payload: [UInt8],
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

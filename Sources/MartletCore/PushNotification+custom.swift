// SPDX-License-Identifier: Apache-2.0

extension PushNotification {
    /// Creates a notification that shows an alert, with the app's own keys from a value.
    ///
    /// The other parameters are those of the function with the same name that takes ``CustomData``.
    ///
    /// `custom` has the app's own keys; its dates are written as ISO 8601, without fractions of a second.
    /// ``CustomData`` has other forms of dates.
    ///
    /// - Returns: The notification.
    /// - Throws: ``PayloadError`` if the value does not encode to a JSON object without a key `aps`.
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
        custom: some Encodable,
        priority: Priority = .immediate,
        expiration: Expiration? = nil,
        collapseID: CollapseID? = nil,
        id: APNsID? = nil
    ) throws(PayloadError) -> PushNotification {
        .alert(
            alert,
            sound: sound,
            badge: badge,
            threadID: threadID,
            category: category,
            targetContentID: targetContentID,
            interruptionLevel: interruptionLevel,
            relevanceScore: relevanceScore,
            filterCriteria: filterCriteria,
            mutableContent: mutableContent,
            custom: try CustomData(custom),
            priority: priority,
            expiration: expiration,
            collapseID: collapseID,
            id: id
        )
    }

    /// Creates a notification that wakes the app without notifying the user, with the app's own keys from a value.
    ///
    /// - Parameters:
    ///   - custom: The value with the app's own keys; dates are written as ISO 8601, without fractions of a second.
    ///     ``CustomData`` has other forms of dates.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - collapseID: The identifier of pushes that replace each other.
    ///   - id: The identifier.
    /// - Returns: The notification.
    /// - Throws: ``PayloadError`` if the value does not encode to a JSON object without a key `aps`.
    public static func background(
        custom: some Encodable,
        expiration: Expiration? = nil,
        collapseID: CollapseID? = nil,
        id: APNsID? = nil
    ) throws(PayloadError) -> PushNotification {
        .background(custom: try CustomData(custom), expiration: expiration, collapseID: collapseID, id: id)
    }
}

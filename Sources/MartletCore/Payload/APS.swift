// SPDX-License-Identifier: Apache-2.0

/// The part of a payload that Apple defines, the dictionary `aps`.
///
/// Source: "Generating a remote notification", keys of `aps`.
public struct APS: Sendable, Hashable {
    /// The text that is shown.
    public var alert: PushNotification.Alert?
    /// The number on the app's icon; 0 removes it, nil leaves it unchanged.
    public var badge: Int?
    /// The sound that is played.
    public var sound: PushNotification.Sound?
    /// The identifier by which notifications are grouped (`thread-id`).
    public var threadID: String?
    /// The identifier of a registered category, which defines the actions.
    public var category: String?
    /// Whether the push wakes the app in the background (`content-available`).
    public var isContentAvailable: Bool
    /// Whether the app's service extension may change the notification before it is shown (`mutable-content`).
    public var isMutable: Bool
    /// The window to bring forward (`target-content-id`).
    public var targetContentID: String?
    /// The importance and delivery timing of the notification (`interruption-level`).
    public var interruptionLevel: PushNotification.InterruptionLevel?
    /// The rank in a notification summary, from 0 to 1 (`relevance-score`).
    public var relevanceScore: Double?
    /// The criteria that the current Focus evaluates (`filter-criteria`).
    public var filterCriteria: String?

    /// Creates a dictionary from its entries, all of which are optional.
    public init(
        alert: PushNotification.Alert? = nil,
        badge: Int? = nil,
        sound: PushNotification.Sound? = nil,
        threadID: String? = nil,
        category: String? = nil,
        isContentAvailable: Bool = false,
        isMutable: Bool = false,
        targetContentID: String? = nil,
        interruptionLevel: PushNotification.InterruptionLevel? = nil,
        relevanceScore: Double? = nil,
        filterCriteria: String? = nil
    ) {
        self.alert = alert
        self.badge = badge
        self.sound = sound
        self.threadID = threadID
        self.category = category
        self.isContentAvailable = isContentAvailable
        self.isMutable = isMutable
        self.targetContentID = targetContentID
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.filterCriteria = filterCriteria
    }

    func write(into object: inout JSONObjectWriter) throws(PayloadError) {
        if let alert { object.write("alert") { alert.write(into: &$0) } }
        object.write("badge", badge)
        try sound?.write(into: &object)
        object.write("thread-id", threadID)
        object.write("category", category)
        object.write("content-available", isContentAvailable ? 1 : nil)
        object.write("mutable-content", isMutable ? 1 : nil)
        object.write("target-content-id", targetContentID)
        object.write("interruption-level", interruptionLevel?.rawValue)
        try object.write("relevance-score", relevanceScore)
        object.write("filter-criteria", filterCriteria)
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The part of a payload that Apple defines, the dictionary `aps`.
///
/// It is encoded with Apple's keys. Source: "Generating a remote notification", keys of `aps`.
public struct APS: Sendable, Hashable, Codable {
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
    public var contentAvailable: Bool
    /// Whether the app's service extension may change the notification before it is shown (`mutable-content`).
    public var mutableContent: Bool
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
        contentAvailable: Bool = false,
        mutableContent: Bool = false,
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
        self.contentAvailable = contentAvailable
        self.mutableContent = mutableContent
        self.targetContentID = targetContentID
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.filterCriteria = filterCriteria
    }

    private enum CodingKeys: String, CodingKey {
        case alert, badge, sound, category
        case threadID = "thread-id"
        case contentAvailable = "content-available"
        case mutableContent = "mutable-content"
        case targetContentID = "target-content-id"
        case interruptionLevel = "interruption-level"
        case relevanceScore = "relevance-score"
        case filterCriteria = "filter-criteria"
    }

    /// Decodes the value of `aps` in a payload; an alert may be an object or only the text of its body.
    ///
    /// Keys that this type does not have are ignored.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        if let body = try? values.decodeIfPresent(String.self, forKey: .alert) {
            alert = PushNotification.Alert(body: body)
        } else {
            alert = try values.decodeIfPresent(PushNotification.Alert.self, forKey: .alert)
        }
        badge = try values.decodeIfPresent(Int.self, forKey: .badge)
        sound = try values.decodeIfPresent(PushNotification.Sound.self, forKey: .sound)
        threadID = try values.decodeIfPresent(String.self, forKey: .threadID)
        category = try values.decodeIfPresent(String.self, forKey: .category)
        contentAvailable = try values.decodeIfPresent(Int.self, forKey: .contentAvailable) == 1
        mutableContent = try values.decodeIfPresent(Int.self, forKey: .mutableContent) == 1
        targetContentID = try values.decodeIfPresent(String.self, forKey: .targetContentID)
        interruptionLevel = try values.decodeIfPresent(
            PushNotification.InterruptionLevel.self,
            forKey: .interruptionLevel
        )
        relevanceScore = try values.decodeIfPresent(Double.self, forKey: .relevanceScore)
        filterCriteria = try values.decodeIfPresent(String.self, forKey: .filterCriteria)
    }

    /// Encodes the value of `aps` in a payload, without the keys that are nil or false.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(alert, forKey: .alert)
        try values.encodeIfPresent(badge, forKey: .badge)
        try values.encodeIfPresent(sound, forKey: .sound)
        try values.encodeIfPresent(threadID, forKey: .threadID)
        try values.encodeIfPresent(category, forKey: .category)
        try values.encodeIfPresent(contentAvailable ? 1 : nil, forKey: .contentAvailable)
        try values.encodeIfPresent(mutableContent ? 1 : nil, forKey: .mutableContent)
        try values.encodeIfPresent(targetContentID, forKey: .targetContentID)
        try values.encodeIfPresent(interruptionLevel, forKey: .interruptionLevel)
        try values.encodeIfPresent(relevanceScore, forKey: .relevanceScore)
        try values.encodeIfPresent(filterCriteria, forKey: .filterCriteria)
    }

    func write(into object: inout JSONObjectWriter) throws(PayloadError) {
        if let alert { object.write("alert") { alert.write(into: &$0) } }
        object.write("badge", badge)
        try sound?.write(into: &object)
        object.write("thread-id", threadID)
        object.write("category", category)
        object.write("content-available", contentAvailable ? 1 : nil)
        object.write("mutable-content", mutableContent ? 1 : nil)
        object.write("target-content-id", targetContentID)
        object.write("interruption-level", interruptionLevel?.rawValue)
        try object.write("relevance-score", relevanceScore)
        object.write("filter-criteria", filterCriteria)
    }
}

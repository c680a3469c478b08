// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A notification.
public struct NotificationSurface: Surface {
    /// The kind of surface.
    public static var kind: SurfaceKind { .notification }

    /// The first line.
    public var title: String
    /// The line below the title.
    public var subtitle: String?
    /// The text; may be empty.
    public var body: String
    /// The link that a tap opens.
    public var deepLink: String
    /// The identifier of one of the app's categories, which defines the actions.
    public var category: String?
    /// The identifier by which notifications are grouped.
    public var threadID: String?
    /// The importance and delivery timing.
    public var interruptionLevel: SurfaceInterruptionLevel?
    /// The rank in a notification summary, from 0 to 1.
    public var relevanceScore: Double?
    /// The window to bring forward.
    public var targetContentID: String?

    /// Creates content; only ``SurfaceSnapshot/validated(categories:)`` validates it.
    public init(
        title: String,
        subtitle: String? = nil,
        body: String,
        deepLink: String,
        category: String? = nil,
        threadID: String? = nil,
        interruptionLevel: SurfaceInterruptionLevel? = nil,
        relevanceScore: Double? = nil,
        targetContentID: String? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.deepLink = deepLink
        self.category = category
        self.threadID = threadID
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.targetContentID = targetContentID
    }

    /// The content as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue {
        .object(of: [
            "title": title, "subtitle": subtitle, "body": body, "deepLink": deepLink, "category": category,
            "threadId": threadID, "interruptionLevel": interruptionLevel?.rawValue, "relevanceScore": relevanceScore,
            "targetContentId": targetContentID,
        ])
    }
}

extension NotificationSurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        title = fields.required("title", .nonEmptyText)
        subtitle = fields.optional("subtitle", .nonEmptyText)
        body = fields.required("body", .text)
        deepLink = fields.required("deepLink", .deepLink)
        category = fields.optional("category", .choice(of: fields.categories.ids))
        threadID = fields.optional("threadId", .nonEmptyText)
        interruptionLevel = fields.optional("interruptionLevel", .choice(standIn: .active))
        relevanceScore = fields.optional("relevanceScore", .fraction)
        targetContentID = fields.optional("targetContentId", .nonEmptyText)
    }
}

/// The importance and delivery timing of a notification, named as in a snapshot.
public enum SurfaceInterruptionLevel: String, Sendable, Hashable, CaseIterable, Codable {
    /// Adds the notification to the list without lighting the screen or playing a sound.
    case passive
    /// Lights the screen and can play a sound.
    case active
    /// Delivers the notification immediately, also during a Focus that allows it.
    case timeSensitive
    /// Delivers the notification immediately and plays its sound despite the mute switch.
    case critical
}

// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A notification.
public struct NotificationSurface: Surface {
    /// The kind of surface.
    public static var kind: SurfaceKind { .notification }

    /// The first line.
    public var title: SurfaceText
    /// The line below the title.
    public var subtitle: SurfaceText?
    /// The text; may be empty.
    public var body: SurfaceText
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
    /// The media that the app's service extension attaches, at most ten; the system shows the first as a thumbnail.
    public var attachments: [SurfaceAttachment]
    /// The texts that the app's service extension fills with values of the phone; nil for none.
    public var personalized: PersonalizedText?

    /// Creates content; only ``SurfaceSnapshot/validated(categories:)`` validates it.
    ///
    /// A text is a string literal, `.plain(text)` for a text in a variable, or `.localized(key:arguments:)`.
    public init(
        title: SurfaceText,
        subtitle: SurfaceText? = nil,
        body: SurfaceText,
        deepLink: String,
        category: String? = nil,
        threadID: String? = nil,
        interruptionLevel: SurfaceInterruptionLevel? = nil,
        relevanceScore: Double? = nil,
        targetContentID: String? = nil,
        attachments: [SurfaceAttachment] = [],
        personalized: PersonalizedText? = nil
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
        self.attachments = attachments
        self.personalized = personalized
    }

    /// Whether the app's service extension changes the notification before it is shown.
    public var isEnriched: Bool { !attachments.isEmpty || personalized != nil }

    /// The content as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue {
        .object(of: [
            "title": title.snapshotJSON, "subtitle": subtitle?.snapshotJSON, "body": body.snapshotJSON,
            "deepLink": deepLink, "category": category, "threadId": threadID,
            "interruptionLevel": interruptionLevel?.rawValue, "relevanceScore": relevanceScore,
            "targetContentId": targetContentID,
            "attachments": attachments.isEmpty ? nil : JSONValue.array(attachments.map(\.json)),
            "personalized": personalized?.json,
        ])
    }
}

extension NotificationSurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        title = fields.required(text: "title", .nonEmptyText)
        subtitle = fields.optional(text: "subtitle", .nonEmptyText)
        body = fields.required(text: "body", .text)
        deepLink = fields.required("deepLink", .deepLink)
        category = fields.optional("category", .choice(of: fields.categories.ids))
        threadID = fields.optional("threadId", .nonEmptyText)
        interruptionLevel = fields.optional("interruptionLevel", .choice(standIn: .active))
        relevanceScore = fields.optional("relevanceScore", .fraction)
        targetContentID = fields.optional("targetContentId", .nonEmptyText)
        attachments = fields.optionalList("attachments", count: 1...10, SurfaceAttachment.init(reading:))
        personalized = fields.optionalObject("personalized", PersonalizedText.init(reading:))
        if Set(attachments.map(\.id)).count < attachments.count {
            fields.report(.invalidValue, "attachments", "has an identifier twice")
        }
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

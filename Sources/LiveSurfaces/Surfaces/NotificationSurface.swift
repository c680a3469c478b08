public import APNs

/// A notification.
public struct NotificationSurface: Surface {
    /// Which of the six kinds it is.
    public static var kind: SurfaceKind { .notification }

    /// The first line.
    public var title: String
    /// The line below it.
    public var subtitle: String?
    /// The text; may be empty.
    public var body: String
    /// Where a tap leads.
    public var deepLink: String
    /// One of the app's categories, which brings its actions.
    public var category: String?
    /// Which notifications are grouped with it.
    public var threadID: String?
    /// How much it may disturb.
    public var interruptionLevel: SurfaceInterruptionLevel?
    /// How it ranks in a summary, from 0 to 1.
    public var relevanceScore: Double?
    /// The window to bring forward.
    public var targetContentID: String?

    /// Content from its parts; nothing is checked before ``SurfaceSnapshot/validated(categories:)``.
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

    /// The content as JSON, members in the order of the contract, without those that are absent.
    public var json: JSONValue {
        var members = MemberList(capacity: 9)
        members.add("title", title)
        members.add("subtitle", subtitle)
        members.add("body", body)
        members.add("deepLink", deepLink)
        members.add("category", category)
        members.add("threadId", threadID)
        members.add("interruptionLevel", interruptionLevel)
        members.add("relevanceScore", relevanceScore)
        members.add("targetContentId", targetContentID)
        return members.object
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

/// How much a notification may disturb, named as in a snapshot.
public enum SurfaceInterruptionLevel: String, Sendable, Hashable, CaseIterable, Codable {
    /// Into the list only.
    case passive
    /// Lights the screen and may sound.
    case active
    /// At once, also through a Focus that allows it.
    case timeSensitive
    /// At once and past the mute switch.
    case critical
}

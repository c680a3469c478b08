public import APNs

/// A view in StandBy.
public struct StandBySurface: Surface {
    /// Which of the six kinds it is.
    public static var kind: SurfaceKind { .standBy }

    /// The headline.
    public var title: String
    /// What stands below it; may be empty.
    public var body: String
    /// How far it has come, from 0 to 1.
    public var progress: Double
    /// Where a tap leads.
    public var deepLink: String
    /// How it is shown; as a card by default.
    public var presentation: StandByPresentation
    /// Its colours.
    public var tint: StandByTint?

    /// Content from its parts; nothing is checked before ``SurfaceSnapshot/validated(categories:)``.
    public init(
        title: String,
        body: String,
        progress: Double,
        deepLink: String,
        presentation: StandByPresentation = .card,
        tint: StandByTint? = nil
    ) {
        self.title = title
        self.body = body
        self.progress = progress
        self.deepLink = deepLink
        self.presentation = presentation
        self.tint = tint
    }

    /// The content as JSON, members in the order of the contract, without those that are absent.
    public var json: JSONValue {
        var members = MemberList(capacity: 6)
        members.add("title", title)
        members.add("body", body)
        members.add("progress", progress)
        members.add("deepLink", deepLink)
        members.add("presentation", presentation)
        members.add("tint", tint)
        return members.object
    }
}

extension StandBySurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        title = fields.required("title", .nonEmptyText)
        body = fields.required("body", .text)
        progress = fields.required("progress", .fraction)
        deepLink = fields.required("deepLink", .deepLink)
        presentation = fields.optional("presentation", .choice(standIn: .card), default: .card)
        tint = fields.optional("tint", .choice(standIn: .default))
    }
}

/// How a StandBy view is shown.
public enum StandByPresentation: String, Sendable, Hashable, CaseIterable, Codable {
    /// As a card.
    case card
    /// Dimmed, for the night.
    case night
}

/// The colours of a StandBy view.
public enum StandByTint: String, Sendable, Hashable, CaseIterable, Codable {
    /// Its own.
    case `default`
    /// One.
    case monochrome
}

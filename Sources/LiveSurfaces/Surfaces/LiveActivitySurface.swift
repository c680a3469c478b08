public import APNs

/// A Live Activity on the Lock Screen and in the Dynamic Island.
public struct LiveActivitySurface: Surface {
    /// Which of the six kinds it is.
    public static var kind: SurfaceKind { .liveActivity }

    /// The headline.
    public var title: String
    /// What stands below it; may be empty.
    public var body: String
    /// How far it has come, from 0 to 1.
    public var progress: Double
    /// Where a tap leads.
    public var deepLink: String
    /// What kind of thing runs; fixed when the activity starts.
    public var modeLabel: String
    /// More about it, for the app.
    public var contextLabel: String?
    /// One line about its state, for the app.
    public var statusLine: String?
    /// What a button would say, for the app.
    public var actionLabel: String?
    /// Which part of its life it is in.
    public var stage: LiveActivityStage
    /// How long it will still take; nil when nobody knows.
    public var estimatedSeconds: Int?
    /// How many parts there are besides the one shown.
    public var morePartsCount: Int?

    /// Content from its parts; nothing is checked before ``SurfaceSnapshot/validated(categories:)``.
    public init(
        title: String,
        body: String,
        progress: Double,
        deepLink: String,
        modeLabel: String,
        contextLabel: String? = nil,
        statusLine: String? = nil,
        actionLabel: String? = nil,
        stage: LiveActivityStage,
        estimatedSeconds: Int? = nil,
        morePartsCount: Int? = nil
    ) {
        self.title = title
        self.body = body
        self.progress = progress
        self.deepLink = deepLink
        self.modeLabel = modeLabel
        self.contextLabel = contextLabel
        self.statusLine = statusLine
        self.actionLabel = actionLabel
        self.stage = stage
        self.estimatedSeconds = estimatedSeconds
        self.morePartsCount = morePartsCount
    }

    /// The content as JSON, members in the order of the contract, without those that are absent.
    public var json: JSONValue {
        var members = MemberList(capacity: 11)
        members.add("title", title)
        members.add("body", body)
        members.add("progress", progress)
        members.add("deepLink", deepLink)
        members.add("modeLabel", modeLabel)
        members.add("contextLabel", contextLabel)
        members.add("statusLine", statusLine)
        members.add("actionLabel", actionLabel)
        members.add("stage", stage)
        members.add("estimatedSeconds", estimatedSeconds)
        members.add("morePartsCount", morePartsCount)
        return members.object
    }
}

extension LiveActivitySurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        title = fields.required("title", .nonEmptyText)
        body = fields.required("body", .text)
        progress = fields.required("progress", .fraction)
        deepLink = fields.required("deepLink", .deepLink)
        modeLabel = fields.required("modeLabel", .nonEmptyText)
        contextLabel = fields.optional("contextLabel", .text)
        statusLine = fields.optional("statusLine", .text)
        actionLabel = fields.optional("actionLabel", .nonEmptyText)
        stage = fields.required("stage", .choice(standIn: .prompted))
        estimatedSeconds = fields.optional("estimatedSeconds", .count)
        morePartsCount = fields.optional("morePartsCount", .count)
    }
}

/// Which part of its life a Live Activity is in.
public enum LiveActivityStage: String, Sendable, Hashable, CaseIterable, Codable {
    /// It has been announced.
    case prompted
    /// It is under way.
    case inProgress
    /// It comes to its end.
    case completing
}

public import APNs

/// A widget on the Home Screen.
public struct WidgetSurface: Surface {
    /// Which of the six kinds it is.
    public static var kind: SurfaceKind { .widget }

    /// The headline.
    public var title: String
    /// What stands below it; may be empty.
    public var body: String
    /// How far it has come, from 0 to 1; 0 or 1 for what has no progress.
    public var progress: Double
    /// Where a tap leads.
    public var deepLink: String
    /// The size it is meant for.
    public var family: WidgetFamily?
    /// When the system should ask for it again.
    public var reloadPolicy: WidgetReloadPolicy?

    /// Content from its parts; nothing is checked before ``SurfaceSnapshot/validated(categories:)``.
    public init(
        title: String,
        body: String,
        progress: Double,
        deepLink: String,
        family: WidgetFamily? = nil,
        reloadPolicy: WidgetReloadPolicy? = nil
    ) {
        self.title = title
        self.body = body
        self.progress = progress
        self.deepLink = deepLink
        self.family = family
        self.reloadPolicy = reloadPolicy
    }

    /// The content as JSON, members in the order of the contract, without those that are absent.
    public var json: JSONValue {
        var members = MemberList(capacity: 6)
        members.add("title", title)
        members.add("body", body)
        members.add("progress", progress)
        members.add("deepLink", deepLink)
        members.add("family", family)
        members.add("reloadPolicy", reloadPolicy)
        return members.object
    }
}

extension WidgetSurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        title = fields.required("title", .nonEmptyText)
        body = fields.required("body", .text)
        progress = fields.required("progress", .fraction)
        deepLink = fields.required("deepLink", .deepLink)
        family = fields.optional("family", .choice(standIn: .systemSmall))
        reloadPolicy = fields.optional("reloadPolicy", .choice(standIn: .manual))
    }
}

/// The sizes of widgets.
public enum WidgetFamily: String, Sendable, Hashable, CaseIterable, Codable {
    /// A square.
    case systemSmall
    /// Two squares side by side.
    case systemMedium
    /// Four squares.
    case systemLarge
}

/// When a widget is asked for again.
public enum WidgetReloadPolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// When the app says so.
    case manual
    /// After a time.
    case afterDate
}

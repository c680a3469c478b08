public import APNs

/// A snapshot of a surface whose kind is known; projections are defined for those they make sense for.
public struct Snapshot<Content: Surface>: Sendable, Hashable {
    /// Names this revision: the same content has the same identifier, by convention `<surfaceID>@<revision>`.
    public var id: String
    /// Names the surface through all its revisions.
    public var surfaceID: String
    /// When it was written; a surface keeps the newest.
    public var updatedAt: SurfaceDate
    /// Where what it shows stands.
    public var state: SurfaceState
    /// What it shows.
    public var surface: Content

    /// A snapshot from its parts; nothing is checked before ``SurfaceSnapshot/validated(categories:)``.
    public init(id: String, surfaceID: String, updatedAt: SurfaceDate, state: SurfaceState, surface: Content) {
        self.id = id
        self.surfaceID = surfaceID
        self.updatedAt = updatedAt
        self.state = state
        self.surface = surface
    }

    /// Which of the six kinds it is.
    public var kind: SurfaceKind { Content.kind }

    /// The snapshot as JSON, members in the order of the contract, without those that are absent.
    public var json: JSONValue {
        var members = MemberList(capacity: 7)
        members.add("schemaVersion", SurfaceSnapshot.schemaVersion)
        members.add("id", id)
        members.add("surfaceId", surfaceID)
        members.add("kind", kind)
        members.add("updatedAt", updatedAt.rawValue)
        members.add("state", state)
        members.add(kind.rawValue, surface.json)
        return members.object
    }
}

/// What a surface of one kind shows.
public protocol Surface: Sendable, Hashable {
    /// Which of the six kinds it is.
    static var kind: SurfaceKind { get }

    /// The content as JSON, members in the order of the contract, without those that are absent.
    var json: JSONValue { get }
}

/// A snapshot of a Live Activity.
public typealias LiveActivitySnapshot = Snapshot<LiveActivitySurface>
/// A snapshot of a widget.
public typealias WidgetSnapshot = Snapshot<WidgetSurface>
/// A snapshot of a control.
public typealias ControlSnapshot = Snapshot<ControlSurface>
/// A snapshot of a Lock Screen accessory.
public typealias LockAccessorySnapshot = Snapshot<LockAccessorySurface>
/// A snapshot of a StandBy view.
public typealias StandBySnapshot = Snapshot<StandBySurface>
/// A snapshot of a notification.
public typealias NotificationSnapshot = Snapshot<NotificationSurface>

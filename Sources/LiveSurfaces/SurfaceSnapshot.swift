public import APNs

/// What one surface of an app shows at one moment: a snapshot of one of the six kinds.
///
/// The module `LiveSurfaces` is the contract between a server and the surfaces of an iOS app: Live Activities, widgets,
/// controls, notifications, Lock Screen accessories and StandBy. Both sides import this one definition, so nothing is
/// generated and nothing can drift. It needs nothing but the standard library and Foundation.
///
/// ```swift
/// let snapshot = SurfaceSnapshot.liveActivity(
///     Snapshot(
///         id: "order-17@3",
///         surfaceID: "order-17",
///         updatedAt: SurfaceDate(.now),
///         state: .active,
///         surface: LiveActivitySurface(
///             title: "On its way",
///             body: "Two stops before you",
///             progress: 0.7,
///             deepLink: "shop://orders/17",
///             modeLabel: "Delivery",
///             stage: .inProgress
///         )
///     )
/// )
/// ```
public enum SurfaceSnapshot: Sendable, Hashable {
    /// A Live Activity.
    case liveActivity(LiveActivitySnapshot)
    /// A widget on the Home Screen.
    case widget(WidgetSnapshot)
    /// A control in Control Center.
    case control(ControlSnapshot)
    /// An accessory on the Lock Screen.
    case lockAccessory(LockAccessorySnapshot)
    /// A view in StandBy.
    case standBy(StandBySnapshot)
    /// A notification.
    case notification(NotificationSnapshot)

    /// The generation of the contract that this module speaks.
    public static let schemaVersion = "5"

    /// Which of the six it is.
    public var kind: SurfaceKind { common.kind }

    /// Names this revision: the same content has the same identifier.
    public var id: String { common.id }

    /// Names the surface through all its revisions.
    public var surfaceID: String { common.surfaceID }

    /// When it was written; a surface keeps the newest.
    public var updatedAt: SurfaceDate { common.updatedAt }

    /// Where what it shows stands.
    public var state: SurfaceState { common.state }

    /// The snapshot as JSON, members in the order of the contract, without those that are absent.
    public var json: JSONValue { common.json }

    private var common: any AnySnapshot {
        switch self {
        case .liveActivity(let snapshot): snapshot
        case .widget(let snapshot): snapshot
        case .control(let snapshot): snapshot
        case .lockAccessory(let snapshot): snapshot
        case .standBy(let snapshot): snapshot
        case .notification(let snapshot): snapshot
        }
    }
}

extension SurfaceSnapshot {
    /// The Live Activity that this is.
    ///
    /// - Throws: ``WrongSurfaceKind`` when it is something else.
    public func asLiveActivity() throws(WrongSurfaceKind) -> LiveActivitySnapshot {
        guard case .liveActivity(let snapshot) = self else {
            throw WrongSurfaceKind(wanted: .liveActivity, found: kind)
        }
        return snapshot
    }

    /// The notification that this is.
    ///
    /// - Throws: ``WrongSurfaceKind`` when it is something else.
    public func asNotification() throws(WrongSurfaceKind) -> NotificationSnapshot {
        guard case .notification(let snapshot) = self else {
            throw WrongSurfaceKind(wanted: .notification, found: kind)
        }
        return snapshot
    }
}

/// A snapshot was of another kind than what was asked of it needs.
public struct WrongSurfaceKind: Error, Hashable, CustomStringConvertible {
    /// The kind it would have to be.
    public let wanted: SurfaceKind
    /// The kind it is.
    public let found: SurfaceKind

    /// An error from its parts.
    public init(wanted: SurfaceKind, found: SurfaceKind) {
        self.wanted = wanted
        self.found = found
    }

    /// What was wanted and found.
    public var description: String { "this needs a snapshot of the kind \(wanted.rawValue), and got \(found.rawValue)" }
}

/// What all snapshots have in common.
private protocol AnySnapshot {
    var kind: SurfaceKind { get }
    var id: String { get }
    var surfaceID: String { get }
    var updatedAt: SurfaceDate { get }
    var state: SurfaceState { get }
    var json: JSONValue { get }
}

extension Snapshot: AnySnapshot {}

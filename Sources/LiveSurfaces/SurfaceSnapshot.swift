// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// The content of a surface of an app at one time: a snapshot of one of the six kinds.
///
/// The module `LiveSurfaces` is the contract between a server and the surfaces of an iOS app: Live Activities, widgets,
/// controls, notifications, Lock Screen accessories and StandBy. Both sides import the same types, so there is no
/// generated code that could differ. The module depends only on `MartletCore`, the standard library and Foundation.
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

    /// The version of the contract that this module implements.
    public static let schemaVersion = "5"

    /// The kind of surface.
    public var kind: SurfaceKind { common.kind }

    /// The identifier of this revision: the same content has the same identifier.
    public var id: String { common.id }

    /// The identifier of the surface in all its revisions.
    public var surfaceID: String { common.surfaceID }

    /// The time at which the snapshot was written; a surface shows the latest.
    public var updatedAt: SurfaceDate { common.updatedAt }

    /// The state of the surface's subject.
    public var state: SurfaceState { common.state }

    /// The snapshot as JSON, with members in the order of the contract, without absent ones.
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
    /// Returns the snapshot as one of a Live Activity.
    ///
    /// - Throws: ``WrongSurfaceKind`` if it is of another kind.
    public func asLiveActivity() throws(WrongSurfaceKind) -> LiveActivitySnapshot {
        guard case .liveActivity(let snapshot) = self else {
            throw WrongSurfaceKind(wanted: .liveActivity, found: kind)
        }
        return snapshot
    }

    /// Returns the snapshot as one of a notification.
    ///
    /// - Throws: ``WrongSurfaceKind`` if it is of another kind.
    public func asNotification() throws(WrongSurfaceKind) -> NotificationSnapshot {
        guard case .notification(let snapshot) = self else {
            throw WrongSurfaceKind(wanted: .notification, found: kind)
        }
        return snapshot
    }
}

/// An error for a snapshot of the wrong kind.
public struct WrongSurfaceKind: Error, Hashable, CustomStringConvertible {
    /// The required kind.
    public let wanted: SurfaceKind
    /// The kind of the snapshot.
    public let found: SurfaceKind

    /// Creates an error.
    public init(wanted: SurfaceKind, found: SurfaceKind) {
        self.wanted = wanted
        self.found = found
    }

    /// The required kind and the kind of the snapshot.
    public var description: String { "this needs a snapshot of the kind \(wanted.rawValue), and got \(found.rawValue)" }
}

/// The members that all snapshots have.
private protocol AnySnapshot {
    var kind: SurfaceKind { get }
    var id: String { get }
    var surfaceID: String { get }
    var updatedAt: SurfaceDate { get }
    var state: SurfaceState { get }
    var json: JSONValue { get }
}

extension Snapshot: AnySnapshot {}

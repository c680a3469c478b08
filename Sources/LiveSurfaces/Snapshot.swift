// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A snapshot of a surface whose kind is known at compile time; each projection is defined only for the kinds that have
/// it.
public struct Snapshot<Content: Surface>: Sendable, Hashable {
    /// The identifier of this revision: the same content has the same identifier, by convention
    /// `<surfaceID>@<revision>`.
    public var id: String
    /// The identifier of the surface in all its revisions.
    public var surfaceID: String
    /// The time at which the snapshot was written; a surface shows the latest.
    public var updatedAt: SurfaceDate
    /// The state of the surface's subject.
    public var state: SurfaceState
    /// The content of the surface.
    public var surface: Content

    /// Creates a snapshot; only ``SurfaceSnapshot/validated(categories:)`` validates it.
    public init(id: String, surfaceID: String, updatedAt: SurfaceDate, state: SurfaceState, surface: Content) {
        self.id = id
        self.surfaceID = surfaceID
        self.updatedAt = updatedAt
        self.state = state
        self.surface = surface
    }

    /// The kind of surface.
    public var kind: SurfaceKind { Content.kind }

    /// The snapshot as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue {
        .object(of: [
            "schemaVersion": SurfaceSnapshot.schemaVersion, "id": id, "surfaceId": surfaceID, "kind": kind.rawValue,
            "updatedAt": updatedAt.rawValue, "state": state.rawValue, kind.rawValue: surface.json,
        ])
    }
}

/// The content of a surface of a certain kind.
public protocol Surface: Sendable, Hashable {
    /// The kind of surface.
    static var kind: SurfaceKind { get }

    /// The content as JSON, with members in the order of the contract, without absent ones.
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

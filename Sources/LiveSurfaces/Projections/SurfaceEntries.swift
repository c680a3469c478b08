public import APNs

/// What a widget reads from the app group.
public struct WidgetEntry: SurfaceEntry {
    /// The kind of surface that decodes it.
    public static var surfaceKind: SurfaceKind { .widget }

    /// The generation of the contract; check it before anything else.
    public let schemaVersion: String
    /// Always `widget`.
    public let kind: SurfaceKind
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// Where what it shows stands.
    public let state: SurfaceState
    /// The size it is meant for.
    public let family: WidgetFamily?
    /// When the system should ask for it again.
    public let reloadPolicy: WidgetReloadPolicy?
    /// The headline.
    public let headline: String
    /// What stands below it.
    public let subhead: String
    /// How far it has come, from 0 to 1.
    public let progress: Double
    /// Where a tap leads.
    public let deepLink: String

    /// The entry as JSON, members in the order of the contract.
    public var json: JSONValue {
        var members = MemberList(capacity: 11)
        members.add("schemaVersion", schemaVersion)
        members.add("kind", kind)
        members.add("snapshotId", snapshotId)
        members.add("surfaceId", surfaceId)
        members.add("state", state)
        members.add("family", family)
        members.add("reloadPolicy", reloadPolicy)
        members.add("headline", headline)
        members.add("subhead", subhead)
        members.add("progress", progress)
        members.add("deepLink", deepLink)
        return members.object
    }
}

/// What a control reads from the app group.
public struct ControlEntry: SurfaceEntry {
    /// The kind of surface that decodes it.
    public static var surfaceKind: SurfaceKind { .control }

    /// The generation of the contract; check it before anything else.
    public let schemaVersion: String
    /// Always `control`.
    public let kind: SurfaceKind
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// What sort of control it is.
    public let controlKind: ControlKind
    /// The value of a toggle.
    public let value: Bool?
    /// The App Intent that it runs.
    public let intent: String?
    /// What it says.
    public let label: String
    /// Where it leads.
    public let deepLink: String

    /// The entry as JSON, members in the order of the contract.
    public var json: JSONValue {
        var members = MemberList(capacity: 9)
        members.add("schemaVersion", schemaVersion)
        members.add("kind", kind)
        members.add("snapshotId", snapshotId)
        members.add("surfaceId", surfaceId)
        members.add("controlKind", controlKind)
        members.add("value", value)
        members.add("intent", intent)
        members.add("label", label)
        members.add("deepLink", deepLink)
        return members.object
    }
}

/// What a Lock Screen accessory reads from the app group.
public struct LockAccessoryEntry: SurfaceEntry {
    /// The kind of surface that decodes it.
    public static var surfaceKind: SurfaceKind { .lockAccessory }

    /// The generation of the contract; check it before anything else.
    public let schemaVersion: String
    /// Always `lockAccessory`.
    public let kind: SurfaceKind
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// Where what it shows stands.
    public let state: SurfaceState
    /// The form it is meant for.
    public let family: AccessoryFamily
    /// What it says.
    public let headline: String
    /// What stands in a small place.
    public let shortText: String?
    /// What its gauge shows, from 0 to 1.
    public let gaugeValue: Double?
    /// Where a tap leads.
    public let deepLink: String

    /// The entry as JSON, members in the order of the contract.
    public var json: JSONValue {
        var members = MemberList(capacity: 10)
        members.add("schemaVersion", schemaVersion)
        members.add("kind", kind)
        members.add("snapshotId", snapshotId)
        members.add("surfaceId", surfaceId)
        members.add("state", state)
        members.add("family", family)
        members.add("headline", headline)
        members.add("shortText", shortText)
        members.add("gaugeValue", gaugeValue)
        members.add("deepLink", deepLink)
        return members.object
    }
}

/// What a StandBy view reads from the app group.
public struct StandByEntry: SurfaceEntry {
    /// The kind of surface that decodes it.
    public static var surfaceKind: SurfaceKind { .standBy }

    /// The generation of the contract; check it before anything else.
    public let schemaVersion: String
    /// Always `standby`.
    public let kind: SurfaceKind
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// Where what it shows stands.
    public let state: SurfaceState
    /// How it is shown.
    public let presentation: StandByPresentation
    /// Its colours.
    public let tint: StandByTint?
    /// The headline.
    public let headline: String
    /// What stands below it.
    public let subhead: String
    /// How far it has come, from 0 to 1.
    public let progress: Double
    /// Where a tap leads.
    public let deepLink: String

    /// The entry as JSON, members in the order of the contract.
    public var json: JSONValue {
        var members = MemberList(capacity: 11)
        members.add("schemaVersion", schemaVersion)
        members.add("kind", kind)
        members.add("snapshotId", snapshotId)
        members.add("surfaceId", surfaceId)
        members.add("state", state)
        members.add("presentation", presentation)
        members.add("tint", tint)
        members.add("headline", headline)
        members.add("subhead", subhead)
        members.add("progress", progress)
        members.add("deepLink", deepLink)
        return members.object
    }
}

/// What the app writes to the app group for a surface, and the surface's extension decodes.
public protocol SurfaceEntry: Codable, Sendable, Hashable {
    /// The kind of surface that decodes it.
    static var surfaceKind: SurfaceKind { get }

    /// The generation of the contract.
    var schemaVersion: String { get }

    /// The kind of surface that it is for.
    var kind: SurfaceKind { get }

    /// The entry as JSON, members in the order of the contract.
    var json: JSONValue { get }
}

public import MartletCore

extension Snapshot<LiveActivitySurface> {
    /// The dynamic content of the activity, as ActivityKit decodes it.
    public var contentState: SurfaceActivityAttributes.ContentState {
        SurfaceActivityAttributes.ContentState(
            headline: surface.title,
            subhead: surface.body,
            progress: surface.progress,
            stage: surface.stage
        )
    }

    /// The static data of the activity, as ActivityKit decodes it.
    public var attributes: SurfaceActivityAttributes {
        SurfaceActivityAttributes(surfaceId: surfaceID, modeLabel: surface.modeLabel)
    }

    /// The payload of an alert with the same content, for devices without the activity.
    public var alertPayload: JSONValue {
        ["aps": ["alert": alert(subtitle: nil, body: surface.body), "sound": "default"], "liveSurface": sidecar()]
    }
}

extension Snapshot<NotificationSurface> {
    /// The payload of the notification, with the app's own data beside `aps`.
    public var payload: JSONValue {
        var aps = JSONObjectBuilder(capacity: 7)
        aps.add("alert", alert(subtitle: surface.subtitle, body: surface.body))
        aps.add("sound", "default")
        aps.add("category", surface.category)
        aps.add("thread-id", surface.threadID)
        aps.add("interruption-level", surface.interruptionLevel?.apple.rawValue)
        aps.add("relevance-score", surface.relevanceScore)
        aps.add("target-content-id", surface.targetContentID)
        return [
            "schemaVersion": .string(SurfaceSnapshot.schemaVersion), "aps": aps.object,
            "liveSurface": sidecar(category: surface.category),
        ]
    }
}

extension SurfaceInterruptionLevel {
    /// Apple's name of the level, which differs for `timeSensitive`.
    public var apple: InterruptionLevel {
        switch self {
        case .passive: .passive
        case .active: .active
        case .timeSensitive: .timeSensitive
        case .critical: .critical
        }
    }
}

/// The app's own data beside `aps` in a push made from a snapshot, under the key `liveSurface`.
public struct SurfaceSidecar: Codable, Sendable, Hashable {
    /// The version of the contract; check it first.
    public let schemaVersion: String
    /// Always `surface_snapshot`.
    public let kind: String
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// The state of the surface's subject.
    public let state: SurfaceState
    /// The link that a tap opens.
    public let deepLink: String
    /// The notification's category.
    public let category: String?
}

/// A surface that can be shown as an alert.
private protocol AlertingSurface {
    var title: String { get }
    var deepLink: String { get }
}

extension LiveActivitySurface: AlertingSurface {}
extension NotificationSurface: AlertingSurface {}

extension Snapshot where Content: AlertingSurface {
    fileprivate func alert(subtitle: String?, body: String) -> JSONValue {
        var members = JSONObjectBuilder(capacity: 3)
        members.add("title", surface.title)
        members.add("subtitle", subtitle)
        members.add("body", body)
        return members.object
    }

    fileprivate func sidecar(category: String? = nil) -> JSONValue {
        var members = JSONObjectBuilder(capacity: 7)
        members.add("schemaVersion", SurfaceSnapshot.schemaVersion)
        members.add("kind", "surface_snapshot")
        members.add("snapshotId", id)
        members.add("surfaceId", surfaceID)
        members.add("state", state)
        members.add("deepLink", surface.deepLink)
        members.add("category", category)
        return members.object
    }
}

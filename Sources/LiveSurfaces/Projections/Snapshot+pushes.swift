// SPDX-License-Identifier: Apache-2.0

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
        let aps = JSONValue.object(of: [
            "alert": alert(subtitle: surface.subtitle, body: surface.body), "sound": "default",
            "category": surface.category, "thread-id": surface.threadID,
            "interruption-level": surface.interruptionLevel?.apple.rawValue, "relevance-score": surface.relevanceScore,
            "target-content-id": surface.targetContentID,
        ])
        return [
            "schemaVersion": .string(SurfaceSnapshot.schemaVersion), "aps": aps,
            "liveSurface": sidecar(category: surface.category),
        ]
    }
}

extension SurfaceInterruptionLevel {
    /// Apple's name of the level, which differs for `timeSensitive`.
    public var apple: PushNotification.InterruptionLevel {
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
        .object(of: ["title": surface.title, "subtitle": subtitle, "body": body])
    }

    fileprivate func sidecar(category: String? = nil) -> JSONValue {
        .object(of: [
            "schemaVersion": SurfaceSnapshot.schemaVersion, "kind": "surface_snapshot", "snapshotId": id,
            "surfaceId": surfaceID, "state": state.rawValue, "deepLink": surface.deepLink, "category": category,
        ])
    }
}

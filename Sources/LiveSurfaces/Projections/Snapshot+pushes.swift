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
        let alert: JSONValue = ["title": .string(surface.title), "body": .string(surface.body)]
        return ["aps": ["alert": alert, "sound": "default"], "liveSurface": sidecar()]
    }
}

extension Snapshot<NotificationSurface> {
    /// The payload of the notification, with the app's own data beside `aps`.
    public var payload: JSONValue {
        let aps = JSONValue.object(of: [
            "alert": surface.alert, "sound": "default",
            "category": surface.category, "thread-id": surface.threadID,
            "interruption-level": surface.interruptionLevel?.apple.rawValue, "relevance-score": surface.relevanceScore,
            "target-content-id": surface.targetContentID, "mutable-content": surface.isEnriched ? 1 : nil,
        ])
        let attachments = surface.attachments.isEmpty ? nil : JSONValue.array(surface.attachments.map(\.json))
        let sidecar = sidecar(
            category: surface.category,
            attachments: attachments,
            personalized: surface.personalized?.json
        )
        return ["schemaVersion": .string(SurfaceSnapshot.schemaVersion), "aps": aps, "liveSurface": sidecar]
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

/// A surface that can be shown as an alert.
private protocol AlertingSurface {
    var deepLink: String { get }
}

extension LiveActivitySurface: AlertingSurface {}
extension NotificationSurface: AlertingSurface {}

extension NotificationSurface {
    /// The alert, with texts or with keys of the app's strings.
    fileprivate var alert: JSONValue {
        let subtitle = subtitle?.alertMembers("subtitle") ?? []
        return .object(title.alertMembers("title") + subtitle + body.alertMembers("body"))
    }
}

extension Snapshot where Content: AlertingSurface {
    fileprivate func sidecar(
        category: String? = nil,
        attachments: JSONValue? = nil,
        personalized: JSONValue? = nil
    ) -> JSONValue {
        .object(of: [
            "schemaVersion": SurfaceSnapshot.schemaVersion, "kind": SurfaceSidecar.kind, "snapshotId": id,
            "surfaceId": surfaceID, "state": state.rawValue, "deepLink": surface.deepLink, "category": category,
            "attachments": attachments, "personalized": personalized,
        ])
    }
}

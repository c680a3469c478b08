// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// The content that a surface shall show: the part of its request that does not name an audience.
struct SurfaceContent: Sendable {
    /// The snapshots, at most one for each kind.
    var snapshots: [SurfaceSnapshot]
    /// Whether a change matters to the user now, rather than when the phone next has time.
    var isUrgent: Bool
    /// The attributes type of the Live Activity, which names the token that starts it.
    var attributesType: String
    /// The kind of the control, which names the token that reloads it; nil if it is not known.
    var control: String?
    /// The channel that Live Activities join when they are started; nil for none.
    var channel: SurfaceChannel?
    /// The kinds that the revision of a stored surface has left as they were.
    var unchanged = UnchangedKinds()

    /// Returns the snapshot of a kind; nil for a kind that the surface does not have.
    func snapshot(_ kind: SurfaceKind) -> SurfaceSnapshot? { snapshots.first { $0.kind == kind } }
}

extension SurfaceContent {
    /// The snapshots that are sent once for each revision: those that are not a Live Activity, and not the notification
    /// in its place.
    var directSnapshots: [SurfaceSnapshot] {
        let hasActivity = snapshot(.liveActivity) != nil
        return snapshots.filter { $0.kind != .liveActivity && !(hasActivity && $0.kind == .notification) }
    }

    /// The notification, which is shown in place of a Live Activity; without one of its own, with the texts of the Live
    /// Activity.
    var notification: SurfaceSnapshot? {
        if let notification = snapshot(.notification) { return notification }
        guard case .liveActivity(let activity)? = snapshot(.liveActivity) else { return nil }
        return .notification(
            Snapshot(
                id: activity.id,
                surfaceID: activity.surfaceID,
                updatedAt: activity.updatedAt,
                state: activity.state,
                surface: NotificationSurface(
                    title: .plain(activity.surface.title),
                    body: .plain(activity.surface.body),
                    deepLink: activity.surface.deepLink
                )
            )
        )
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// The next step of a surface on one installation, as it was decided: pushes to build, and the time of the step after.
struct SurfacePlan: Sendable {
    /// A push to build.
    struct Send: Sendable {
        /// The kinds of pushes of a surface.
        enum Content: Sendable, Hashable {
            /// Starts the Live Activity. The starts of a surface share one collapse identifier, so that a stored one is
            /// replaced.
            case start(timestamp: Int64, channel: SurfaceChannel? = nil)
            /// Updates the Live Activity; the priority and the stale date are those of the update.
            case update(ActivitySession.Update)
            /// Ends the Live Activity, and removes it from the screen.
            case end(timestamp: Int64)
            /// Updates or ends the Live Activities on a channel.
            case broadcast(ActivitySession.Broadcast)
            /// Shows a notification; the notifications of a surface share one collapse identifier.
            case notification
            /// Wakes the app in the background with the snapshot.
            case background
            /// Reloads the widgets of the app, which fetch the snapshot.
            case widgets
            /// Reloads a control, which fetches the snapshot.
            case control
        }

        /// The identifier, which no other push has, except for a broadcast of other sessions.
        let id: APNsID
        let destination: PushRequest.Destination
        let content: Content
        /// The snapshot to show; for the end of a Live Activity, the last one, or the one of its removal.
        let snapshot: SurfaceSnapshot
    }

    var sends: [Send] = []
    /// The identifiers of earlier pushes to cancel, unless they are being sent or have ended.
    var cancelled: [APNsID] = []
    /// The time of the next step in milliseconds since 1970; nil to wait for a change.
    var dueAt: Int64?
    /// Whether nothing of the surface is on the phone, and nothing shall be.
    var isFinished = false
}

extension SurfaceSnapshot {
    /// The content with which a Live Activity is removed from the screen if the one that it shows is not known.
    static func removal(of surface: String) -> SurfaceSnapshot {
        .liveActivity(
            Snapshot(
                id: surface,
                surfaceID: surface,
                updatedAt: "1970-01-01T00:00:00.000Z",
                state: .completed,
                surface: LiveActivitySurface(
                    title: "–",
                    body: "",
                    progress: 1,
                    deepLink: "app://",
                    modeLabel: "–",
                    stage: .completing
                )
            )
        )
    }
}

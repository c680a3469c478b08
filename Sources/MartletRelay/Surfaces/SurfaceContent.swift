// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces

/// What a surface shall show: the part of its request that does not name an audience.
struct SurfaceContent: Sendable {
    /// The snapshots, at most one for each kind.
    var snapshots: [SurfaceSnapshot]
    /// Whether a change matters to the user now, rather than when the phone next has time.
    var isUrgent: Bool
    /// The attributes type of the Live Activity, which names the token that starts it.
    var attributesType: String

    /// Returns the snapshot of a kind; nil for a kind that the surface does not have.
    func snapshot(_ kind: SurfaceKind) -> SurfaceSnapshot? { snapshots.first { $0.kind == kind } }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces

extension Order {
    /// Returns the order on a surface: the same revision has the same identifier.
    private func snapshot<Content: Surface>(_ content: Content) -> Snapshot<Content> {
        Snapshot(
            id: "\(surfaceID)@\(revision)",
            surfaceID: surfaceID,
            updatedAt: SurfaceDate(changedAt),
            state: stage == .ready ? .attention : .active,
            surface: content
        )
    }

    var liveActivity: SurfaceSnapshot {
        .liveActivity(
            snapshot(
                LiveActivitySurface(
                    title: headline,
                    body: detail,
                    progress: stage.progress,
                    deepLink: link,
                    modeLabel: "Order \(number)",
                    stage: stage == .ready ? .completing : .inProgress
                )
            )
        )
    }
}

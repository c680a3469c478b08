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

    /// The surfaces that the app stores for its extensions.
    var stored: [SurfaceSnapshot] {
        [
            .widget(
                snapshot(WidgetSurface(title: headline, body: detail, progress: stage.progress, deepLink: link))
            ),
            .lockAccessory(
                snapshot(
                    LockAccessorySurface(
                        title: headline,
                        deepLink: link,
                        family: .accessoryCircular,
                        gaugeValue: stage.progress,
                        shortText: "\(number)"
                    )
                )
            ),
            .control(
                snapshot(
                    ControlSurface(
                        label: "Ring the bell",
                        deepLink: link,
                        controlKind: .toggle,
                        isOn: false,
                        intent: "RingBellIntent"
                    )
                )
            ),
        ]
    }
}

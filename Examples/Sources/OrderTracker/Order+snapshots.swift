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

    /// The notification that the order is ready, with texts of the app's string catalog and a picture of the order.
    func notification(shelf: Int, until closing: String, picture: String) -> NotificationSnapshot {
        snapshot(
            NotificationSurface(
                title: .localized(key: "ORDER_READY", arguments: ["\(number)"]),
                subtitle: .localized(key: "ORDER_SHELF", arguments: ["\(shelf)"]),
                body: .localized(key: "ORDER_PICK_UP", arguments: [closing, "Main Street 5"]),
                deepLink: link,
                category: "surface-update",
                threadID: surfaceID,
                interruptionLevel: .timeSensitive,
                relevanceScore: 1,
                attachments: [SurfaceAttachment(id: "photo", url: picture, type: .png)]
            )
        )
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension SurfaceSnapshot {
    /// Returns an example of a kind, about the delivery of an order: for previews, tests and experiments.
    ///
    /// - Parameter kind: The kind.
    /// - Returns: A valid snapshot.
    public static func example(of kind: SurfaceKind) -> SurfaceSnapshot {
        func snapshot<Content: Surface>(_ surface: Content) -> Snapshot<Content> {
            Snapshot(
                id: "order-17-\(kind.rawValue)@3",
                surfaceID: "order-17-\(kind.rawValue)",
                updatedAt: "2026-05-12T18:31:00.000Z",
                state: .active,
                surface: surface
            )
        }
        let (title, body, link) = ("On its way", "Two stops before you", "shop://orders/17")
        switch kind {
        case .liveActivity:
            return .liveActivity(
                snapshot(
                    LiveActivitySurface(
                        title: title,
                        body: body,
                        progress: 0.5,
                        deepLink: link,
                        modeLabel: "Delivery",
                        stage: .inProgress,
                        estimatedSeconds: 600
                    )
                )
            )
        case .widget:
            let surface = WidgetSurface(title: title, body: body, progress: 0.5, deepLink: link, family: .systemMedium)
            return .widget(snapshot(surface))
        case .control:
            let surface = ControlSurface(label: "Ring the bell", deepLink: link, controlKind: .toggle, isOn: true)
            return .control(snapshot(surface))
        case .lockAccessory:
            let surface = LockAccessorySurface(
                title: title,
                deepLink: link,
                family: .accessoryCircular,
                gaugeValue: 0.5,
                shortText: "2 stops"
            )
            return .lockAccessory(snapshot(surface))
        case .standBy:
            let surface = StandBySurface(
                title: title,
                body: body,
                progress: 0.5,
                deepLink: link,
                presentation: .night,
                tint: .monochrome
            )
            return .standBy(snapshot(surface))
        case .notification:
            let surface = NotificationSurface(
                title: .plain(title),
                body: .plain(body),
                deepLink: link,
                category: "surface-update",
                threadID: "order-17",
                interruptionLevel: .timeSensitive
            )
            return .notification(snapshot(surface))
        }
    }
}

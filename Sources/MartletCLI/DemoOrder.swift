// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet

/// The pushes about an order, from placed to delivered, for every kind of surface.
enum DemoOrder {
    static let attributesType = "OrderAttributes"

    /// Returns the pushes, in the order in which they are sent.
    static func pushes(on channel: ChannelID) throws -> [DemoPush] {
        let order = try PushNotification.CustomData(json: Array(#"{"deepLink":"trattoria://orders/42"}"#.utf8))
        return [
            DemoPush(
                "the order is placed, in the language of the device",
                .push(
                    .alert(
                        PushNotification.Alert(
                            titleLocalizationKey: "ORDER_PLACED",
                            titleLocalizationArguments: ["Ada"],
                            localizationKey: "ORDER_PLACED_BODY",
                            localizationArguments: ["42", "18:40"]
                        ),
                        sound: .default,
                        badge: 1,
                        threadID: "order-42",
                        custom: order
                    ),
                    to: DemoScenario.phone
                )
            ),
            DemoPush("the app fetches the receipt", .push(.background(custom: order), to: DemoScenario.phone)),
            DemoPush("a Live Activity begins", .start(try start("In the kitchen", .byToken), on: DemoScenario.starter)),
            DemoPush("the pizza goes into the oven", .update(try .update(state("In the oven", 18, 0.3)))),
            DemoPush("a snapshot for the widget", .surface(widget, to: DemoScenario.phone)),
            DemoPush("the widget reloads", .push(reload(.widgets), to: DemoScenario.phone)),
            DemoPush("a snapshot for the control", .surface(control, to: DemoScenario.phone)),
            DemoPush("the control reloads", .push(reload(.controls), to: DemoScenario.phone)),
            DemoPush("a snapshot for the Lock Screen accessory", .surface(accessory, to: DemoScenario.phone)),
            DemoPush("a snapshot for StandBy", .surface(standBy, to: DemoScenario.phone)),
            DemoPush(
                "a friend follows the order through a channel",
                .start(try start("In the oven", .byChannel(channel)), on: DemoScenario.friend)
            ),
            DemoPush("the courier has left: a broadcast", .broadcast(try .update(state("On its way", 9, 0.6)))),
            DemoPush(
                "the courier is around the corner",
                .update(
                    try .update(
                        state("Around the corner", 2, 0.9),
                        alert: LiveActivityAlert(title: "Order 42", body: "Two minutes to go.")
                    )
                )
            ),
            DemoPush(
                "the courier is at the door",
                .push(
                    .alert(
                        PushNotification.Alert(title: "Your courier is here", body: "Bruno is at the door."),
                        sound: .default,
                        threadID: "order-42",
                        category: "DELIVERY",
                        interruptionLevel: .timeSensitive
                    ),
                    to: DemoScenario.phone
                )
            ),
            DemoPush(
                "the Live Activity ends",
                .update(try .end(state("Delivered", 0, 1), dismissal: .after(.seconds(600))))
            ),
            DemoPush("the activities on the channel end", .broadcast(try .end(state("Delivered", 0, 1)))),
            DemoPush("a notification asks for feedback", .surface(notification, to: DemoScenario.phone)),
            DemoPush("the badge is removed", .push(.alert(nil, badge: 0), to: DemoScenario.phone)),
        ]
    }

    private static func start(
        _ status: String,
        _ updateSource: LiveActivityStart.UpdateSource
    ) throws(PayloadError) -> LiveActivityStart {
        try LiveActivityStart(
            attributesType: attributesType,
            attributes: ["order": 42, "restaurant": "Bruno's"],
            state: state(status, 25, 0.1),
            alert: LiveActivityAlert(title: "Order 42", body: "Follow it here."),
            updateSource: updateSource
        )
    }

    static func state(_ status: String, _ minutesLeft: Int, _ progress: Double) -> JSONValue {
        [
            "status": .string(status), "minutesLeft": .integer(minutesLeft),
            "progress": JSONNumber(progress).map(JSONValue.number) ?? .null,
        ]
    }

    private static func reload(_ type: PushType) -> PushNotification {
        .opaque(Array(#"{"aps":{"content-changed":true}}"#.utf8), pushType: type)
    }

    // MARK: Snapshots

    private static let link = "trattoria://orders/42"

    static let widget = SurfaceSnapshot.widget(
        snapshot(WidgetSurface(title: "In the oven", body: "Order 42, 18 minutes", progress: 0.3, deepLink: link))
    )
    static let control = SurfaceSnapshot.control(
        snapshot(ControlSurface(label: "Ring the bell", deepLink: link, controlKind: .toggle, isOn: true))
    )
    static let accessory = SurfaceSnapshot.lockAccessory(
        snapshot(
            LockAccessorySurface(
                title: "Order 42",
                deepLink: link,
                family: .accessoryCircular,
                gaugeValue: 0.3,
                shortText: "18 min"
            )
        )
    )
    static let standBy = SurfaceSnapshot.standBy(
        snapshot(StandBySurface(title: "In the oven", body: "Order 42, 18 minutes", progress: 0.3, deepLink: link))
    )
    private static let notification = SurfaceSnapshot.notification(
        snapshot(
            NotificationSurface(
                title: "How was it?",
                body: "Tell Bruno how you liked order 42.",
                deepLink: link,
                category: "surface-update",
                threadID: "order-42"
            )
        )
    )

    private static func snapshot<Content: Surface>(_ surface: Content) -> Snapshot<Content> {
        Snapshot(
            id: "order-42-\(Content.kind.rawValue)@1",
            surfaceID: "order-42-\(Content.kind.rawValue)",
            updatedAt: "2026-11-21T18:20:00.000Z",
            state: .active,
            surface: surface
        )
    }
}

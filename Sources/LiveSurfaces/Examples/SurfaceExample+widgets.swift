// SPDX-License-Identifier: Apache-2.0

extension SurfaceExample {
    /// A widget for a certain size, which the app reloads.
    public static let widgetMedium = SurfaceExample(
        "widget-medium",
        "a widget of medium size, which the app reloads",
        WidgetSurface(
            title: "On its way",
            body: "Two stops before you",
            progress: 0.62,
            deepLink: link,
            family: .systemMedium,
            reloadPolicy: .manual
        ),
        as: SurfaceSnapshot.widget
    )
    /// A widget with only the required fields.
    public static let widgetMinimal = SurfaceExample(
        "widget-minimal",
        "a widget with only the required fields",
        WidgetSurface(title: "In the oven", body: "Ready in 12 minutes", progress: 0.5, deepLink: link),
        as: SurfaceSnapshot.widget
    )

    static let widgets = [widgetMedium, widgetMinimal]

    /// A control that is on or off.
    public static let controlToggle = SurfaceExample(
        "control-toggle",
        "a control that is on or off",
        ControlSurface(
            label: "Leave at the door",
            deepLink: link,
            controlKind: .toggle,
            isOn: false,
            intent: "toggleLeaveAtDoor"
        ),
        as: SurfaceSnapshot.control
    )
    /// A control that performs an action.
    public static let controlButton = SurfaceExample(
        "control-button",
        "a control that performs an action",
        ControlSurface(label: "Ring the bell", deepLink: link, controlKind: .button, intent: "ringBell"),
        as: SurfaceSnapshot.control
    )
    /// A control that opens a link.
    public static let controlLink = SurfaceExample(
        "control-link",
        "a control that opens a link",
        ControlSurface(label: "Show order", deepLink: link, controlKind: .deepLink),
        as: SurfaceSnapshot.control
    )

    static let controls = [controlToggle, controlButton, controlLink]

    /// A round accessory with a gauge.
    public static let accessoryCircular = SurfaceExample(
        "accessory-circular",
        "a round accessory with a gauge",
        LockAccessorySurface(
            title: "Order 62% done",
            deepLink: link,
            family: .accessoryCircular,
            gaugeValue: 0.62,
            shortText: "62%"
        ),
        as: SurfaceSnapshot.lockAccessory
    )
    /// A rectangular accessory with a gauge.
    public static let accessoryRectangular = SurfaceExample(
        "accessory-rectangular",
        "a rectangular accessory with a gauge",
        LockAccessorySurface(
            title: "Two stops before you",
            deepLink: link,
            family: .accessoryRectangular,
            gaugeValue: 0.41,
            shortText: "2 stops"
        ),
        as: SurfaceSnapshot.lockAccessory
    )
    /// An accessory in the line above the clock.
    public static let accessoryInline = SurfaceExample(
        "accessory-inline",
        "an accessory in the line above the clock",
        LockAccessorySurface(
            title: "Order on its way",
            deepLink: link,
            family: .accessoryInline,
            shortText: "Order on its way"
        ),
        as: SurfaceSnapshot.lockAccessory
    )

    static let accessories = [accessoryCircular, accessoryRectangular, accessoryInline]

    /// A view in StandBy by day.
    public static let standByCard = SurfaceExample(
        "standby-card",
        "a view in StandBy by day",
        StandBySurface(
            title: "On its way",
            body: "Two stops before you",
            progress: 0.45,
            deepLink: link,
            presentation: .card,
            tint: .default
        ),
        as: SurfaceSnapshot.standBy
    )
    /// A view in StandBy at night.
    public static let standByNight = SurfaceExample(
        "standby-night",
        "a view in StandBy at night",
        StandBySurface(
            title: "Breakfast at 7:30",
            body: "Order 17 is baked in the morning.",
            progress: 0.78,
            deepLink: link,
            presentation: .night,
            tint: .monochrome
        ),
        as: SurfaceSnapshot.standBy
    )

    static let standByViews = [standByCard, standByNight]
}

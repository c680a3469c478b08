// SPDX-License-Identifier: Apache-2.0

extension SurfaceExample {
    /// A Live Activity whose subject has not started.
    public static let activityQueued = activity(
        "queued",
        "the order has been placed, and the kitchen has not started",
        .queued,
        LiveActivitySurface(
            title: "Order placed",
            body: "The kitchen starts at 18:00.",
            progress: 0,
            deepLink: link,
            modeLabel: "Order",
            contextLabel: "Order 17",
            statusLine: "queued · starts at 18:00",
            actionLabel: "Open order",
            stage: .prompted,
            estimatedSeconds: 2_700,
            morePartsCount: 0
        )
    )
    /// A Live Activity in progress.
    public static let activityActive = activity(
        "active",
        "the courier is on the way",
        .active,
        LiveActivitySurface(
            title: "On its way",
            body: "Two stops before you",
            progress: 0.5,
            deepLink: link,
            modeLabel: "Delivery",
            contextLabel: "Order 17",
            statusLine: "on its way · 50%",
            actionLabel: "Show map",
            stage: .inProgress,
            estimatedSeconds: 600,
            morePartsCount: 0
        )
    )
    /// A Live Activity that counts down.
    public static let activityCountdown = activity(
        "countdown",
        "the courier arrives within a minute",
        .active,
        LiveActivitySurface(
            title: "At your door in 30 seconds",
            body: "Have your code ready: 4711.",
            progress: 0.95,
            deepLink: link,
            modeLabel: "Delivery",
            contextLabel: "Order 17",
            statusLine: "arriving · 30 s",
            actionLabel: "Show code",
            stage: .inProgress,
            estimatedSeconds: 30,
            morePartsCount: 0
        )
    )
    /// A Live Activity with more parts than it shows.
    public static let activityDetails = activity(
        "details",
        "the order is delivered in three parcels, of which one is shown",
        .active,
        LiveActivitySurface(
            title: "The first parcel is on its way",
            body: "Two more parcels follow today.",
            progress: 0.75,
            deepLink: link,
            modeLabel: "Delivery",
            contextLabel: "Order 17, parcel 1 of 3",
            statusLine: "on its way · 2 more parcels",
            actionLabel: "Show parcels",
            stage: .inProgress,
            estimatedSeconds: 420,
            morePartsCount: 2
        )
    )
    /// A Live Activity that is paused.
    public static let activityPaused = activity(
        "paused",
        "the courier has stopped, and no update is expected",
        .paused,
        LiveActivitySurface(
            title: "The courier is waiting",
            body: "A bridge is closed until 18:45.",
            progress: 0.4,
            deepLink: link,
            modeLabel: "Delivery",
            contextLabel: "Order 17",
            statusLine: "paused · until 18:45",
            actionLabel: "Open order",
            stage: .prompted,
            estimatedSeconds: 1_800,
            morePartsCount: 0
        )
    )
    /// A Live Activity that needs the user's attention.
    public static let activityAttention = activity(
        "attention",
        "the courier cannot find the door, and the user must answer",
        .attention,
        LiveActivitySurface(
            title: "Which door is yours?",
            body: "The courier is in front of the house.",
            progress: 0.9,
            deepLink: link,
            modeLabel: "Delivery",
            contextLabel: "Order 17",
            statusLine: "attention · answer needed",
            actionLabel: "Answer",
            stage: .prompted,
            estimatedSeconds: 120,
            morePartsCount: 1
        )
    )
    /// A Live Activity that should not interrupt the user.
    public static let activityBadTiming = activity(
        "bad-timing",
        "the user is driving, and should not be interrupted",
        .badTiming,
        LiveActivitySurface(
            title: "Your order waits for you",
            body: "It is kept warm until you arrive.",
            progress: 0,
            deepLink: "shop://today",
            modeLabel: "Not now",
            contextLabel: "Order 17",
            statusLine: "suppressed · not now",
            actionLabel: "Remind me later",
            stage: .completing,
            estimatedSeconds: 0,
            morePartsCount: 0
        )
    )
    /// A Live Activity whose subject is completed.
    public static let activityCompleted = activity(
        "completed",
        "the order has been delivered",
        .completed,
        LiveActivitySurface(
            title: "Delivered",
            body: "Enjoy your meal.",
            progress: 1,
            deepLink: link,
            modeLabel: "Delivery",
            contextLabel: "Order 17",
            statusLine: "delivered · 18:52",
            actionLabel: "Rate order",
            stage: .completing,
            estimatedSeconds: 0,
            morePartsCount: 0
        )
    )

    static let activities = [
        activityQueued, activityActive, activityCountdown, activityDetails, activityPaused, activityAttention,
        activityBadTiming, activityCompleted,
    ]

    private static func activity(
        _ name: String,
        _ summary: String,
        _ state: SurfaceState,
        _ content: LiveActivitySurface
    ) -> SurfaceExample {
        SurfaceExample("activity-" + name, summary, state: state, content, as: SurfaceSnapshot.liveActivity)
    }
}

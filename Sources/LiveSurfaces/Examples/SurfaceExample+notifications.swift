// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension SurfaceExample {
    /// A notification with a category and a thread.
    public static let notificationAlert = notification(
        "alert",
        "the user must act",
        .attention,
        title: "Which door is yours?",
        body: "The courier is in front of the house."
    )
    /// A notification that a content extension shows.
    public static let notificationCategory = notification(
        "category",
        "the app's content extension shows the notification, because of its category",
        title: "Order ready for pickup",
        body: "Show this code at the counter: 4711."
    )
    /// A notification that is grouped by its thread alone.
    public static let notificationThread = notification(
        "thread",
        "notifications are grouped by their thread, without a category",
        .queued,
        title: "Order placed",
        body: "The kitchen starts at 18:00."
    ) { $0.category = nil }
    /// A notification that is delivered during a Focus.
    public static let notificationTimeSensitive = notification(
        "time-sensitive",
        "the notification is delivered during a Focus",
        .attention,
        title: "The courier is two minutes away",
        body: "Have your code ready: 4711."
    ) { $0.interruptionLevel = .timeSensitive }
    /// A notification with a rank in the summary.
    public static let notificationRelevance = notification(
        "relevance",
        "the notification has a rank in the scheduled summary",
        title: "Your week in orders",
        body: "Three orders, and one free dessert."
    ) { $0.relevanceScore = 0.9 }
    /// A notification about a subject that is completed.
    public static let notificationCompleted = notification(
        "completed",
        "the order has been delivered",
        .completed,
        title: "Delivered",
        body: "Enjoy your meal."
    )
    /// A notification with a line between title and body.
    public static let notificationSubtitle = notification(
        "subtitle",
        "the notification has a line between title and body",
        title: "A message from your courier",
        body: "I am at the back door."
    ) { $0.subtitle = "Order 17" }
    /// A notification for a window of the app.
    public static let notificationWindow = notification(
        "window",
        "a tap brings a certain window of the app forward",
        title: "Your receipt is ready",
        body: "Order 17, 24.50 €"
    ) { $0.targetContentID = "window.receipt.17" }
    /// A notification whose texts are keys of the app's strings.
    public static let notificationLocalized = notification(
        "localized",
        "iOS takes the texts from the app's strings, in the user's language",
        title: .localized(key: "ORDER_READY"),
        body: .localized(key: "PICK_UP_UNTIL", arguments: ["18:00"])
    )
    /// A notification that the app's service extension completes.
    public static let notificationEnriched = notification(
        "enriched",
        "the app's service extension attaches a picture and fills a placeholder",
        title: "Order ready",
        body: "Tap to open the order."
    ) { content in
        let url = "https://shop.example.com/orders/17.jpg"
        content.attachments = [SurfaceAttachment(id: "photo", url: url, type: .jpeg, byteCount: 214_000)]
        content.personalized = PersonalizedText(title: "{firstName}, your order is ready")
    }

    static let notifications = [
        notificationAlert, notificationCategory, notificationThread, notificationTimeSensitive, notificationRelevance,
        notificationCompleted, notificationSubtitle, notificationWindow, notificationLocalized, notificationEnriched,
    ]

    private static func notification(
        _ name: String,
        _ summary: String,
        _ state: SurfaceState = .active,
        title: SurfaceText,
        body: SurfaceText,
        change: (inout NotificationSurface) -> Void = { _ in }
    ) -> SurfaceExample {
        var content = NotificationSurface(
            title: title,
            body: body,
            deepLink: link,
            category: "surface-update",
            threadID: "order-17"
        )
        change(&content)
        return SurfaceExample("notification-" + name, summary, state: state, content, as: SurfaceSnapshot.notification)
    }
}

public import APNs

/// One device of many, and what is different for it.
public struct Recipient: Sendable, Hashable {
    /// The device.
    public var token: DeviceToken
    /// What it gets in place of the notification for all: with a badge, a text or a collapse identifier of its own;
    /// nil for the same as all.
    public var notification: PushNotification? {
        get { own?.notification }
        set { own = newValue.map(Own.init) }
    }

    /// Behind a reference, since most of many have none.
    private var own: Own?

    private final class Own: Sendable, Hashable {
        let notification: PushNotification

        init(_ notification: PushNotification) {
            self.notification = notification
        }

        static func == (left: Own, right: Own) -> Bool {
            left === right || left.notification == right.notification
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(notification)
        }
    }

    /// A device, and what it gets.
    public init(_ token: DeviceToken, notification: PushNotification? = nil) {
        self.token = token
        own = notification.map(Own.init)
    }
}

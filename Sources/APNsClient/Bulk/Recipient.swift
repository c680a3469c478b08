public import APNs

/// One device of many, and what is different for it.
public struct Recipient: Sendable, Hashable {
    /// The device.
    public var token: DeviceToken
    /// What it gets in place of the notification for all: with a badge, a text or a collapse identifier of its own;
    /// nil for the same as all.
    public var notification: PushNotification?

    /// A device, and what it gets.
    public init(_ token: DeviceToken, notification: PushNotification? = nil) {
        self.token = token
        self.notification = notification
    }
}

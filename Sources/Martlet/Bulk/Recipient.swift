// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A device of a bulk send, optionally with its own notification.
public struct Recipient: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The device.
    public var token: DeviceToken
    /// The notification that replaces the common one, such as one with its own badge, text or collapse identifier; nil
    /// for the common one.
    public var notification: PushNotification? {
        get { box?.notification }
        set { box = newValue.map(NotificationBox.init) }
    }

    /// Stored behind a reference, because most devices have none.
    private var box: NotificationBox?

    private final class NotificationBox: Sendable, Hashable {
        let notification: PushNotification

        init(_ notification: PushNotification) {
            self.notification = notification
        }

        static func == (left: NotificationBox, right: NotificationBox) -> Bool {
            left === right || left.notification == right.notification
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(notification)
        }
    }

    /// Creates a recipient from a device and an optional notification.
    public init(_ token: DeviceToken, notification: PushNotification? = nil) {
        self.token = token
        box = notification.map(NotificationBox.init)
    }

    /// The first digits of the device token, and the notification, in one line.
    public var description: String { notification.map { "\(token): \($0)" } ?? "\(token)" }

    private enum CodingKeys: CodingKey {
        case token, notification
    }

    /// Decodes `token` and `notification`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try values.decode(DeviceToken.self, forKey: .token),
            notification: try values.decodeIfPresent(PushNotification.self, forKey: .notification)
        )
    }

    /// Encodes `token` and `notification`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(token, forKey: .token)
        try values.encodeIfPresent(notification, forKey: .notification)
    }
}

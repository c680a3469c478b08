// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// Declarations of UserNotificationsUI that the phone's code uses, for Scripts/check phone.

@_exported public import Foundation
public import UserNotifications

/// https://developer.apple.com/documentation/usernotificationsui/unnotificationcontentextension
public protocol UNNotificationContentExtension: NSObjectProtocol {
    /// https://developer.apple.com/documentation/usernotificationsui/unnotificationcontentextension/didreceive(_:)
    @MainActor func didReceive(_ notification: UNNotification)
}

// SPDX-License-Identifier: Apache-2.0

extension PushLint {
    /// A rule: its name, its severity, and the page of Apple's documentation that it comes from.
    public struct Rule: Sendable, Hashable {
        /// The parts of a rule, shared by reference: a simulator stores thousands of findings, each with its rule.
        private final class Parts: Sendable {
            let id: String
            let severity: Severity
            let summary: String
            let page: String

            init(_ id: String, _ severity: Severity, _ summary: String, _ page: String) {
                self.id = id
                self.severity = severity
                self.summary = summary
                self.page = page
            }
        }

        private let parts: Parts

        /// Creates a rule without a summary, which ``when(_:)`` adds.
        package init(_ id: String, _ severity: Severity, _ page: ApplePage) {
            parts = Parts(id, severity, "", page.address)
        }

        private init(_ parts: Parts) {
            self.parts = parts
        }

        /// Returns the rule with the mistake that it detects as its summary.
        package func when(_ mistake: String) -> Rule { Rule(Parts(id, severity, mistake, page)) }

        /// The name, which does not change in later versions.
        public var id: String { parts.id }
        /// The severity of breaking the rule.
        public var severity: Severity { parts.severity }
        /// The mistake that the rule detects, in a sentence without the final stop.
        public var summary: String { parts.summary }
        /// The address of the page in Apple's documentation.
        public var page: String { parts.page }

        /// Returns whether two rules have the same name.
        public static func == (left: Rule, right: Rule) -> Bool { left.id == right.id }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    /// All rules for a single push, in the order in which ``check(headers:payload:at:)`` applies them.
    public static let rules: [Rule] =
        HeaderRules.all + PayloadRules.all + KeyRules.all + PushTypeRules.all + AlertRules.all
        + AttachmentRules.all + LiveActivityRules.all + LiveActivityContentRules.all + WidgetRules.all
        + AccessoryRules.all
        + WebsiteRules.all + MDMRules.all + PassRules.all + SecretRules.all
}

/// A page of Apple's documentation.
package struct ApplePage: Sendable {
    package let address: String

    private init(_ path: String) {
        address = "https://developer.apple.com/" + path
    }

    private static let notifications = "documentation/usernotifications/"

    /// "Sending notification requests to APNs".
    package static let sending = ApplePage(notifications + "sending-notification-requests-to-apns")
    /// "Generating a remote notification".
    package static let payload = ApplePage(notifications + "generating-a-remote-notification")
    /// "Pushing background updates to your App".
    package static let background = ApplePage(notifications + "pushing-background-updates-to-your-app")
    /// "Modifying content in newly delivered notifications".
    package static let serviceExtension = ApplePage(
        notifications + "modifying-content-in-newly-delivered-notifications"
    )
    /// "UNNotificationAttachment".
    package static let attachment = ApplePage(notifications + "unnotificationattachment")
    /// "Establishing a connection to Apple Push Notification service (APNs)".
    package static let connection = ApplePage(notifications + "establishing-a-connection-to-apns")
    /// "Establishing a token-based connection to APNs".
    package static let providerToken = ApplePage(notifications + "establishing-a-token-based-connection-to-apns")
    /// "Sending broadcast push notification requests to APNs".
    package static let broadcast = ApplePage(notifications + "sending-broadcast-push-notification-requests-to-apns")
    /// "Starting and updating Live Activities with ActivityKit push notifications".
    package static let liveActivity = ApplePage(
        "documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications"
    )
    /// "Updating widgets with WidgetKit push notifications".
    package static let widgets = ApplePage("documentation/widgetkit/updating-widgets-with-widgetkit-push-notifications")
    /// "Handling notification responses from APNs".
    package static let responses = ApplePage(notifications + "handling-notification-responses-from-apns")
    /// "Establishing a certificate-based connection to APNs".
    package static let certificate = ApplePage(notifications + "establishing-a-certificate-based-connection-to-apns")
    /// "Responding to forwarded notifications".
    package static let accessory = ApplePage(
        "documentation/accessorynotifications/responding-to-forwarded-notifications"
    )
    /// "Sending MDM commands to a device".
    package static let mdm = ApplePage("documentation/devicemanagement/sending-mdm-commands-to-a-device")
    /// "Adding a Web Service to Update Passes".
    package static let passes = ApplePage("documentation/walletpasses/adding-a-web-service-to-update-passes")
    /// "Configuring Safari Push Notifications", in the archive.
    package static let websites = ApplePage(
        "library/archive/documentation/NetworkingInternet/Conceptual/NotificationProgrammingGuideForWebsites/"
            + "PushNotifications/PushNotifications.html"
    )
    /// "Notifications" in the Human Interface Guidelines.
    package static let design = ApplePage("design/human-interface-guidelines/notifications")
}

// SPDX-License-Identifier: Apache-2.0

extension PushNotification {
    /// The importance and delivery timing of a notification.
    ///
    /// Source: "Generating a remote notification" and `UNNotificationInterruptionLevel`.
    public struct InterruptionLevel: RawRepresentable, Sendable, Hashable, Codable {
        /// The text as it is sent.
        public let rawValue: String

        /// Creates a level from its text, known or unknown.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Adds the notification to the list without lighting the screen or playing a sound.
        public static let passive = InterruptionLevel(rawValue: "passive")
        /// Lights the screen and can play a sound; the default.
        public static let active = InterruptionLevel(rawValue: "active")
        /// Delivers the notification immediately, also during a Focus that allows it; the app needs the capability.
        public static let timeSensitive = InterruptionLevel(rawValue: "time-sensitive")
        /// Delivers the notification immediately and plays its sound despite the mute switch; the app needs Apple's
        /// approval.
        public static let critical = InterruptionLevel(rawValue: "critical")

        /// All known levels.
        public static let all: [InterruptionLevel] = [.passive, .active, .timeSensitive, .critical]
    }
}

// SPDX-License-Identifier: Apache-2.0

extension PushNotification {
    /// The urgency of a push, `apns-priority`.
    ///
    /// Source: "Sending notification requests to APNs".
    public struct Priority: RawRepresentable, Sendable, Hashable, Codable {
        /// The number as it is sent.
        public let rawValue: Int

        /// Creates a priority from its number, known or unknown.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Delivers the push immediately (10, the default of APNs).
        public static let immediate = Priority(rawValue: 10)
        /// Delivers the push when the device's power budget allows, possibly grouped with others (5).
        public static let powerAware = Priority(rawValue: 5)
        /// Delivers the push only if that costs no power: the device is not woken (1).
        public static let powerFirst = Priority(rawValue: 1)

        /// All known priorities.
        public static let all: [Priority] = [.immediate, .powerAware, .powerFirst]
    }
}

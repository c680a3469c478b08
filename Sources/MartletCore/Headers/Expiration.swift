// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PushNotification {
    /// The time until which APNs tries to deliver a push, `apns-expiration`.
    ///
    /// Without an expiration, APNs stores a push for up to 30 days.
    /// Source: "Sending notification requests to APNs".
    public struct Expiration: Sendable, Hashable, Codable {
        /// Seconds since 1970; 0 for a single attempt.
        package let secondsSince1970: Int64

        /// The times that APNs accepts, in seconds since 1970.
        package static let accepted: ClosedRange<Int64> = 0 ... .max

        package init(secondsSince1970: Int64) {
            self.secondsSince1970 = secondsSince1970
        }

        /// A single delivery attempt: APNs does not store the push.
        public static let attemptOnce = Expiration(secondsSince1970: 0)

        /// Creates an expiration at a date, rounded down to a whole second.
        ///
        /// - Parameter date: The date. A date later than the header can represent becomes the latest representable
        ///   date. A push whose expiration is before 1970 or not a number is rejected before it is sent.
        /// - Returns: The expiration.
        public static func at(_ date: Date) -> Expiration {
            Expiration(secondsSince1970: date.secondsSince1970)
        }

        /// Creates an expiration this long after a date.
        ///
        /// - Parameters:
        ///   - duration: The time until the expiration; fractions of a second are ignored.
        ///   - start: The date from which it counts: now by default, not the time of sending.
        /// - Returns: The expiration.
        public static func after(_ duration: Duration, from start: Date = Date()) -> Expiration {
            .at(start + Double(duration.components.seconds))
        }

        /// The date; nil for ``attemptOnce``.
        public var date: Date? { secondsSince1970 == 0 ? nil : Date(secondsSince1970: secondsSince1970) }

        /// Decodes the value of the header, a number of seconds since 1970.
        public init(from decoder: any Decoder) throws {
            secondsSince1970 = try decoder.singleValueContainer().decode(Int64.self)
        }

        /// Encodes the value of the header, a number of seconds since 1970; 0 for ``attemptOnce``.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(secondsSince1970)
        }
    }
}

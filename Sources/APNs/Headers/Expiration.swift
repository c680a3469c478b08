#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The time until which APNs tries to deliver a push, `apns-expiration`.
///
/// Without one APNs stores a push for up to 30 days.
/// Source: "Sending notification requests to APNs".
public struct Expiration: Sendable, Hashable {
    /// Seconds since 1970; 0 for one attempt.
    package let secondsSince1970: Int64

    /// An expiration from the value of the header.
    package init(secondsSince1970: Int64) {
        self.secondsSince1970 = secondsSince1970
    }

    /// One attempt: APNs stores nothing.
    public static let attemptOnce = Expiration(secondsSince1970: 0)

    /// The expiration at a date, rounded down to a whole second.
    ///
    /// - Parameter date: The date. One later than the header can hold becomes the latest that it holds; a push with one
    ///   before 1970, or one that is not a number, is not sent.
    /// - Returns: The expiration.
    public static func at(_ date: Date) -> Expiration {
        Expiration(secondsSince1970: date.secondsSince1970)
    }

    /// The date; nil for ``attemptOnce``.
    public var date: Date? { secondsSince1970 == 0 ? nil : Date(secondsSince1970: secondsSince1970) }
}

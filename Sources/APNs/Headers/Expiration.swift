#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Until when a push is worth delivering, `apns-expiration`.
///
/// Without one APNs keeps a push for as long as it likes, 30 days at most.
/// Source: "Sending notification requests to APNs".
public struct Expiration: Sendable, Hashable {
    /// Seconds since 1970; 0 for one attempt.
    public let secondsSince1970: Int64

    /// Until this many seconds after the beginning of 1970.
    public init(secondsSince1970: Int64) {
        self.secondsSince1970 = secondsSince1970
    }

    /// APNs tries once and keeps nothing.
    public static let attemptOnce = Expiration(secondsSince1970: 0)

    /// Until a date; one beyond all measure counts as the farthest there is.
    ///
    /// - Parameter date: The date.
    /// - Returns: The expiration, in whole seconds.
    public static func at(_ date: Date) -> Expiration {
        Expiration(
            secondsSince1970: Int64(exactly: date.timeIntervalSince1970.rounded(.down))
                ?? (date > .distantPast ? .max : 0)
        )
    }
}

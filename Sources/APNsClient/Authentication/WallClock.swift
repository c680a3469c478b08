#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells the time of day, which provider tokens carry; a value, so that tests and demonstrations can bring their own.
package struct WallClock: Sendable {
    /// Whole microseconds since 1970, UTC.
    package let microsecondsSince1970: @Sendable () -> Int64

    /// A clock that asks `secondsSince1970`.
    package init(secondsSince1970: @escaping @Sendable () -> Int64) {
        microsecondsSince1970 = { secondsSince1970() * 1_000_000 }
    }

    private init(microsecondsSince1970: @escaping @Sendable () -> Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    /// Whole milliseconds since 1970, UTC.
    package func millisecondsSince1970() -> Int64 { microsecondsSince1970() / 1_000 }

    /// Whole seconds since 1970, UTC.
    package func secondsSince1970() -> Int64 { microsecondsSince1970() / 1_000_000 }

    /// The system's clock.
    package static let system = WallClock(microsecondsSince1970: { Int64(Date().timeIntervalSince1970 * 1_000_000) })
}

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells the time of day, which provider tokens carry; a value, so that tests and demonstrations can bring their own.
package struct WallClock: Sendable {
    /// Whole seconds since 1970, UTC.
    package var secondsSince1970: @Sendable () -> Int64

    /// A clock that asks `secondsSince1970`.
    package init(secondsSince1970: @escaping @Sendable () -> Int64) {
        self.secondsSince1970 = secondsSince1970
    }

    /// The system's clock.
    package static let system = WallClock { Int64(Date().timeIntervalSince1970) }
}

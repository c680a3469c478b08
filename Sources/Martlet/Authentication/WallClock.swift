// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A source of the time of day for provider tokens; a value, so that tests and demonstrations can replace it.
package struct WallClock: Sendable {
    /// Returns the whole microseconds since 1970, UTC.
    package let microsecondsSince1970: @Sendable () -> Int64

    /// Creates a clock from a function that returns seconds since 1970.
    package init(secondsSince1970: @escaping @Sendable () -> Int64) {
        microsecondsSince1970 = { secondsSince1970() * 1_000_000 }
    }

    private init(microsecondsSince1970: @escaping @Sendable () -> Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    /// Creates a clock from a function that returns milliseconds since 1970.
    package static func milliseconds(_ read: @escaping @Sendable () -> Int64) -> WallClock {
        WallClock(microsecondsSince1970: { read() * 1_000 })
    }

    /// Returns the whole milliseconds since 1970, UTC.
    package func millisecondsSince1970() -> Int64 { microsecondsSince1970() / 1_000 }

    /// Returns the whole seconds since 1970, UTC.
    package func secondsSince1970() -> Int64 { microsecondsSince1970() / 1_000_000 }

    package static let system = WallClock(microsecondsSince1970: { Int64(Date().timeIntervalSince1970 * 1_000_000) })
}

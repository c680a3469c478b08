// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Conversions to the units that APNs uses in its protocol; public API uses `Date`.
extension Date {
    /// Creates a date from whole seconds since 1970, the unit of request headers, payloads and provider tokens.
    package init(secondsSince1970 seconds: Int64) {
        self.init(timeIntervalSince1970: Double(seconds))
    }

    /// Creates a date from whole milliseconds since 1970, the unit of `timestamp` in a response with status 410.
    package init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    /// The whole seconds since 1970, rounded down.
    ///
    /// A date outside the range of `Int64` becomes the nearest value in the range.
    package var secondsSince1970: Int64 {
        Date.integer(timeIntervalSince1970.rounded(.down))
    }

    /// The milliseconds since 1970, rounded to the nearest.
    ///
    /// A date outside the range of `Int64` becomes the nearest value in the range.
    package var millisecondsSince1970: Int64 {
        Date.integer((timeIntervalSince1970 * 1_000).rounded())
    }

    private static func integer(_ number: Double) -> Int64 {
        Int64(exactly: number) ?? (number > 0 ? .max : .min)
    }
}

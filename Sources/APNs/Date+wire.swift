#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Times in the units that APNs uses on the wire; public API uses dates.
extension Date {
    /// A date from whole seconds since 1970, the unit of request headers, payloads and provider tokens.
    package init(secondsSince1970 seconds: Int64) {
        self.init(timeIntervalSince1970: Double(seconds))
    }

    /// A date from whole milliseconds since 1970, the unit of `timestamp` in an answer with status 410.
    package init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    /// The whole seconds since 1970, rounded down.
    ///
    /// A date that does not fit becomes the nearest value that does.
    package var secondsSince1970: Int64 {
        Date.integer(timeIntervalSince1970.rounded(.down))
    }

    /// The milliseconds since 1970, rounded to the nearest.
    ///
    /// A date that does not fit becomes the nearest value that does.
    package var millisecondsSince1970: Int64 {
        Date.integer((timeIntervalSince1970 * 1_000).rounded())
    }

    private static func integer(_ number: Double) -> Int64 {
        Int64(exactly: number) ?? (number > 0 ? .max : .min)
    }
}

// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The conversion of dates to the numbers in a payload, whole seconds since 1970.
package enum PayloadDate {
    /// The latest date, in seconds since 1970: the largest integer that every JSON parser reads exactly (RFC 8259 §6).
    package static let latest: Int64 = 9_007_199_254_740_991

    /// Converts a date to the number that a payload contains, rounded down.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - key: The key of the payload, for the error.
    /// - Returns: Seconds since 1970, from 0 to ``latest``.
    /// - Throws: ``PayloadError/dateOutOfRange(key:found:)`` for any other date.
    package static func seconds(_ date: Date, for key: String) throws(PayloadError) -> Int64 {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        // Comparisons with NaN are false.
        guard seconds >= 0, seconds <= Double(latest) else {
            throw .dateOutOfRange(key: key, found: "\(date.timeIntervalSince1970)")
        }
        return Int64(seconds)
    }
}

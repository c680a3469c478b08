// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The times that a query accepts, without a clock.
enum QueryTime {
    /// The forms of a time, for errors.
    static let forms = "2026-11-25, 2026-11-25T08:00, 08:30, or a time ago such as 10m, 2h or 3d"

    /// Reads a time.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - now: The time of the query in milliseconds since 1970.
    ///   - offset: The milliseconds by which the clock of the reader is ahead of UTC.
    /// - Returns: The time in milliseconds since 1970; nil when the text has none of the forms.
    static func milliseconds(_ text: String, at now: Int64, offset: Int64) -> Int64? {
        if let age = age(text) { return now - age }
        let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            guard let day = day(parts[0]), let clock = clock(parts[1]) else { return nil }
            return day + clock - offset
        }
        if let day = day(parts[0]) { return day - offset }
        guard let clock = clock(parts[0]) else { return nil }
        let local = now + offset
        return local - ((local % millisecondsPerDay) + millisecondsPerDay) % millisecondsPerDay + clock - offset
    }

    private static let millisecondsPerDay: Int64 = 86_400_000
    private static let units: [Character: Int64] = ["s": 1_000, "m": 60_000, "h": 3_600_000, "d": millisecondsPerDay]

    /// Returns the milliseconds of a time ago such as `10m`.
    private static func age(_ text: String) -> Int64? {
        guard let unit = text.last.flatMap({ units[$0] }), let count = number(text.dropLast(), 1...5) else {
            return nil
        }
        return count * unit
    }

    /// Returns the beginning of a day such as `2026-11-25` in milliseconds since 1970.
    private static func day(_ text: Substring) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = number(parts[0], 4...4), let month = number(parts[1], 2...2),
            let day = number(parts[2], 2...2), (1...12).contains(month),
            (1...CalendarDay.length(of: month, in: year)).contains(day)
        else { return nil }
        return CalendarDay(year: year, month: month, day: day).daysSince1970 * millisecondsPerDay
    }

    /// Returns the milliseconds of a time of day such as `08:30` or `08:30:15`.
    private static func clock(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { number($0, 2...2) }
        guard (2...3).contains(parts.count), numbers.count == parts.count, numbers[0] < 24,
            numbers.dropFirst().allSatisfy({ $0 < 60 })
        else { return nil }
        return numbers[0] * 3_600_000 + numbers[1] * 60_000 + (numbers.count > 2 ? numbers[2] * 1_000 : 0)
    }

    private static func number(_ text: Substring, _ digits: ClosedRange<Int>) -> Int64? {
        let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isDecimal && digits.contains(text.utf8.count) ? Int64(text) : nil
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A day in the proleptic Gregorian calendar (ISO 8601).
package struct CalendarDay: Sendable {
    package let year: Int64
    package let month: Int64
    package let day: Int64

    /// The seconds since 1970 of the years from 0 to 9999, which RFC 3339 can represent.
    package static let secondsSince1970: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Converts a number of days since 1970 to a date.
    ///
    /// The computation starts years in March, so that the leap day is the last day of a year; 400 years have 146 097
    /// days.
    package init(daysSince1970: Int64) {
        let (era, dayOfEra) = (daysSince1970 + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns a time in UTC in the format of RFC 3339 with milliseconds, such as `2026-11-21T17:40:15.250Z`.
    package static func text(millisecondsSince1970 milliseconds: Int64) -> String {
        let (day, rest) = milliseconds.quotientAndRemainder(flooringBy: 86_400_000)
        let date = CalendarDay(daysSince1970: day)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60].map { $0.padded(to: 2) }
        return "\(date.year.padded(to: 4))-\(date.month.padded(to: 2))-\(date.day.padded(to: 2))T"
            + clock.joined(separator: ":") + ".\((rest % 1_000).padded(to: 3))Z"
    }

    /// Returns the number of days of a month.
    package static func length(of month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    /// Returns the quotient rounded down, and the remainder, which is never negative.
    fileprivate func quotientAndRemainder(flooringBy divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// Returns the digits of the number with leading zeros up to a width.
    func padded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}

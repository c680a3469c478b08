internal import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A time in the format of the contract: date, `T`, time and UTC offset, as in `2026-05-12T18:31:00.000Z`.
///
/// The text is preserved. Times in UTC with the same number of digits sort as text.
public struct SurfaceDate: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text.
    public let rawValue: String

    /// Creates a time from its text, which ``SurfaceSnapshot/validated(categories:)`` validates.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a time from its text, which ``SurfaceSnapshot/validated(categories:)`` validates.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// Creates a time in UTC with milliseconds.
    ///
    /// A date before the year 0 or after 9999 becomes the nearest one within, and a date that is not a number becomes
    /// 1970.
    public init(_ date: Date) {
        let bounds = CalendarDay.firstSecond...CalendarDay.lastSecond
        let exact = date.timeIntervalSince1970.isNaN ? 0 : date.timeIntervalSince1970
        let seconds = min(max(exact, Double(bounds.lowerBound)), Double(bounds.upperBound))
        let milliseconds = Int64((seconds * 1_000).rounded(.down))
        let (day, rest) = milliseconds.quotientAndRemainder(flooringBy: 86_400_000)
        let date = CalendarDay(daysSince1970: day)
        let time = [(rest / 3_600_000, 2), (rest / 60_000 % 60, 2), (rest / 1_000 % 60, 2)]
        rawValue =
            [(date.year, 4), (date.month, 2), (date.day, 2)].map(SurfaceDate.padded).joined(separator: "-") + "T"
            + time.map(SurfaceDate.padded).joined(separator: ":") + "." + SurfaceDate.padded(rest % 1_000, 3) + "Z"
    }

    /// The date; nil if the text does not have this format.
    public var date: Date? {
        SurfaceDateParser(rawValue).map { Date(timeIntervalSince1970: $0.secondsSince1970) }
    }

    /// The text.
    public var description: String { rawValue }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// A parser for times in the format of the contract: seconds are optional, the UTC offset is required.
struct SurfaceDateParser {
    let secondsSince1970: Double

    init?(_ text: String) {
        var rest = text.utf8[...]
        func character(_ wanted: Character) -> Bool {
            guard rest.first == wanted.asciiValue else { return false }
            rest.removeFirst()
            return true
        }
        func number(_ width: Int, _ range: ClosedRange<Int64>) -> Int64? {
            let digits = rest.prefix(width)
            guard digits.count == width, digits.allSatisfy(\.isDigit) else { return nil }
            rest.removeFirst(width)
            let value = digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            return range.contains(value) ? value : nil
        }
        guard let year = number(4, 0...9_999), character("-"), let month = number(2, 1...12), character("-"),
            let day = number(2, 1...31), day <= CalendarDay.length(of: month, in: year), character("T"),
            let hour = number(2, 0...23), character(":"), let minute = number(2, 0...59)
        else { return nil }
        var seconds = Double(CalendarDay(year: year, month: month, day: day).daysSince1970 * 86_400)
        seconds += Double(hour * 3_600 + minute * 60)
        if character(":") {
            guard let second = number(2, 0...59) else { return nil }
            seconds += Double(second)
            if character(".") {
                let digits = rest.prefix(while: \.isDigit)
                guard !digits.isEmpty else { return nil }
                rest.removeFirst(digits.count)
                seconds += digits.reversed().reduce(0) { ($0 + Double($1 - UInt8(ascii: "0"))) / 10 }
            }
        }
        if !character("Z") {
            let isAhead = character("+")
            guard isAhead || character("-"), let hours = number(2, 0...23), character(":"),
                let minutes = number(2, 0...59)
            else { return nil }
            seconds += Double(hours * 3_600 + minutes * 60) * (isAhead ? -1 : 1)
        }
        guard rest.isEmpty else { return nil }
        secondsSince1970 = seconds
    }
}

/// A day in the proleptic Gregorian calendar (ISO 8601).
struct CalendarDay {
    let year: Int64
    let month: Int64
    let day: Int64

    static let firstSecond = CalendarDay(year: 0, month: 1, day: 1).daysSince1970 * 86_400
    static let lastSecond = CalendarDay(year: 9_999, month: 12, day: 31).daysSince1970 * 86_400 + 86_399
}

extension CalendarDay {
    /// Converts a number of days since 1970 to a date.
    ///
    /// The computation starts years in March, so that the leap day is the last day of a year; 400 years have 146 097
    /// days.
    init(daysSince1970: Int64) {
        let (era, dayOfEra) = (daysSince1970 + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func length(of month: Int64, in year: Int64) -> Int64 {
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
}

// SPDX-License-Identifier: Apache-2.0

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
        let exact = date.timeIntervalSince1970.isNaN ? 0 : date.timeIntervalSince1970
        let bounds = CalendarDay.secondsSince1970
        let seconds = min(max(exact, Double(bounds.lowerBound)), Double(bounds.upperBound))
        rawValue = CalendarDay.text(millisecondsSince1970: Int64((seconds * 1_000).rounded(.down)))
    }

    /// The date; nil if the text does not have this format.
    public var date: Date? {
        SurfaceDateParser(rawValue).map { Date(timeIntervalSince1970: $0.secondsSince1970) }
    }

    /// The text.
    public var description: String { rawValue }
}

/// A parser for times in the format of the contract: seconds are optional, the UTC offset is required.
struct SurfaceDateParser {
    private(set) var secondsSince1970 = 0.0
    private let bytes: [UInt8]
    private var index = 0

    init?(_ text: String) {
        bytes = Array(text.utf8)
        guard let year = number(4, 0...9_999), skip("-"), let month = number(2, 1...12), skip("-"),
            let day = number(2, 1...31), day <= CalendarDay.length(of: month, in: year), skip("T"),
            let hour = number(2, 0...23), skip(":"), let minute = number(2, 0...59)
        else { return nil }
        var seconds = Double(CalendarDay(year: year, month: month, day: day).daysSince1970 * 86_400)
        seconds += Double(hour * 3_600 + minute * 60)
        if skip(":") {
            guard let second = number(2, 0...59) else { return nil }
            seconds += Double(second)
            if skip(".") {
                guard let fraction = fraction() else { return nil }
                seconds += fraction
            }
        }
        if !skip("Z") {
            let isAhead = skip("+")
            guard isAhead || skip("-"), let hours = number(2, 0...23), skip(":"), let minutes = number(2, 0...59)
            else { return nil }
            seconds += Double(hours * 3_600 + minutes * 60) * (isAhead ? -1 : 1)
        }
        guard index == bytes.count else { return nil }
        secondsSince1970 = seconds
    }

    /// Skips a character; returns false if another one is next.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Reads a number with a fixed count of digits.
    private mutating func number(_ width: Int, _ range: ClosedRange<Int64>) -> Int64? {
        guard bytes.count - index >= width else { return nil }
        var value: Int64 = 0
        for _ in 0..<width {
            guard bytes[index].isDigit else { return nil }
            value = value * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
            index += 1
        }
        return range.contains(value) ? value : nil
    }

    /// Reads the digits after a decimal point, at least one.
    private mutating func fraction() -> Double? {
        let start = index
        while index < bytes.count, bytes[index].isDigit { index += 1 }
        guard index > start else { return nil }
        return bytes[start..<index].reversed().reduce(0) { ($0 + Double($1 - UInt8(ascii: "0"))) / 10 }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// An HTTP date (RFC 9110 §5.6.7) in the preferred format: `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the seconds since 1970; nil for text that is not such a date.
    package static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])),
            let day = number(words[1], 1...31), let year = number(words[3], 1...9_999)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
            let second = number(clock[2], 0...60)
        else { return nil }
        let date = CalendarDay(year: year, month: Int64(month) + 1, day: day)
        return date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// Returns the text of a time in seconds since 1970; earlier times are clamped to 1970.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let (day, second) = max(0, seconds).quotientAndRemainder(dividingBy: 86_400)
        let date = CalendarDay(daysSince1970: day)
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(day % 7)]
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { $0.padded(to: 2) }.joined(separator: ":")
        return "\(weekday), \(date.day.padded(to: 2)) \(months[Int(date.month) - 1]) \(date.year) \(clock) GMT"
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int64(text),
            range.contains(number)
        else { return nil }
        return number
    }
}

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
        return days(year: year, month: Int64(month) + 1, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// Returns the text of a time in seconds since 1970; earlier times are clamped to 1970.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let (day, second) = max(0, seconds).quotientAndRemainder(dividingBy: 86_400)
        var (year, month, dayOfMonth) = (1_970 + day / 366, Int64(12), Int64(31))
        while days(year: year + 1, month: 1, day: 1) <= day { year += 1 }
        while days(year: year, month: month, day: 1) > day { month -= 1 }
        dayOfMonth = day - days(year: year, month: month, day: 1) + 1
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(day % 7)]
        let clock = [second / 3_600, second / 60 % 60, second % 60].map(padded).joined(separator: ":")
        return "\(weekday), \(padded(dayOfMonth)) \(months[Int(month) - 1]) \(year) \(clock) GMT"
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : String(number)
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int64(text),
            range.contains(number)
        else { return nil }
        return number
    }

    /// Returns the days since 1970 of a date in the Gregorian calendar, calculated in years that begin in March.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}

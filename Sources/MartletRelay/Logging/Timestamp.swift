/// The format of times: RFC 3339 in UTC with milliseconds, such as `2026-11-21T17:40:15.250Z`.
enum Timestamp {
    /// Returns the text of a time in milliseconds since 1970.
    static func text(_ milliseconds: Int64) -> String {
        let (days, rest) = max(0, milliseconds).quotientAndRemainder(dividingBy: 86_400_000)
        let (year, month, day) = date(days)
        let seconds = rest / 1_000
        let clock = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(clock).\(padded(rest % 1_000, 3))Z"
    }

    /// Returns the date of a day since 1970 in the Gregorian calendar, counted in years that begin in March.
    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, day) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400
        return month < 10
            ? (year, month + 3, dayOfYear - (153 * month + 2) / 5 + 1)
            : (year + 1, month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

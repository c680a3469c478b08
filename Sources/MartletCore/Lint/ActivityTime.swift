// SPDX-License-Identifier: Apache-2.0

/// Times in the content of a Live Activity, where Swift's `Date` is a number of seconds since 2001.
enum ActivityTime {
    /// The times that are taken to be in seconds since 1970, from 2015 to 2100.
    ///
    /// As seconds since 2001 they are in 2046 or later, so that the times of today are never among them.
    private static let seconds: ClosedRange<Double> = 1_420_070_400...4_102_444_800
    /// The times that are taken to be in milliseconds since 1970, from 2001 to 2100.
    private static let milliseconds: ClosedRange<Double> = 978_307_200_000...4_102_444_800_000
    /// The seconds from 1970 to 2001.
    private static let referenceTime: Int64 = 978_307_200

    /// The words in names of values that are times.
    private static let timeWords: Set<String> = [
        "arrival", "at", "date", "deadline", "departure", "end", "ends", "eta", "expiry", "start", "starts", "time",
        "timestamp", "until",
    ]
    /// The words in names of values that state their unit, which the app then converts.
    private static let unitWords: Set<String> = [
        "epoch", "millis", "milliseconds", "ms", "sec", "seconds", "secs", "unix",
    ]

    /// Returns the mistake in a number in attributes or content-state; nil for none.
    static func problem(with value: Double, named name: String) -> String? {
        let isInSeconds = seconds.contains(value)
        guard isInSeconds || milliseconds.contains(value), isTime(name) else { return nil }
        let unit = isInSeconds ? "seconds" : "milliseconds"
        let year = CalendarDay(daysSince1970: (Int64(value) + referenceTime) / 86_400).year
        return
            "this looks like \(unit) since 1970, and Swift's Date decodes seconds since 2001 by default: the phone"
            + " would read a time in the year \(year)"
    }

    /// Whether a name such as `countdownEnd`, `arrival_time` or `eta` is that of a time whose unit is not stated.
    private static func isTime(_ name: String) -> Bool {
        let parts = Set(words(in: name))
        return !parts.isDisjoint(with: timeWords) && parts.isDisjoint(with: unitWords)
    }

    /// Returns the words of a name in lower case, which begin with capitals or follow other characters than letters.
    private static func words(in name: String) -> [String] {
        var found: [String] = []
        var word = ""
        var isAfterCapital = false
        for character in name {
            let isCapital = character.isUppercase
            if !character.isLetter || (isCapital && !isAfterCapital) {
                if !word.isEmpty { found.append(word) }
                word = ""
            }
            if character.isLetter { word += character.lowercased() }
            isAfterCapital = isCapital
        }
        return word.isEmpty ? found : found + [word]
    }
}

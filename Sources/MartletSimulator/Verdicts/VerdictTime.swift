// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A time in the text of a verdict.
struct VerdictTime: Sendable, Hashable {
    /// The time in milliseconds since 1970.
    let milliseconds: Int64
    /// The time in UTC, such as `14:20 UTC`, with its date when that differs from the date of the reference.
    let text: String

    /// Creates a time from milliseconds since 1970, with the time from which a reader sees it as a reference.
    init(_ milliseconds: Int64, from reference: Int64) {
        let text = VerdictTime.rfc3339(milliseconds)
        let (date, clock) = (text.prefix(10), text.dropFirst(11).prefix(5))
        let isSameDay = date == VerdictTime.rfc3339(reference).prefix(10)
        self.milliseconds = milliseconds
        self.text = isSameDay ? "\(clock) UTC" : "\(date) \(clock) UTC"
    }

    /// The time with its text, by which a page finds it in the text of the verdict and shows it in its own time zone.
    var json: JSONValue { ["text": .string(text), "time-ms": .integer(milliseconds)] }

    /// Returns a time in the format of RFC 3339, or the first or last one that the format can represent.
    private static func rfc3339(_ time: Int64) -> String {
        let range = CalendarDay.secondsSince1970
        let (first, last) = (Int64(millisecondsOf: range.lowerBound), Int64(millisecondsOf: range.upperBound))
        return CalendarDay.text(millisecondsSince1970: min(max(time, first), last))
    }
}

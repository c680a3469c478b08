// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A date and a time of day without a time zone, such as `2026-12-01T09:00`.
struct LocalTime: Sendable, Hashable {
    /// The seconds since 1970 of a clock that shows UTC at this date and time.
    let seconds: Int64

    init(seconds: Int64) {
        self.seconds = seconds
    }

    /// Reads text such as `2026-12-01T09:00`; nil for another form, and for a date or a time that does not exist.
    init?(_ text: String) {
        let form = Array("0000-00-00T00:00".utf8)
        let bytes = Array(text.utf8)
        guard bytes.count == form.count,
            zip(bytes, form).allSatisfy({ $1 == UInt8(ascii: "0") ? $0.isDigit : $0 == $1 })
        else { return nil }
        func number(_ places: Range<Int>) -> Int64 {
            bytes[places].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        let date = CalendarDay(year: number(0..<4), month: number(5..<7), day: number(8..<10))
        let (hour, minute) = (number(11..<13), number(14..<16))
        guard (1...12).contains(date.month),
            (1...CalendarDay.length(of: date.month, in: date.year)).contains(date.day),
            (0..<24).contains(hour), (0..<60).contains(minute)
        else { return nil }
        seconds = date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60
    }
}

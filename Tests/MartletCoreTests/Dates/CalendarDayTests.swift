// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletCore

@Suite struct CalendarDayTests {
    @Test(
        arguments: [
            (0, 1_970, 1, 1), (-1, 1_969, 12, 31), (11_016, 2_000, 2, 29), (11_017, 2_000, 3, 1), (-719_528, 0, 1, 1),
            (2_932_896, 9_999, 12, 31), (47_540, 2_100, 2, 28), (47_541, 2_100, 3, 1),
        ] as [(Int64, Int64, Int64, Int64)]
    )
    func `days since 1970 and dates convert to each other`(days: Int64, year: Int64, month: Int64, day: Int64) {
        let date = CalendarDay(daysSince1970: days)
        #expect([date.year, date.month, date.day] == [year, month, day])
        #expect(CalendarDay(year: year, month: month, day: day).daysSince1970 == days)
    }

    @Test func `the months have their lengths, also in leap years`() {
        #expect(
            (1...12).map { CalendarDay.length(of: $0, in: 2_023) } == [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        )
        #expect([1_900, 2_000, 2_024, 2_100].map { CalendarDay.length(of: 2, in: $0) } == [28, 29, 29, 28])
    }

    @Test func `times are formatted in UTC with milliseconds`() {
        #expect(CalendarDay.text(millisecondsSince1970: 0) == "1970-01-01T00:00:00.000Z")
        #expect(CalendarDay.text(millisecondsSince1970: -1) == "1969-12-31T23:59:59.999Z")
        let bounds = CalendarDay.secondsSince1970
        #expect(CalendarDay.text(millisecondsSince1970: bounds.lowerBound * 1_000) == "0000-01-01T00:00:00.000Z")
        #expect(CalendarDay.text(millisecondsSince1970: bounds.upperBound * 1_000) == "9999-12-31T23:59:59.000Z")
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletRelay

/// Local times and time zones.
@Suite struct ZoneTests {
    /// Returns a time in UTC, such as `2026-12-01T08:00`, for seconds since 1970.
    static func text(_ seconds: Int64) -> String {
        String(CalendarDay.text(millisecondsSince1970: seconds * 1_000).prefix(16))
    }

    @Test(
        arguments: [
            ("2026-12-01T09:00", 1_796_115_600), ("1970-01-01T00:00", 0), ("2028-02-29T23:59", 1_835_481_540),
            ("2026-02-29T09:00", nil), ("2026-04-31T09:00", nil), ("2026-13-01T09:00", nil),
            ("2026-00-01T09:00", nil), ("2026-12-00T09:00", nil), ("2026-12-01T24:00", nil),
            ("2026-12-01T09:60", nil), ("2026-12-01T09:00Z", nil), ("2026-12-01T09:00:00", nil),
            ("2026-12-01 09:00", nil), ("2026-12-1T09:00", nil), ("+026-12-01T09:00", nil), ("2026-12-01T٠٩:00", nil),
            ("", nil),
        ] as [(String, Int64?)]
    )
    func `a local time is a date with hours and minutes`(text: String, seconds: Int64?) {
        #expect(LocalTime(text)?.seconds == seconds)
    }

    @Test(
        arguments: [
            ("Europe/Berlin", "2026-12-01T09:00", "2026-12-01T08:00"),
            // Clocks are put forward at 02:00 and back at 03:00.
            ("Europe/Berlin", "2026-03-29T01:59", "2026-03-29T00:59"),
            ("Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00"),
            ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00"),
            ("Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00"),
            ("Europe/Berlin", "2026-10-25T01:59", "2026-10-24T23:59"),
            ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30"),
            ("Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00"),
            ("America/New_York", "2026-07-01T09:00", "2026-07-01T13:00"),
            ("America/New_York", "2026-03-08T02:30", "2026-03-08T07:00"),
            ("America/New_York", "2026-11-01T01:30", "2026-11-01T05:30"),
            ("Asia/Tokyo", "2026-03-29T02:30", "2026-03-28T17:30"),
            ("Pacific/Apia", "2026-12-01T09:00", "2026-11-30T20:00"),
            // This day does not exist.
            ("Pacific/Apia", "2011-12-29T23:59", "2011-12-30T09:59"),
            ("Pacific/Apia", "2011-12-30T09:00", "2011-12-30T10:00"),
            ("Pacific/Apia", "2011-12-31T00:00", "2011-12-30T10:00"),
            // Clocks change by half an hour.
            ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30"),
            ("Australia/Lord_Howe", "2026-10-04T02:30", "2026-10-03T15:30"),
            ("Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45"),
            ("Australia/Lord_Howe", "2026-04-05T02:00", "2026-04-04T15:30"),
            ("Asia/Calcutta", "2026-12-01T09:00", "2026-12-01T03:30"),
            ("Asia/Kolkata", "2026-12-01T09:00", "2026-12-01T03:30"),
            ("UTC", "2026-12-01T09:00", "2026-12-01T09:00"),
        ] as [(String, String, String)]
    )
    func `clocks of a zone show a local time at its first time`(name: String, local: String, time: String) throws {
        let zone = try #require(Zone(name))
        let local = try #require(LocalTime(local))
        #expect(ZoneTests.text(zone.time(of: local)) == time)
    }

    @Test func `each hour of a year has its time in each zone`() throws {
        let start = try #require(LocalTime("2026-01-01T00:00"))
        for name in ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "Pacific/Apia", "Australia/Lord_Howe"] {
            let zone = try #require(Zone(name))
            for hour in 0..<8_760 as Range<Int64> {
                let local = LocalTime(seconds: start.seconds + hour * 3_600)
                let time = zone.time(of: local)
                let shown = time + zone.offset(at: time)
                // A time that no clock shows is within an hour before the first one after it.
                #expect((0...3_600).contains(shown - local.seconds), "\(name), hour \(hour)")
                #expect(time - 1 + zone.offset(at: time - 1) < local.seconds, "\(name), hour \(hour)")
            }
        }
    }

    @Test(arguments: ["", "Europe/Nowhere", "europe/berlin", "CEST", "../UTC", String(repeating: "A", count: 64)])
    func `an unknown name is no zone`(name: String) {
        #expect(Zone(name) == nil)
    }

    @Test func `a zone is found by its name more than once`() {
        var zones = ZoneLookup()
        for _ in 0..<2 {
            let berlin = zones.zone(named: "Europe/Berlin")
            let unknown = zones.zone(named: "Europe/Nowhere")
            let unnamed = zones.zone(named: nil)
            #expect(berlin == Zone("Europe/Berlin") && unknown == nil && unnamed == nil)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

extension QuietHours {
    /// Reads quiet hours as in the configuration.
    static func test(from start: String, to end: String, zone: String = "UTC") throws -> QuietHours {
        let text = #"{"from":"\#(start)","to":"\#(end)","time-zone":"\#(zone)"}"#
        let json = try JSONReader.read(Array(text.utf8))
        let directories = ConfigurationDirectories(directory: "", credentials: nil)
        return try QuietHours(ConfigurationField(json, named: "quiet-hours"), directories)
    }
}

/// The hours in which alerts wait.
@Suite(.timeLimit(.minutes(10))) struct QuietHoursTests {
    private static let alert = EnrollmentBench.alert

    /// Returns milliseconds since 1970 of a time in UTC such as `2026-12-01T08:00`.
    private static func milliseconds(_ text: String) throws -> Int64 { try #require(LocalTime(text)).seconds * 1_000 }

    @Test(
        arguments: [
            ("Europe/Berlin", "22:00-07:00", "2026-12-01T20:59", nil),
            ("Europe/Berlin", "22:00-07:00", "2026-12-01T21:00", "2026-12-02T06:00"),
            ("Europe/Berlin", "22:00-07:00", "2026-12-02T05:59", "2026-12-02T06:00"),
            ("Europe/Berlin", "22:00-07:00", "2026-12-02T06:00", nil),
            // Clocks are put forward and back in these nights.
            ("Europe/Berlin", "22:00-07:00", "2026-03-28T21:00", "2026-03-29T05:00"),
            ("Europe/Berlin", "22:00-02:30", "2026-03-28T22:00", "2026-03-29T01:00"),
            ("Europe/Berlin", "22:00-07:00", "2026-10-24T20:00", "2026-10-25T06:00"),
            ("Europe/Berlin", "22:00-02:30", "2026-10-25T00:10", "2026-10-25T00:30"),
            // Clocks have shown 02:30 before.
            ("Europe/Berlin", "22:00-02:30", "2026-10-25T01:10", nil),
            ("America/New_York", "00:00-06:00", "2026-03-08T05:00", "2026-03-08T10:00"),
            ("Asia/Tokyo", "12:00-13:00", "2026-12-01T02:59", nil),
            ("Asia/Tokyo", "12:00-13:00", "2026-12-01T03:00", "2026-12-01T04:00"),
            ("Asia/Tokyo", "12:00-13:00", "2026-12-01T04:00", nil),
            ("Pacific/Apia", "22:00-07:00", "2026-12-01T09:00", "2026-12-01T18:00"),
            ("Australia/Lord_Howe", "22:00-02:15", "2026-10-03T13:00", "2026-10-03T15:30"),
            ("Mars/Base", "22:00-07:00", "2026-12-01T21:00", "2026-12-02T05:00"),
            (nil, "22:00-07:00", "2026-12-01T21:00", "2026-12-02T05:00"),
        ] as [(String?, String, String, String?)]
    )
    func `quiet hours end when clocks of the zone show their end`(
        zone: String?,
        hours: String,
        time: String,
        end: String?
    ) throws {
        let quiet = try QuietHours.test(from: "\(hours.prefix(5))", to: "\(hours.suffix(5))", zone: "Europe/Athens")
        let found = quiet.end(at: try Self.milliseconds(time), in: zone.flatMap { Zone($0) })
        #expect(found.map { ZoneTests.text($0 / 1_000) } == end)
    }

    @Test(
        arguments: [
            ("alert", #"{"aps":{"alert":"Hi"}}"#, true),
            ("alert", #"{"aps":{"alert":"Hi","interruption-level":"active"}}"#, true),
            ("alert", #"{"aps":{"alert":"Hi","interruption-level":"passive"}}"#, true),
            ("alert", #"{"aps":{"alert":"Hi","interruption-level":"time-sensitive"}}"#, false),
            ("alert", #"{"aps":{"alert":"Hi","interruption-level":"critical"}}"#, false),
            ("alert", #"{"aps":{"alert":"Hi","sound":{"critical":1,"name":"default"}}}"#, false),
            ("alert", #"{"aps":{"alert":"Hi","sound":{"critical":1},"interruption-level":"passive"}}"#, true),
            ("background", #"{"aps":{"content-available":1}}"#, false),
            ("liveactivity", #"{"aps":{"event":"update"}}"#, false),
            ("widgets", #"{"aps":{"content-changed":true}}"#, false),
        ] as [(String, String, Bool)]
    )
    func `only alerts that are not urgent wait`(type: String, payload: String, waits: Bool) throws {
        let quiet = try QuietHours.test(from: "22:00", to: "07:00")
        let (now, end) = (try Self.milliseconds("2026-12-01T23:00"), try Self.milliseconds("2026-12-02T07:00"))
        func push(notBefore: Int64? = nil, expiresAt: Int64? = nil) throws -> OutboxPush {
            OutboxPush(
                lane: Lane(app: "orders", environment: .production),
                id: APNsID(randomBits: (1, 2)),
                destination: .device(try DeviceToken(hex: "ab12")),
                headers: PushHeaders(pushType: type),
                payload: Array(payload.utf8),
                notBefore: notBefore,
                expiresAt: expiresAt
            )
        }
        var zones = ZoneLookup()
        var waiting = try push(expiresAt: end + 1)
        var reason = waiting.wait(for: quiet, in: nil, &zones, at: now)
        #expect(reason == nil && waiting.notBefore == (waits ? end : nil))
        var expiring = try push(expiresAt: end)
        reason = expiring.wait(for: quiet, in: nil, &zones, at: now)
        #expect(reason == (waits ? .quietHours : nil))
        var later = try push(notBefore: end)
        reason = later.wait(for: quiet, in: nil, &zones, at: now)
        #expect(reason == nil && later.notBefore == end)
        var scheduled = try push(notBefore: now)
        reason = scheduled.wait(for: quiet, in: nil, &zones, at: now - 86_400_000)
        #expect(reason == nil && scheduled.notBefore == (waits ? end : now))
        var without = try push()
        reason = without.wait(for: nil, in: nil, &zones, at: now)
        #expect(reason == nil && without.notBefore == nil)
    }

    @Test(arguments: [
        ("22:00", "21:59", true), ("22:00", "21:01", true), ("22:00", "21:00", false), ("00:00", "23:30", true),
        ("00:00", "23:00", false), ("22:00", "07:00", false), ("11:00", "11:20", false),
    ])
    func `quiet hours that leave less than an hour have a warning`(start: String, end: String, warns: Bool) throws {
        let hours = #""rate": 100, "quiet-hours": {"from": "\#(start)", "to": "\#(end)"}"#
        let file = try ConfigurationFile(ConfigurationFile.good(("\"rate\": 100", hours)))
        let configuration = try RelayConfiguration(file: file.path)
        #expect(configuration.warnings.contains { $0.hasPrefix("the quiet-hours of orders leave") } == warns)
    }

    @Test func `an app has the quiet hours of its configuration`() throws {
        let hours = #""rate": 100, "quiet-hours": {"from": "22:00", "to": "07:00", "time-zone": "Asia/Tokyo"}"#
        let file = try ConfigurationFile(ConfigurationFile.good(("\"rate\": 100", hours)))
        let app = try #require(try RelayConfiguration(file: file.path).apps.first)
        #expect(app.quietHours == (try QuietHours.test(from: "22:00", to: "07:00", zone: "Asia/Tokyo")))
        let plain = try ConfigurationFile()
        #expect(try RelayConfiguration(file: plain.path).apps.first?.quietHours == nil)
    }

    @Test(arguments: [#"{"user":"anna"}"#, #"{"all":true}"#])
    func `an alert to people waits, and one to a token does not`(audience: String) async throws {
        let clock = TestClock()
        // The clock shows 11:06:40 in UTC.
        let quiet = try QuietHours.test(from: "11:00", to: "11:20")
        let bench = try await EnrollmentBench(clock: clock.wall, quietHours: quiet)
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        _ = try await bench.enroll("anna", #","tokens":{"device":"a2"},"time-zone":"Asia/Tokyo""#)
        func sent() async -> Set<String> { Set(await bench.relay.apple.pushes.map(\.deviceToken)) }
        let answer = await bench.send(to: audience)
        #expect(answer.status == 202, "\(answer.text)")
        #expect(await bench.send(to: #""a3""#).status == 202)
        try await eventually("the others are sent") { await sent() == ["a2", "a3"] }
        clock.advance(by: 801)
        try await eventually("the waiting one is sent") { await sent() == ["a1", "a2", "a3"] }
        #expect(await bench.relay.apple.pushCount == 3)
        await bench.stop()
    }

    @Test func `an alert that expires in the quiet hours is left out`() async throws {
        let clock = TestClock()
        let quiet = try QuietHours.test(from: "11:00", to: "11:20")
        let bench = try await EnrollmentBench(clock: clock.wall, quietHours: quiet)
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        for expiration in [0, clock.now + 800] as [Int64] {
            let content = Self.alert + #","expiration":\#(expiration)"#
            let answer = await bench.send(to: #"{"user":"anna"}"#, content)
            #expect(answer.json == ["pushes": [], "left-out": ["quiet-hours": 1]], "\(answer.text)")
            let job = await bench.send(to: #"{"all":true}"#, content)
            let id = try #require(job.json["id"]?.stringValue, "\(job.text)")
            try await eventually("the job ends") {
                let stored = await bench.relay.ask("GET", "/v1/apps/orders/jobs/\(id)").json
                return stored["ended-at"] != nil && stored["left-out"] == ["quiet-hours": 1]
            }
        }
        #expect(await bench.relay.apple.pushCount == 0)
        await bench.stop()
    }
}

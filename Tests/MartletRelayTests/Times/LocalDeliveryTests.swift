// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Pushes to people at a local time; the clock of the tests shows 2026-11-18T11:06:40 in UTC.
@Suite(.timeLimit(.minutes(10))) struct LocalDeliveryTests {
    private static let time = #","local-time":"2026-11-18T16:45","local-time-zone":"Asia/Karachi""#
    private static let alert = EnrollmentBench.alert
    private static let user = #"{"user":"anna"}"#

    /// Enrolls phones that show 16:45 at 11:00, at 11:15, and twice at 11:45 in UTC.
    private func enrollPhones(_ bench: EnrollmentBench) async throws {
        for (token, zone) in [
            ("a1", #","time-zone":"Asia/Kathmandu""#), ("a2", #","time-zone":"Asia/Kolkata""#), ("a3", ""),
            ("a4", #","time-zone":"Mars/Base""#),
        ] {
            _ = try await bench.enroll("anna", #","tokens":{"device":"\#(token)"}\#(zone)"#)
        }
    }

    private func expectSent(_ tokens: Set<String>, _ bench: EnrollmentBench) async throws {
        try await eventually("\(tokens.sorted()) are sent") {
            await Set(bench.relay.apple.pushes.map(\.deviceToken)) == tokens
        }
    }

    @Test(arguments: [user, #"{"all":true}"#])
    func `each phone gets a push at its local time`(audience: String) async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        try await enrollPhones(bench)
        let answer = await bench.send(to: audience, Self.alert + Self.time)
        #expect(answer.status == 202, "\(answer.text)")
        try await expectSent(["a1"], bench)
        clock.advance(by: 501)
        try await expectSent(["a1", "a2"], bench)
        clock.advance(by: 1_800)
        try await expectSent(["a1", "a2", "a3", "a4"], bench)
        #expect(await bench.relay.apple.pushCount == 4)
        await bench.stop()
    }

    @Test func `a job starts when the first clock shows the time`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let answer = await bench.send(to: #"{"all":true}"#, Self.alert + #","local-time":"2026-11-19T09:00""#)
        #expect(answer.status == 202, "\(answer.text)")
        // 2026-11-18T19:00 in UTC.
        #expect(answer.json["starts-at"] == 1_795_028_400_000)
        await bench.stop()
    }

    @Test func `a repeated request is the same after a change of the zone`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let more = #","tokens":{"device":"a1"},"time-zone":"Asia/Kolkata""#
        let phone = try await bench.enroll("anna", more)
        let fields: HTTPFields = ["idempotency-key": "morning"]
        let first = await bench.send(to: Self.user, Self.alert + Self.time, fields: fields)
        #expect(await bench.phone("PATCH", #"{"time-zone":"Asia/Karachi"}"#, with: phone.secret).status == 200)
        let again = await bench.send(to: Self.user, Self.alert + Self.time, fields: fields)
        let ids = [first, again].map { $0.json["pushes"]?.elements?.first?["id"]?.stringValue }
        #expect(again.status == 202 && ids[0] == ids[1] && ids[0] != nil, "\(again.text)")
        clock.advance(by: 501)
        try await expectSent(["a1"], bench)
        await bench.stop()
    }

    @Test(
        arguments: [
            (#""ab12""#, time, "/local-time", "only installations have a time zone"),
            (user, time + #","not-before":1795000600"#, "/local-time", "left out of a push with not-before"),
            (user, #","local-time-zone":"Asia/Tokyo""#, "/local-time-zone", "a push without local-time"),
            (user, #","local-time":"2026-11-31T09:00""#, "/local-time", "such as 2026-12-01T09:00 (found"),
            (user, #","local-time":1795000600"#, "/local-time", "such as 2026-12-01T09:00 (found 1795000600)"),
            (
                user, #","local-time":"2026-11-18T16:45","local-time-zone":"Mars/Base""#, "/local-time-zone",
                "such as Europe/Berlin (found \"Mars/Base\")"
            ),
            (
                user, #","local-time":"2026-11-16T23:06""#, "/local-time",
                #"at most 24 hours past in some time zone (found "2026-11-16T23:06")"#
            ),
            (
                user, #","local-time":"2026-12-17T23:07""#, "/local-time",
                #"at most 30 days ahead in all time zones (found "2026-12-17T23:07")"#
            ),
            (
                #"{"all":true}"#, #","local-time":"2026-12-17T23:07""#, "/local-time",
                "at most 30 days ahead in all time zones"
            ),
            (
                user, time + #","expiration":1795063500"#, "/expiration",
                "after local-time in all time zones: more than 1795063500 (found 1795063500)"
            ),
        ] as [(String, String, String, String)]
    )
    func `a local time that cannot be kept is named with its rule`(
        audience: String,
        members: String,
        pointer: String,
        message: String
    ) async throws {
        let bench = try await EnrollmentBench(clock: TestClock().wall)
        let answer = await bench.send(to: audience, Self.alert + members)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(answer.json["errors"]?.elements?.first?["pointer"]?.stringValue == pointer, "\(answer.text)")
        #expect(answer.json["detail"]?.stringValue?.contains(message) == true, "\(answer.text)")
        await bench.stop()
    }

    @Test(arguments: [
        #","local-time":"2026-11-16T23:07""#, #","local-time":"2026-12-17T23:06""#, time + #","expiration":1795063501"#,
        time + #","expiration":0"#,
    ])
    func `local times at the bounds are accepted`(members: String) async throws {
        let bench = try await EnrollmentBench(clock: TestClock().wall)
        let answer = await bench.send(to: Self.user, Self.alert + members)
        #expect(answer.status == 200, "\(answer.text)")
        await bench.stop()
    }
}

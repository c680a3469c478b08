// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The limit of the alerts that users get on a day, in JSON.
@Suite(.timeLimit(.minutes(10))) struct AlertsPerDayTests {
    private static let anna = #"{"user":"anna"}"#
    private static let background = #""push-type":"background","priority":5,"payload":{"aps":{"content-available":1}}"#

    /// A relay with two phones of anna and one of bob.
    private func bench(_ clock: TestClock = TestClock(), perDay limit: Int) async throws -> EnrollmentBench {
        let bench = try await EnrollmentBench(clock: clock.wall, alertsPerDay: limit)
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        _ = try await bench.enroll("anna", #","tokens":{"device":"a2"}"#)
        _ = try await bench.enroll("bob", #","tokens":{"device":"b1"}"#)
        return bench
    }

    private func count(of answer: RelayBench.Answer) -> Int? { answer.json["pushes"]?.elements?.count }

    @Test func `an app has the limit of its configuration`() throws {
        let file = try ConfigurationFile(ConfigurationFile.good(("\"rate\": 100", "\"alerts-per-day\": 5")))
        #expect(try RelayConfiguration(file: file.path).apps.first?.alertsPerDay == 5)
        let plain = try ConfigurationFile()
        #expect(try RelayConfiguration(file: plain.path).apps.first?.alertsPerDay == nil)
    }

    @Test func `an alert beyond the limit is refused until the next day`() async throws {
        let clock = TestClock()
        let bench = try await bench(clock, perDay: 1)
        let first = await bench.send(to: Self.anna)
        #expect(first.status == 202 && count(of: first) == 2, "\(first.text)")
        let second = await bench.send(to: Self.anna)
        #expect(second.status == 429 && second.json["retry-after"] == 46_400, "\(second.text)")
        #expect(second.text.contains("alerts-per-day of the app is 1"), "\(second.text)")
        #expect(second.text.contains("the next day begins at 2026-11-19T00:00:00.000Z"), "\(second.text)")
        #expect(second.json["left-out"] == ["alert-limit": 2], "\(second.text)")
        let both = await bench.send(to: #"{"users":["anna","bob"]}"#)
        #expect(both.status == 202 && count(of: both) == 1, "\(both.text)")
        #expect(both.json["left-out"] == ["alert-limit": 2], "\(both.text)")
        let none = await bench.send(to: #"{"users":["anna","bob","carl"]}"#)
        #expect(none.status == 429 && none.text.contains("no user of the request gets more alerts"), "\(none.text)")
        #expect(none.json["left-out"] == ["no-installation": 1, "alert-limit": 3], "\(none.text)")
        clock.advance(by: 46_400)
        #expect(await bench.send(to: Self.anna).status == 202)
        #expect(await bench.send(to: Self.anna).status == 429)
        await bench.stop()
    }

    @Test func `only alerts to people count`() async throws {
        let bench = try await bench(perDay: 1)
        for _ in 1...2 {
            #expect(await bench.send(to: Self.anna, Self.background).status == 202)
            #expect(await bench.send(to: #""a1""#).status == 202)
        }
        #expect(await bench.send(to: Self.anna).status == 202)
        #expect(await bench.send(to: Self.anna).status == 429)
        #expect(await bench.send(to: Self.anna, Self.background).status == 202)
        await bench.stop()
    }

    @Test func `an alert that is cancelled while it waits does not count`() async throws {
        let bench = try await bench(perDay: 1)
        let later = #""not-before":1795000600,"# + EnrollmentBench.alert
        let first = await bench.send(to: Self.anna, later)
        #expect(first.status == 202 && count(of: first) == 2, "\(first.text)")
        for push in first.json["pushes"]?.elements ?? [] {
            #expect(await bench.send(to: Self.anna).status == 429)
            let answer = await bench.relay.ask("DELETE", "/v1/pushes/\(push["id"]?.stringValue ?? "")")
            #expect(answer.status == 200, "\(answer.text)")
        }
        #expect(await bench.send(to: Self.anna).status == 202)
        #expect(await bench.send(to: Self.anna).status == 429)
        await bench.stop()
    }

    @Test func `a repeated request counts once`() async throws {
        let bench = try await bench(perDay: 2)
        for _ in 1...3 {
            let answer = await bench.send(to: Self.anna, fields: ["idempotency-key": "order-42"])
            #expect((200...202).contains(answer.status) && count(of: answer) == 2, "\(answer.text)")
        }
        let lines = [String](repeating: #"{"to":\#(Self.anna),\#(EnrollmentBench.alert)}"#, count: 2)
        let answers = await bench.relay.batch(lines)
        try #require(answers.count == 2)
        #expect(answers[0]["pushes"]?.elements?.count == 2 && answers[0]["left-out"] == [:])
        #expect(answers[1] == ["pushes": [], "left-out": ["alert-limit": 2]])
        // A phone that has enrolled since gets the first alert, which is counted already.
        _ = try await bench.enroll("anna", #","tokens":{"device":"a3"}"#)
        let later = await bench.send(to: Self.anna, fields: ["idempotency-key": "order-42"])
        #expect(later.status == 202 && count(of: later) == 3, "\(later.text)")
        await bench.stop()
    }

    @Test func `requests with one identifier count once for each content`() async throws {
        let bench = try await EnrollmentBench(clock: TestClock().wall, alertsPerDay: 2)
        var phones: [String] = []
        for token in ["a1", "a2", "a3"] {
            let id = try await bench.enroll("anna", #","tokens":{"device":"\#(token)"}"#).id
            phones.append(#"{"installation":"\#(id)"}"#)
        }
        let key: HTTPFields = ["idempotency-key": "order-42"]
        for repetition in 1...2 {
            let answer = await bench.send(to: phones[0], fields: key)
            #expect((200...202).contains(answer.status), "request \(repetition): \(answer.text)")
        }
        // The same alert to another phone of the user belongs to the counted request.
        #expect(await bench.send(to: phones[1], fields: key).status == 202)
        let other = #""payload":{"aps":{"alert":"Another"}}"#
        let id = #""id":"123e4567-e89b-42d3-a456-426655440000""#
        #expect(await bench.send(to: phones[2], other, fields: key).status == 202)
        let lines = phones.enumerated().map { #"{"to":\#($1),\#(id),"payload":{"aps":{"alert":"Line \#($0)"}}}"# }
        let answers = await bench.relay.batch(lines)
        #expect(answers == [JSONValue](repeating: ["pushes": [], "left-out": ["alert-limit": 1]], count: 3))
        await bench.stop()
    }

    @Test func `a job leaves out the phones of users with enough alerts`() async throws {
        let bench = try await bench(perDay: 1)
        #expect(await bench.send(to: Self.anna).status == 202)
        let answer = await bench.send(to: #"{"all":true}"#)
        let id = try #require(answer.json["id"]?.stringValue, "\(answer.text)")
        try await eventually("the job ends") {
            await bench.relay.ask("GET", "/v1/apps/orders/jobs/\(id)").json["ended-at"] != nil
        }
        let job = await bench.relay.ask("GET", "/v1/apps/orders/jobs/\(id)").json
        #expect(job["matched"] == 3 && job["stored"] == 1 && job["left-out"] == ["alert-limit": 2], "\(job)")
        let line = #"martlet_relay_job_left_out_total{app="orders",reason="alert-limit"} 2"#
        try await eventually("the metrics have the number") {
            await bench.relay.ask("GET", "/metrics").text.contains(line)
        }
        await bench.stop()
    }

    @Test func `the erasure of a user removes the counts`() async throws {
        let bench = try await bench(perDay: 1)
        #expect(await bench.send(to: Self.anna).status == 202)
        #expect(await bench.ask("DELETE", "/users/anna").json["installations"] == 2)
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        #expect(await bench.send(to: Self.anna).status == 202)
        #expect(await bench.send(to: Self.anna).status == 429)
        await bench.stop()
    }
}

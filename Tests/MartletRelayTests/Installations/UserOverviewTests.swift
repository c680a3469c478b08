// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import TestSupport
import Testing

@testable import MartletRelay

/// The overview of a user: phones, and the pushes to them.
@Suite(.timeLimit(.minutes(10))) struct UserOverviewTests {
    private static let token = String(repeating: "5d3a6a1c", count: 8)

    private func overview(_ bench: EnrollmentBench, _ user: String = "anna") async -> RelayBench.Answer {
        await bench.ask("GET", "/users/\(user)/overview")
    }

    @Test func `the overview has the phones with shortened tokens`() async throws {
        let bench = try await EnrollmentBench()
        let more = #","tokens":{"device":"\#(Self.token)","start":{"Order":"\#(Self.token)"}},"app-version":"4.2""#
        let phone = try await bench.enroll("anna b/ç", more + #","permissions":{"alerts":false}"#)
        _ = try await bench.enroll("bert", #","tokens":{"device":"a1"}"#)
        #expect(await bench.ask("PATCH", "/installations/\(phone.id)", #"{"tags":["vip"]}"#).status == 200)
        let answer = await overview(bench, "anna%20b%2F%C3%A7")
        #expect(answer.status == 200 && answer.json["user"] == "anna b/ç", "\(answer.text)")
        let found = try #require(answer.json["installations"]?.elements)
        #expect(found.map { $0["id"]?.stringValue } == [phone.id])
        let tokens: JSONValue = ["device": "5d3a6a1c…", "start": ["Order": "5d3a6a1c…"]]
        #expect(found[0]["short-tokens"] == tokens && found[0]["tokens"] == nil)
        #expect(found[0]["app-version"] == "4.2" && found[0]["permissions"] == ["alerts": false])
        #expect(found[0]["tags"] == ["vip"] && found[0]["seen-at"] != nil)
        #expect(!answer.text.contains(Self.token))
        #expect(answer.json["pushes"] == [] && answer.json["complete"] == true)
        let nobody = await overview(bench, "nobody").json
        #expect(nobody["installations"] == [] && nobody["pushes"] == [])
        await bench.stop()
    }

    @Test func `the overview has waiting pushes, and the outcomes of those of jobs`() async throws {
        let bench = try await EnrollmentBench()
        let phone = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        _ = try await bench.enroll("bert", #","tokens":{"device":"a2"}"#)
        let job = await bench.send(to: #"{"all":true}"#)
        let id = try #require(job.json["id"]?.stringValue, "\(job.text)")
        try await eventually("the job ends") {
            await bench.relay.ask("GET", "/v1/apps/orders/jobs/\(id)").json["ended-at"] != nil
        }
        let first = await overview(bench).json
        let delivered = try #require(first["pushes"]?.elements?.first)
        #expect(first["pushes"]?.elements?.count == 1 && delivered["state"] == "delivered")
        #expect(delivered["job"]?.stringValue == id && delivered["installation"]?.stringValue == phone.id)
        // A phone that has enrolled after the job was created has no push of it.
        _ = try await bench.enroll("anna", #","tokens":{"device":"a3"}"#)
        let later = #","not-before":\#(bench.relay.parts.now / 1_000 + 3_600)"#
        let waiting = await bench.send(to: #"{"user":"anna"}"#, EnrollmentBench.alert + later)
        #expect(waiting.json["pushes"]?.elements?.count == 2, "\(waiting.text)")
        let second = await overview(bench)
        let states = second.json["pushes"]?.elements?.compactMap { $0["state"]?.stringValue }
        #expect(states?.sorted() == ["accepted", "accepted", "delivered"], "\(second.text)")
        #expect(!second.text.contains("Hi"), "an overview has no payloads")
        await bench.stop()
    }

    @Test func `an overview of many waiting pushes is not complete`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let later = #","not-before":\#(bench.relay.parts.now / 1_000 + 3_600)"#
        let line = #"{"to":{"user":"anna"},\#(EnrollmentBench.alert)\#(later)}"#
        _ = await bench.relay.batch([String](repeating: line, count: UserOverview.pushLimit + 1))
        let found = await overview(bench).json
        #expect(found["pushes"]?.elements?.count == UserOverview.pushLimit && found["complete"] == false)
        await bench.stop()
    }

    @Test func `an overview needs a key of the app with the scope installations`() async throws {
        let bench = try await EnrollmentBench()
        for (key, status) in [(RelayBench.callerKey, 403), ("mrt_rides", 403), (EnrollmentBench.key, 200)] {
            let answer = await bench.relay.ask("GET", "/v1/apps/orders/users/anna/overview", key: key)
            #expect(answer.status == status, "\(answer.text)")
        }
        await bench.stop()
    }
}

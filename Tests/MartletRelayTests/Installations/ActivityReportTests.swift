// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// The Live Activities of installations, as apps report them and back ends read them.
@Suite(.timeLimit(.minutes(10))) struct ActivityReportTests {
    private static let started = #"{"surface":"order-1","started-at":1790000000000,"started-by":"push"}"#

    @Test func `an app reports a start, a token and an end`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, id) = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        let start = await bench.phone("PATCH", #"{"activities":{"A":\#(Self.started)}}"#, with: secret)
        let running: JSONValue = ["surface": "order-1", "started-at": 1_790_000_000_000, "started-by": "push"]
        #expect(start.json["activities"] == ["A": running], "\(start.text)")
        let token = await bench.phone("PATCH", #"{"activities":{"A":{"token":"EF56"}}}"#, with: secret)
        #expect(token.json["activities"]?["A"]?["token"] == "ef56" && token.json["tokens"] == ["device": "ab12"])
        #expect(await bench.ask("GET", "/installations/\(id)").json["activities"] == token.json["activities"])
        let without = await bench.phone("PATCH", #"{"activities":{"A":{"token":null}}}"#, with: secret)
        #expect(without.json["activities"] == start.json["activities"])
        let end = #"{"activities":{"A":{"token":"ef56","ended":{"cause":"user","at":1790000001000}}}}"#
        let ended = await bench.phone("PATCH", end, with: secret)
        let shown = ended.json["activities"]?["A"]
        #expect(shown?["ended"] == ["cause": "user", "at": 1_790_000_001_000] && shown?["token"] == nil)
        let again = await bench.phone("PATCH", #"{"activities":{"A":{"ended":null}}}"#, with: secret)
        #expect(again.json["activities"] == start.json["activities"], "\(again.text)")
        #expect(await bench.phone("PATCH", #"{"activities":{"A":null}}"#, with: secret).json["activities"] == [:])
        await bench.stop()
    }

    @Test func `a push goes to the activity's token until the activity has ended`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, _) = try await bench.enroll("anna", #","activities":{"A":{"surface":"order-1","token":"ef56"}}"#)
        let audience = #"{"user":"anna","activity":"A"}"#
        let update = #"{"aps":{"event":"update","timestamp":1790000000,"content-state":{}}}"#
        let push = #""push-type":"liveactivity","payload":\#(update)"#
        #expect(await bench.send(to: audience, push).json["pushes"]?.elements?.count == 1)
        let end = #"{"activities":{"A":{"ended":{"cause":"system","at":1}}}}"#
        #expect(await bench.phone("PATCH", end, with: secret).status == 200)
        #expect(await bench.send(to: audience, push).json["left-out"] == ["no-token": 1])
        await bench.stop()
    }

    @Test func `null removes all activities and their tokens`() async throws {
        let bench = try await EnrollmentBench()
        let reports = #","activities":{"A":{"surface":"order-1","token":"ef56"},"B":{"surface":"order-2"}}"#
        let (secret, id) = try await bench.enroll("anna", reports)
        #expect(await bench.phone("PATCH", #"{"activities":null}"#, with: secret).json["activities"] == [:])
        let stored = try await bench.relay.parts.outbox.installations.installations(
            of: "orders",
            .all,
            after: 0,
            limit: 9
        )
        #expect(stored.map(\.installation.id.description) == [id] && stored[0].installation.tokens.isEmpty)
        await bench.stop()
    }

    @Test func `a report succeeds although many activities have ended`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, _) = try await bench.enroll()
        for number in 1...20 {
            let end = #"{"surface":"order-\#(number)","ended":{"cause":"app","at":\#(number)}}"#
            let answer = await bench.phone("PATCH", #"{"activities":{"A\#(number)":\#(end)}}"#, with: secret)
            #expect(answer.status == 200, "\(answer.text)")
        }
        let stored = await bench.phone("GET", with: secret).json["activities"]?.members ?? []
        #expect(Set(stored.map(\.name)) == Set((5...20).map { "A\($0)" }))
        let running = (1...17).map { #""B\#($0)":{"surface":"order"}"# }.joined(separator: ",")
        let over = await bench.phone("PATCH", #"{"activities":{\#(running)}}"#, with: secret)
        #expect(over.status == 400 && over.text.contains("at most 16 that have not ended"), "\(over.text)")
        #expect(over.json["errors"]?.elements?.first?["pointer"] == "/activities")
        let names = (0...InstallationReader.activityLimit).map { #""C\#($0)":null"# }.joined(separator: ",")
        let many = await bench.phone("PATCH", #"{"activities":{\#(names)}}"#, with: secret)
        #expect(many.status == 400 && many.text.contains("names in one change"), "\(many.text)")
        await bench.stop()
    }

    @Test func `a report of too many bytes is refused at its member`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, _) = try await bench.enroll()
        let digits = String(repeating: "ab", count: 200)
        let name = String(repeating: "n", count: 120)
        let controls = (0..<31).map { "\"\(name)\($0)\":\"\(digits)\"" }.joined(separator: ",")
        #expect(await bench.phone("PATCH", #"{"tokens":{"controls":{\#(controls)}}}"#, with: secret).status == 200)
        let report = #"{"activities":{"A":{"surface":"order-1","token":"\#(digits)"}}}"#
        let over = await bench.phone("PATCH", report, with: secret)
        #expect(over.status == 400 && over.text.contains("at most 16384 bytes"), "\(over.text)")
        #expect(over.json["errors"]?.elements?.first?["pointer"] == "/activities")
        await bench.stop()
    }

    @Test func `listed activities are imported by another relay`() async throws {
        let first = try await EnrollmentBench()
        let second = try await EnrollmentBench()
        let ended = #"{"surface":"order-2","started-by":"channel","ended":{"cause":"user","at":5}}"#
        let running = #"{"surface":"order-1","token":"ef56","started-at":1790000000000}"#
        _ = try await first.enroll("anna", #","activities":{"A":\#(running),"B":\#(ended)}"#)
        let listed = await first.installations()
        let body = listed.map { String(decoding: $0.encoded(), as: UTF8.self) }.joined(separator: "\n")
        for result in ["added", "unchanged"] {
            let answer = await second.ask("POST", "/installations", body)
            #expect(answer.json[result] == 1, "\(answer.text)")
        }
        #expect(await second.installations().map { $0["activities"] } == listed.map { $0["activities"] })
        await first.stop()
        await second.stop()
    }

    @Test func `the overview of a user has activities with shortened tokens`() async throws {
        let bench = try await EnrollmentBench()
        let token = String(repeating: "5d3a6a1c", count: 8)
        _ = try await bench.enroll("anna", #","activities":{"A":{"surface":"order-1","token":"\#(token)"}}"#)
        let answer = await bench.ask("GET", "/users/anna/overview")
        let activity = answer.json["installations"]?.elements?.first?["activities"]?["A"]
        #expect(activity == ["surface": "order-1", "short-token": "5d3a6a1c…"], "\(answer.text)")
        #expect(!answer.text.contains(token))
        await bench.stop()
    }

    /// A change, the pointer of its problem, and a part of the message.
    private static let rejected: [(change: String, pointer: String, message: String)] = [
        (#"{"activities":"ab"}"#, "/activities", "must be an object or null"),
        (#"{"activities":{"a\u0000b":{"surface":"s"}}}"#, "/activities", "visible ASCII"),
        (#"{"activities":{"A":"ab"}}"#, "/activities/A", "must be an object"),
        (#"{"activities":{"A":{"token":"ab"}}}"#, "/activities/A/surface", "surface is missing"),
        (#"{"activities":{"A":{"surface":"order 1"}}}"#, "/activities/A/surface", "1 to 120 visible ASCII"),
        (#"{"activities":{"A":{"surface":null}}}"#, "/activities/A/surface", "(found null)"),
        (
            #"{"activities":{"A":{"surface":"\#(String(repeating: "s", count: 121))"}}}"#, "/activities/A/surface",
            "1 to 120"
        ),
        (#"{"activities":{"A":{"surface":"s","token":"xyz"}}}"#, "/activities/A/token", "hexadecimal"),
        (#"{"activities":{"A":{"surface":"s","started-at":-1}}}"#, "/activities/A/started-at", "an integer from 0"),
        (#"{"activities":{"A":{"surface":"s","started-at":1e99}}}"#, "/activities/A/started-at", "(found 1e99)"),
        (#"{"activities":{"A":{"surface":"s","started-by":"user"}}}"#, "/activities/A/started-by", "app, push"),
        (#"{"activities":{"A":{"surface":"s","ended":{"cause":"user"}}}}"#, "/activities/A/ended/at", "is missing"),
        (#"{"activities":{"A":{"surface":"s","ended":{"at":1}}}}"#, "/activities/A/ended/cause", "user, app, system"),
        (#"{"activities":{"A":{"surface":"s","ended":true}}}"#, "/activities/A/ended", "must be an object"),
        (#"{"activities":{"A":{"surface":"s","tokens":"ab"}}}"#, "/activities/A/tokens", "did you mean token"),
    ]

    @Test func `hostile values of activities are refused with their place`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, _) = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        let before = await bench.phone("GET", with: secret).json
        for (change, pointer, message) in Self.rejected {
            let answer = await bench.phone("PATCH", change, with: secret)
            #expect(answer.status == 400 && answer.text.contains(message), "\(change): \(answer.text)")
            let found = answer.json["errors"]?.elements?.first?["pointer"]?.stringValue
            #expect(found == pointer, "\(change): \(answer.text)")
        }
        #expect(await bench.phone("GET", with: secret).json == before)
        await bench.stop()
    }
}

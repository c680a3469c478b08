// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Pushes in the languages of the phones, and with values of their users.
@Suite(.timeLimit(.minutes(10))) struct LocalizedSendTests {
    private static let content =
        EnrollmentBench.alert
        + #","locales":{"de":{"aps":{"alert":"Hallo"}},"zh-Hant":{"aps":{"alert":"你好"}}}"#
    private static let expected = ["a1": "Hi", "a2": "Hallo", "a3": "你好", "a4": "Hi"]

    /// Enrolls phones with four locales, of four users.
    private func enrollPhones(_ bench: EnrollmentBench) async throws {
        for (index, locale) in ["", "de_CH", "zh-Hant-TW", "fr"].enumerated() {
            let more = locale.isEmpty ? "" : #","locale":"\#(locale)""#
            _ = try await bench.enroll("user \(index + 1)", #","tokens":{"device":"a\#(index + 1)"}"# + more)
        }
    }

    /// The text of the alert that each token has received.
    private func alerts(_ bench: EnrollmentBench) async -> [String: String] {
        let sent = await bench.relay.apple.pushes.map { push in
            (push.deviceToken, (try? JSONReader.read(push.payload))?["aps"]?["alert"]?.stringValue ?? "")
        }
        return Dictionary(sent) { $0 + ", " + $1 }
    }

    @Test(
        arguments: [
            #"{"all":true}"#, #"{"where":"all"}"#, #"{"users":["user 1","user 2","user 3","user 4"]}"#,
        ]
    )
    func `each phone gets the payload in its language`(audience: String) async throws {
        let bench = try await EnrollmentBench()
        try await enrollPhones(bench)
        let answer = await bench.send(to: audience, Self.content)
        #expect(answer.status == 202, "\(answer.text)")
        try await eventually("all arrive") { await bench.relay.apple.pushCount == 4 }
        #expect(await alerts(bench) == Self.expected)
        await bench.stop()
    }

    @Test func `lines of a batch have languages`() async throws {
        let bench = try await EnrollmentBench()
        try await enrollPhones(bench)
        let audiences = (1...3).map { #"{"user":"user \#($0)"}"# } + [#""ab12""#]
        let answers = await bench.relay.batch(audiences.map { #"{"to":\#($0),\#(Self.content)}"# })
        try #require(answers.count == 4)
        #expect(answers[3]["errors"]?.elements?.first?["pointer"] == "/locales")
        try await eventually("three arrive") { await bench.relay.apple.pushCount == 3 }
        #expect(await alerts(bench) == Self.expected.filter { $0.key != "a4" })
        await bench.stop()
    }

    @Test func `each phone gets the values of its user in its language`() async throws {
        let bench = try await EnrollmentBench()
        try await enrollPhones(bench)
        let content = #""payload":{"aps":{"alert":"Hi {{name}}"}},"locales":{"de":{"aps":{"alert":"Hallo {{name}}"}}}"#
        let lines = [
            #"{"to":{"users":["user 1","user 2"]},\#(content),"values":{"user 1":{"name":"A"},"user 2":{"name":"B"}}}"#,
            #"{"to":{"user":"user 4"},\#(content),"values":{"user 4":{"name":"\u007bD"}}}"#,
            #"{"to":{"user":"user 3"},\#(content),"values":{"user 2":{"name":"C"}}}"#,
        ]
        let answers = await bench.relay.batch(lines)
        try #require(answers.count == 3)
        #expect(answers[2]["errors"]?.elements?.first?["pointer"] == "/values/user 2")
        try await eventually("three arrive") { await bench.relay.apple.pushCount == 3 }
        #expect(await alerts(bench) == ["a1": "Hi A", "a2": "Hallo B", "a4": "Hi {D"])
        await bench.stop()
    }

    @Test func `a job sends the values of each user in the user's language`() async throws {
        let bench = try await EnrollmentBench()
        try await enrollPhones(bench)
        let content = #""payload":{"aps":{"alert":"Hi {{name}}"}},"locales":{"de":{"aps":{"alert":"Hallo {{name}}"}}}"#
        let values = #","values":{"user 1":{"name":"A"},"user 2":{"name":"B"},"unknown":{"name":"C"}}"#
        let answer = await bench.send(to: #"{"all":true}"#, content + values)
        let id = try #require(answer.json["id"]?.stringValue, "\(answer.text)")
        let path = "/v1/apps/orders/jobs/" + id
        try await eventually("the job ends") { await bench.relay.ask("GET", path).json["ended-at"] != nil }
        let job = await bench.relay.ask("GET", path).json
        #expect(job["stored"] == 2 && job["matched"] == 4 && job["left-out"] == ["no-values": 2], "\(job)")
        #expect(await alerts(bench) == ["a1": "Hi A", "a2": "Hallo B"])
        await bench.stop()
    }

    @Test func `the longest payload of the users is checked in each language`() async throws {
        let bench = try await EnrollmentBench()
        let text = String(repeating: "a", count: 1_000)
        let name = "{{name}}"
        let long = Array(repeating: name, count: 5).joined()
        for (content, pointer) in [
            (#""payload":{"aps":{"alert":"\#(long)"}}"#, "/values/bob"),
            (#""payload":{"n":"\#(name)"},"locales":{"de":{"n":"\#(long)"}}"#, "/values/bob"),
            (#""payload":{"n":"\#(name)","text":"\#(text)\#(text)\#(text)\#(text)\#(text)"}"#, "/payload"),
        ] {
            let values = #","values":{"anna":{"name":"A"},"bob":{"name":"\#(text)"}}"#
            for audience in [#"{"users":["anna","bob"]}"#, #"{"all":true}"#] {
                let answer = await bench.send(to: audience, content + values)
                #expect(answer.status == 400 && answer.text.contains("PayloadTooLarge"), "\(answer.text)")
                #expect(answer.json["errors"]?.elements?.first?["pointer"]?.stringValue == pointer, "\(answer.text)")
            }
            let defaults = #","values":{},"default-values":{"name":"\#(text)"}"#
            let answer = await bench.send(to: #"{"tag":"vip"}"#, content + defaults)
            let place = pointer == "/values/bob" ? "/default-values" : pointer
            #expect(answer.json["errors"]?.elements?.first?["pointer"]?.stringValue == place, "\(answer.text)")
        }
        await bench.stop()
    }

    @Test func `a repeated request is the same one after a phone has another language`() async throws {
        let bench = try await EnrollmentBench()
        let phone = try await bench.enroll("anna", #","tokens":{"device":"a1"},"locale":"de""#)
        let fields: HTTPFields = ["idempotency-key": "order-42"]
        let first = await bench.send(to: #"{"user":"anna"}"#, Self.content, query: "?wait=60", fields: fields)
        #expect(first.status == 200, "\(first.text)")
        #expect(await bench.phone("PATCH", #"{"locale":"en"}"#, with: phone.secret).status == 200)
        let again = await bench.send(to: #"{"user":"anna"}"#, Self.content, query: "?wait=60", fields: fields)
        let ids = [first, again].map { $0.json["pushes"]?.elements?.first?["id"] }
        #expect(again.status == 200 && ids[0] == ids[1] && ids[0] != nil, "\(again.text)")
        for (old, new) in [("Hallo", "Servus"), ("Hi", "Hello")] {
            let other = Self.content.replacing(old, with: new)
            let refused = await bench.send(to: #"{"user":"anna"}"#, other, fields: fields)
            #expect(refused.status == 422, "\(refused.text)")
        }
        #expect(await alerts(bench) == ["a1": "Hallo"])
        await bench.stop()
    }

    @Test(
        arguments: [
            (
                #"{"aps":{"alert":"\#(String(repeating: "a", count: 5_000))"}}"#, "",
                "makes a payload that breaks a rule: the payload has"
            ),
            (
                #"{"aps":{"event":"update"}}"#, #","push-type":"liveactivity""#,
                "must not change aps.event or aps.attributes-type"
            ),
            (
                #"{"aps":{"attributes-type":"Other"}}"#, #","push-type":"liveactivity""#,
                "must not change aps.event or aps.attributes-type"
            ),
        ] as [(String, String, String)]
    )
    func `each payload is checked when the request arrives`(
        override: String,
        more: String,
        message: String
    ) async throws {
        let start = #"""
            "payload":{"aps":{"event":"start","timestamp":1790000000,"attributes-type":"OrderAttributes",
            "attributes":{},"content-state":{},"alert":{"title":"A","body":"B"}}}
            """#
        let content = (more.isEmpty ? EnrollmentBench.alert : start) + more
        let bench = try await EnrollmentBench()
        try await enrollPhones(bench)
        for audience in [#"{"all":true}"#, #"{"user":"user 2"}"#, #"{"user":"nobody"}"#] {
            let answer = await bench.send(to: audience, content + #","locales":{"en":{},"de":\#(override)}"#)
            #expect(answer.status == 400 && answer.text.contains("locales.de " + message), "\(answer.text)")
            #expect(answer.json["errors"]?.elements?.first?["pointer"] == "/locales/de", "\(answer.text)")
        }
        #expect(await bench.relay.ask("GET", "/v1/apps/orders/jobs").json["jobs"] == [])
        #expect(await bench.relay.apple.pushCount == 0)
        await bench.stop()
    }
}

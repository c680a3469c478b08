// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Pushes to users and installations in JSON.
@Suite(.timeLimit(.minutes(10))) struct AudienceSendTests {
    private static let alert = EnrollmentBench.alert
    private static let tokens = #"""
        ,"tokens":{"device":"ab12","start":{"OrderAttributes":"cd34"},"widgets":"0102",
        "controls":{"com.example.lamp":"0304"}},"activities":{"A-1":{"surface":"order-1","token":"ef56"}}
        """#

    private static let start = #"""
        {"aps":{"event":"start","timestamp":1790000000,"attributes-type":"OrderAttributes","attributes":{},
        "content-state":{},"alert":{"title":"A","body":"B"}}}
        """#

    private func installations(_ answer: RelayBench.Answer) -> [String] {
        (answer.json["pushes"]?.elements ?? []).compactMap { $0["installation"]?.stringValue }
    }

    private func ids(_ answer: RelayBench.Answer) -> [String] {
        (answer.json["pushes"]?.elements ?? []).compactMap { $0["id"]?.stringValue }
    }

    @Test func `a push to a user reaches each phone of the user`() async throws {
        let bench = try await EnrollmentBench()
        let first = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let second = try await bench.enroll("anna", #","tokens":{"device":"a2"},"permissions":{"alerts":true}"#)
        _ = try await bench.enroll("anna", #","tokens":{"device":"a3"},"permissions":{"alerts":false}"#)
        _ = try await bench.enroll("anna")
        _ = try await bench.enroll("bob", #","tokens":{"device":"b1"}"#)
        let answer = await bench.send(to: #"{"user":"anna"}"#)
        #expect(answer.status == 202, "\(answer.text)")
        #expect(installations(answer) == [first.id, second.id])
        #expect(answer.json["left-out"] == ["no-token": 1, "not-allowed": 1])
        for id in ids(answer) {
            let status = await bench.relay.ask("GET", "/v1/pushes/\(id)?wait=60")
            #expect(status.json["state"] == "delivered", "\(status.text)")
        }
        let sent = await bench.relay.apple.pushes
        #expect(Set(sent.map(\.deviceToken)) == ["a1", "a2"] && sent.count == 2)
        #expect(sent.allSatisfy { $0.headers.topic == "com.example.orders" })
        await bench.stop()
    }

    @Test func `a request names up to 100 users, or one phone`() async throws {
        let bench = try await EnrollmentBench()
        let anna = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let bob = try await bench.enroll("bob", #","tokens":{"device":"b1"}"#)
        let both = await bench.send(to: #"{"users":["bob","carl","anna","bob","dora"]}"#)
        #expect(installations(both) == [anna.id, bob.id] && both.json["left-out"] == ["no-installation": 2])
        let one = await bench.send(to: #"{"installation":"\#(bob.id)"}"#, query: "?wait=60")
        #expect(one.status == 200 && installations(one) == [bob.id] && one.json["left-out"] == [:], "\(one.text)")
        let many = (0...100).map { #""user \#($0)""# }.joined(separator: ",")
        let refused = await bench.send(to: #"{"users":[\#(many)]}"#)
        #expect(
            refused.status == 400 && refused.text.contains("must have 1 to 100 users (found 101)"),
            "\(refused.text)"
        )
        #expect(refused.json["errors"]?.elements?.first?["pointer"] == "/to/users")
        await bench.stop()
    }

    @Test func `a user without a phone is answered with 200 and the reason`() async throws {
        let bench = try await EnrollmentBench()
        let nobody = await bench.send(to: #"{"user":"anna"}"#)
        #expect(nobody.status == 200 && nobody.json == ["pushes": [], "left-out": ["no-installation": 1]])
        let id = #"{"installation":"0199f2c4-0000-7000-8000-000000000000"}"#
        #expect(await bench.send(to: id).json["left-out"] == ["no-installation": 1])
        // A mistake is found nevertheless.
        let mistake = await bench.send(to: #"{"user":"anna"}"#, Self.alert + #","priority":7"#)
        #expect(mistake.status == 400 && mistake.text.contains("BadPriority"), "\(mistake.text)")
        #expect(await bench.relay.apple.pushCount == 0)
        await bench.stop()
    }

    @Test(
        arguments: [
            (#"{"user":"anna"}"#, "alert", #"{"aps":{"alert":"Hi"}}"#, "ab12"),
            (#"{"user":"anna"}"#, "background", #"{"aps":{"content-available":1}}"#, "ab12"),
            (#"{"user":"anna"}"#, "widgets", #"{"aps":{"content-changed":true}}"#, "0102"),
            (
                #"{"user":"anna","control":"com.example.lamp"}"#, "controls", #"{"aps":{"content-changed":true}}"#,
                "0304"
            ),
            (
                #"{"user":"anna"}"#, "liveactivity",
                start, "cd34"
            ),
            (
                #"{"user":"anna","activity":"A-1"}"#, "liveactivity",
                #"{"aps":{"event":"update","timestamp":1790000000,"content-state":{}}}"#, "ef56"
            ),
        ] as [(String, String, String, String)]
    )
    func `the push type decides which token a push is sent to`(
        audience: String,
        type: String,
        payload: String,
        token: String
    ) async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna", Self.tokens)
        let priority = type == "background" ? #","priority":5"# : ""
        let content = #""push-type":"\#(type)","payload":\#(payload)\#(priority)"#
        let answer = await bench.send(to: audience, content, query: "?wait=60")
        #expect(answer.status == 200, "\(answer.text)")
        let sent = await bench.relay.apple.pushes
        #expect(sent.map(\.deviceToken) == [token] && sent.first?.headers.pushType == type)
        await bench.stop()
    }

    @Test func `a snapshot is sent to the token of its kind`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna", Self.tokens)
        let activity = #""snapshot":\#(SurfaceExample.json(of: "liveActivity"))"#
        for (audience, content, tokens) in [
            (#"{"user":"anna","activity":"A-1"}"#, activity, ["ef56"]),
            (#"{"user":"anna"}"#, activity + #","event":"start","attributes-type":"OrderAttributes""#, ["cd34"]),
            (#"{"user":"anna"}"#, activity + #","event":"start""#, []),
            (#"{"user":"anna"}"#, #""snapshot":\#(SurfaceExample.json(of: "widget"))"#, ["ab12"]),
        ] as [(String, String, [String])] {
            let before = await bench.relay.apple.pushCount
            let answer = await bench.send(to: audience, content, query: "?wait=60")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(await bench.relay.apple.pushes.dropFirst(before).map(\.deviceToken) == tokens)
        }
        await bench.stop()
    }

    @Test(
        arguments: [
            (#"{}"#, alert, "/to", "exactly one of user, users, installation, tag, where or all"),
            (#"{"user":"a","users":["b"]}"#, alert, "/to", "exactly one of"),
            (#"{"user":""}"#, alert, "/to/user", "1 to 128 bytes"),
            (#"{"user":"a\u0000"}"#, alert, "/to/user", "without control characters"),
            (#"{"users":[]}"#, alert, "/to/users", "(found 0)"),
            (#"{"users":"anna"}"#, alert, "/to/users", "an array"),
            (#"{"users":["a",1]}"#, alert, "/to/users/1", "1 to 128 bytes"),
            (#"{"installation":"x"}"#, alert, "/to/installation", "a UUID in lower case"),
            (
                #"{"installation":"0199F2C4-0000-7000-8000-00000000000A"}"#, alert, "/to/installation",
                "has upper-case letters"
            ),
            (
                #"{"user":"\#(String(repeating: "é", count: 65))"}"#, alert, "/to/user",
                "(found a string of 65 characters, 130 bytes)"
            ),
            (#"{"tag":"two words"}"#, alert, "/to/tag", "ASCII letters"),
            (#"{"where":"!vip"}"#, alert, "/to/where", "to.where: only excludes"),
            (#"{"all":false}"#, alert, "/to/all", "must be true"),
            (#"{"user":"a","activity":"A"}"#, alert, "/to/activity", "must be left out unless"),
            (#"{"user":"a","control":"A"}"#, alert, "/to/control", "must be left out unless"),
            (#"{"user":"a"}"#, #"\#(alert),"environment":"production""#, "/environment", "each phone has one"),
            (#"{"user":"a"}"#, #"\#(alert),"bundle-id":"com.example.orders""#, "/bundle-id", "each phone has one"),
            (#"{"user":"a"}"#, #"\#(alert),"channel":"dHN0LXNyY2gtY2hubA==""#, "/to", "a push to a channel"),
            (#"{"user":"a"}"#, #"\#(alert),"push-type":"voip""#, "/push-type", "send other types to a token"),
            (
                #"{"user":"a"}"#, #""push-type":"controls","payload":{"aps":{"content-changed":true}}"#, "/to/control",
                "the kind of the control"
            ),
            (
                #"{"user":"a"}"#, #""push-type":"liveactivity","payload":{"aps":{"event":"update"}}"#, "/to/activity",
                "is missing: it must be the identifier of the Live Activity"
            ),
            (
                #"{"user":"a"}"#, #""push-type":"liveactivity","payload":{"aps":{"event":"start"}}"#,
                "/payload/aps/attributes-type", "names the token that starts"
            ),
        ] as [(String, String, String, String)]
    )
    func `a mistake in an audience is named with its rule`(
        audience: String,
        content: String,
        pointer: String,
        message: String
    ) async throws {
        let bench = try await EnrollmentBench()
        let answer = await bench.send(to: audience, content)
        #expect(answer.status == 400 && answer.text.contains(message), "\(answer.text)")
        #expect(answer.json["errors"]?.elements?.first?["pointer"]?.stringValue == pointer, "\(answer.text)")
        await bench.stop()
    }

    @Test(arguments: ["", #","id":"123e4567-e89b-42d3-a456-426655440000""#])
    func `a repeated request sends to no installation twice`(id: String) async throws {
        let bench = try await EnrollmentBench()
        let phone = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        _ = try await bench.enroll("anna", #","tokens":{"device":"a2"}"#)
        let fields: HTTPFields = id.isEmpty ? ["idempotency-key": "order-42"] : [:]
        let content = Self.alert + id
        let first = await bench.send(to: #"{"user":"anna"}"#, content, fields: fields)
        try await eventually("both arrive") { await bench.relay.apple.pushCount == 2 }
        // Also after a phone has got another token.
        #expect(await bench.phone("PATCH", #"{"tokens":{"device":"a9"}}"#, with: phone.secret).status == 200)
        let again = await bench.send(to: #"{"user":"anna"}"#, content, fields: fields)
        #expect(ids(again) == ids(first) && ids(first).count == 2, "\(again.text)")
        // A phone that has enrolled since gets the push.
        _ = try await bench.enroll("anna", #","tokens":{"device":"a3"}"#)
        let third = await bench.send(to: #"{"user":"anna"}"#, content, fields: fields)
        #expect(ids(third).prefix(2) == ids(first)[...] && ids(third).count == 3)
        try await eventually("the new one arrives") { await bench.relay.apple.pushCount == 3 }
        // Another content is refused for each phone, also for one that has no push of the request.
        _ = try await bench.enroll("anna", #","tokens":{"device":"a4"}"#)
        let other = await bench.send(to: #"{"user":"anna"}"#, content.replacing("Hi", with: "Ho"), fields: fields)
        #expect(other.status == 422 && other.text.contains("stored with another content"), "\(other.text)")
        let pointer = other.json["errors"]?.elements?.first?["pointer"]?.stringValue
        #expect(pointer == (id.isEmpty ? nil : "/id"), "\(other.text)")
        let fourth = await bench.send(to: #"{"user":"anna"}"#, content, fields: fields)
        #expect(ids(fourth).prefix(3) == ids(third)[...] && ids(fourth).count == 4, "\(fourth.text)")
        try await eventually("the first content arrives") { await bench.relay.apple.pushCount == 4 }
        await bench.stop()
    }

    @Test(arguments: [false, true])
    func `a phone that enrolls again gets a repeated request again`(replaces: Bool) async throws {
        let bench = try await EnrollmentBench()
        let first = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let fields: HTTPFields = ["idempotency-key": "order-42"]
        let one = await bench.send(to: #"{"user":"anna"}"#, query: "?wait=60", fields: fields)
        #expect(one.status == 200 && installations(one) == [first.id], "\(one.text)")
        let more = replaces ? #","replaces":"\#(first.secret)""# : ""
        let second = try await bench.enroll("anna", #","tokens":{"device":"a1"}"# + more)
        let two = await bench.send(to: #"{"user":"anna"}"#, query: "?wait=60", fields: fields)
        #expect(two.status == 200 && installations(two) == [second.id] && ids(two) != ids(one), "\(two.text)")
        let leftOut: JSONValue = replaces ? [:] : ["no-token": 1]
        #expect(two.json["left-out"] == leftOut)
        #expect(await bench.relay.apple.pushCount == 2)
        // None of the phones has a push of the first request.
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"},"replaces":"\#(second.secret)""#)
        let content = Self.alert.replacing("Hi", with: "Ho")
        let three = await bench.send(to: #"{"user":"anna"}"#, content, query: "?wait=60", fields: fields)
        #expect(three.status == 200 && ids(three).count == 1, "\(three.text)")
        await bench.stop()
    }

    @Test func `a permission that is withdrawn does not stop a waiting push`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let phone = try await bench.enroll("anna", #","tokens":{"device":"a1"},"permissions":{"alerts":true}"#)
        let later = Self.alert + #","not-before":\#(clock.now + 600)"#
        let answer = await bench.send(to: #"{"user":"anna"}"#, later)
        let id = try #require(ids(answer).first, "\(answer.text)")
        #expect(await bench.phone("PATCH", #"{"permissions":{"alerts":false}}"#, with: phone.secret).status == 200)
        clock.advance(by: 601)
        let status = await bench.relay.ask("GET", "/v1/pushes/\(id)?wait=30")
        #expect(status.json["state"] == "delivered", "\(status.text)")
        await bench.stop()
    }

    @Test func `a push ends as moved when the phone has another user before it is sent`() async throws {
        let bench = try await EnrollmentBench()
        let anna = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let paused = await bench.relay.ask("POST", "/v1/apps/orders/lanes/production/pause")
        #expect(paused.status == 200, "\(paused.text)")
        let answer = await bench.send(to: #"{"user":"anna"}"#)
        #expect(installations(answer) == [anna.id])
        _ = try await bench.enroll("bob", #","tokens":{"device":"a1"}"#)
        let resumed = await bench.relay.ask("POST", "/v1/apps/orders/lanes/production/resume")
        #expect(resumed.status == 200, "\(resumed.text)")
        let id = try #require(ids(answer).first)
        let status = await bench.relay.ask("GET", "/v1/pushes/\(id)?wait=60")
        #expect(status.json["state"] == "cancelled" && status.json["apns"]?["reason"] == "FormerUser", "\(status.text)")
        #expect(await bench.relay.apple.pushCount == 0)
        await bench.stop()
    }

    @Test func `a push is left out if its user is removed meanwhile`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let parts = bench.relay.parts
        let caller = Callers.Caller(name: "back end", apps: ["orders"], scopes: [.send], tokenIssuedAt: nil)
        let apps = await bench.relay.relay.context.configuration.apps
        let clients = await parts.dispatcher.clients
        var builder = PushRequestBuilder(
            caller: caller,
            apps: apps,
            clients: clients,
            idempotencyKey: nil,
            traceParent: nil,
            now: parts.now,
            generator: SplitMix64(state: 1)
        )
        let body = #"{"to":{"user":"anna"},\#(Self.alert)}"#
        let request = try PushRequest(try JSONReader.read(Array(body.utf8)))
        let group = try await builder.group(of: request, by: parts.intake)
        #expect(group.pushes.count == 1)
        let removed = await bench.ask("DELETE", "/users/anna")
        #expect(removed.status == 200, "\(removed.text)")
        #expect(removed.json == ["installations": 1, "cancelled-pushes": 0, "dead-letters": 0])
        let stored = await parts.intake.accept(group.pushes, from: caller)
        let answers = zip(stored, group.pushes).map { PushAnswer($0, $1.push) }
        #expect(group.json(answers, at: parts.now) == ["pushes": [], "left-out": ["no-token": 1]])
        // The phone enrolls again with the same token, and gets only what is sent from now on.
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let later = await bench.send(to: #"{"user":"anna"}"#, query: "?wait=60")
        #expect(later.json["pushes"]?.elements?.first?["state"] == "delivered", "\(later.text)")
        #expect(await bench.relay.apple.pushCount == 1)
        await bench.stop()
    }

    @Test func `a key sends to users of its own apps only`() async throws {
        let bench = try await EnrollmentBench()
        let anna = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        for audience in [#"{"user":"anna"}"#, #"{"installation":"\#(anna.id)"}"#] {
            let body = #"{"app":"orders","to":\#(audience),\#(Self.alert)}"#
            for key in ["mrt_rides", EnrollmentBench.key] {
                let refused = await bench.relay.ask("POST", "/v1/pushes", body, key: key)
                #expect(refused.status == 403, "\(refused.text)")
            }
            let own = #"{"to":\#(audience),\#(Self.alert)}"#
            let other = await bench.relay.ask("POST", "/v1/pushes", own, key: "mrt_rides")
            #expect(other.json == ["pushes": [], "left-out": ["no-installation": 1]], "\(other.text)")
        }
        #expect(await bench.relay.apple.pushCount == 0)
        await bench.stop()
    }

    @Test func `a phone whose token is unregistered is left out`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let gone = try await bench.enroll("anna", #","tokens":{"device":"dead00ff"}"#)
        await bench.relay.apple.unregister(try DeviceToken(hex: "dead00ff"))
        let first = await bench.send(to: #"{"installation":"\#(gone.id)"}"#, query: "?wait=60")
        #expect(first.json["pushes"]?.elements?.first?["state"] == "refused", "\(first.text)")
        let second = await bench.send(to: #"{"user":"anna"}"#)
        #expect(second.json["left-out"] == ["no-token": 1] && ids(second).count == 1, "\(second.text)")
        await bench.stop()
    }

    @Test func `a line of a batch may name a user`() async throws {
        let bench = try await EnrollmentBench()
        let anna = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let lines = [#"{"user":"anna"}"#, #""5d3a6a1c""#, #"{"user":"bob"}"#, #"{"users":1}"#, #"{"all":1}"#]
        let answers = await bench.relay.batch(lines.map { #"{"to":\#($0),\#(Self.alert)}"# })
        try #require(answers.count == 5)
        #expect(answers[0]["pushes"]?.elements?.first?["installation"]?.stringValue == anna.id)
        #expect(answers[1]["state"] == "accepted" && answers[1]["installation"] == nil)
        #expect(answers[2] == ["pushes": [], "left-out": ["no-installation": 1]])
        #expect(answers[3]["errors"]?.elements?.first?["pointer"] == "/to/users")
        #expect(answers[4]["errors"]?.elements?.first?["pointer"] == "/to/all")
        await bench.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Surfaces over the interface in JSON.
@Suite(.timeLimit(.minutes(10))) struct SurfaceAPITests {
    private static let list = "/v1/apps/orders/surfaces"
    private static let surface = list + "/order-7"
    private static let kinds = SurfaceKind.allCases.map(\.rawValue)

    /// Returns an example of a snapshot of a surface.
    private static func snapshot(_ kind: String, of id: String = "order-7") -> String {
        SurfaceExample.json(of: kind).replacing("order-17-\(kind)", with: id)
    }

    private static func body(
        _ kinds: [String] = ["liveActivity"],
        to: String = #"{"user":"anna"}"#,
        of id: String = "order-7",
        more: String = ""
    ) -> String {
        let snapshots = kinds.map { snapshot($0, of: id) }.joined(separator: ",")
        return #"{"to":\#(to),"snapshots":[\#(snapshots)]\#(more)}"#
    }

    /// A caller that may read users.
    private static func support() throws -> RelayConfiguration.Caller {
        try RelayConfiguration.Caller(key: "mrt_support", apps: ["orders"], scopes: [.read, .installations])
    }

    /// Returns the identifiers of the surfaces in a list.
    private static func ids(_ list: JSONValue) -> [String] {
        (list["surfaces"]?.elements ?? []).compactMap { $0["id"]?.stringValue }
    }

    @Test func `a surface is stored, replaced, withdrawn and stored again`() async throws {
        let bench = try await RelayBench()
        let first = await bench.ask("PUT", Self.surface, Self.body())
        #expect(first.status == 201 && first.json["revision"] == 1, "\(first.text)")
        #expect(first.json["state"] == "desired" && first.json["caller"] == "back end")
        let same = await bench.ask("PUT", Self.surface, Self.body())
        #expect(same.status == 200 && same.json["revision"] == 1, "\(same.text)")
        let other = await bench.ask("PUT", Self.surface, Self.body(more: #","priority":5,"ends-at":99999999999"#))
        #expect(other.status == 200 && other.json["revision"] == 2, "\(other.text)")
        let shown = await bench.ask("GET", Self.surface)
        #expect(shown.json["priority"] == 5 && shown.json["ends-at"] == 99_999_999_999, "\(shown.text)")
        #expect(shown.json["snapshots"]?.elements?.compactMap { $0["kind"]?.stringValue } == ["liveActivity"])
        for _ in 0..<2 {
            let withdrawn = await bench.ask("DELETE", Self.surface)
            #expect(withdrawn.status == 200 && withdrawn.json["revision"] == 3, "\(withdrawn.text)")
            #expect(withdrawn.json["state"] == "withdrawn" && withdrawn.json["withdrawn-at"] != nil)
        }
        #expect(await bench.ask("DELETE", Self.list + "/order-8").status == 404)
        let again = await bench.ask("PUT", Self.surface, Self.body())
        #expect(again.status == 200 && again.json["revision"] == 4 && again.json["state"] == "desired")
        await bench.stop()
    }

    @Test func `an answer has the revision in etag`() async throws {
        let bench = try await RelayBench()
        let request = HTTPRequest(
            method: "PUT",
            scheme: "http",
            authority: "localhost",
            target: Self.surface,
            fields: ["authorization": "Bearer " + RelayBench.callerKey],
            body: Array(Self.body().utf8)
        )
        if case .whole(let response) = await RelayAPI(bench.parts).answer(request) {
            #expect(response.status == 201 && response.fields["etag"] == "\"1\"")
        } else {
            Issue.record("the answer is in pieces")
        }
        await bench.stop()
    }

    @Test func `a surface changes only from the revision that the request names`() async throws {
        let bench = try await RelayBench()
        let (first, second) = (Self.body(), Self.body(more: #","priority":5"#))
        let missing = await bench.ask("PUT", Self.surface, first, fields: ["if-match": "\"1\""])
        #expect(missing.status == 412 && missing.text.contains("store it without a condition"), "\(missing.text)")
        #expect(await bench.ask("PUT", Self.surface, first, fields: ["if-none-match": "*"]).status == 201)
        let stale = await bench.ask("PUT", Self.surface, second, fields: ["if-match": "\"2\""])
        #expect(stale.status == 412 && stale.json["revision"] == 1, "\(stale.text)")
        #expect(await bench.ask("PUT", Self.surface, second, fields: ["if-match": "\"1\""]).json["revision"] == 2)
        #expect(await bench.ask("PUT", Self.surface, first, fields: ["if-none-match": "*"]).status == 412)
        #expect(await bench.ask("DELETE", Self.surface, fields: ["if-match": "\"1\""]).status == 412)
        #expect(await bench.ask("DELETE", Self.surface, fields: ["if-match": "\"2\""]).status == 200)
        let late = await bench.ask("PUT", Self.surface, first, fields: ["if-match": "\"3\""])
        #expect(late.status == 412 && late.text.contains("is withdrawn"), "\(late.text)")
        #expect(late.json["revision"] == nil)
        #expect(await bench.ask("PUT", Self.surface, first, fields: ["if-none-match": "*"]).json["revision"] == 4)
        let invalid: [(HTTPFields, String)] = [
            (["if-match": "4"], "(found 4 without quotation marks)"),
            (["if-match": "*"], "(found * without quotation marks)"), (["if-match": "W/\"4\""], #"(found W/"4")"#),
            (["if-match": "\"04\""], #"(found "04")"#),
            (["if-none-match": "\"*\""], #"*, without quotation marks (found "*")"#),
            (["if-match": "\"4\"", "if-none-match": "*"], "not both"),
            (["if-match": "\"4\"", "if-match": "\"5\""], #"(found "4", "5")"#),
            (["if-none-match": "*", "if-none-match": "\"4\""], #"(found *, "4")"#),
        ]
        for (fields, message) in invalid {
            let answer = await bench.ask("PUT", Self.surface, second, fields: fields)
            let detail = answer.json["detail"]?.stringValue ?? ""
            #expect(answer.status == 400 && detail.contains("-Match"), "\(answer.text)")
            #expect(detail.contains(message), "\(answer.text)")
        }
        await bench.stop()
    }

    @Test(
        arguments: [
            (body().replacing(#""to":{"user":"anna"},"#, with: ""), "/to", "to is missing"),
            (body(to: #"{"user":"anna","activity":"6F1C"}"#), "/to/activity", "is unknown"),
            (body(to: #"{"user":"anna","all":true}"#), "/to", "exactly one of"),
            (body(more: #","end-at":5"#), "/end-at", "is unknown"),
            (body(more: #","ends-at":5"#), "/ends-at", "in the future"),
            (body(more: #","ends-at":1796045948421"#), "/ends-at", "in seconds since 1970, not in milliseconds"),
            (body(more: #","priority":1"#), "/priority", "10 or 5"),
            (body(["widget"], more: #","attributes-type":"Order""#), "/attributes-type", "without the snapshot"),
            (body(["widget"], more: #","control":"com.example.garage""#), "/control", "without the snapshot"),
            (body(["control"], more: #","control":"""#), "/control", "1 to 128"),
            (body(["widget"], more: #","channel":{"id":"YQ=="}"#), "/channel", "without the snapshot"),
            (body(more: #","channel":{}"#), "/channel/id", "is missing"),
            (
                body(more: #","channel":{"id":"no base64"}"#), "/channel/id",
                #"must be the base64 text that Apple has returned for the channel (found \"no base64\")"#
            ),
            (body(more: #","channel":{"id":"YR=="}"#), "/channel/id", "must be the base64 text"),
            (
                body(more: #","channel":{"id":"YQ==","environment":"development"}"#), "/channel/environment",
                #"must be production, for which the app is configured (found \"development\")"#
            ),
            (
                body(more: #","channel":{"id":"YQ==","bundle-id":"com.example.x"}"#), "/channel/bundle-id",
                #"must be com.example.orders, a bundle identifier of the app (found \"com.example.x\")"#
            ),
            (
                body(more: #","channel":{"id":"YQ==","message-storage-policy":2}"#),
                "/channel/message-storage-policy", "must be an integer from 0 to 1 (found 2)"
            ),
            (body([]), "/snapshots", "1 to 6"),
            (
                body(["widget", "widget"]), "/snapshots/1/kind",
                #"another kind than those of the snapshots before it (found \"widget\")"#
            ),
            (body(of: "order-8"), "/snapshots/0/surfaceId", #"as in the path (found \"order-8\")"#),
            (
                body().replacing(#""progress":0.5"#, with: #""progress":5"#), "/snapshots/0/liveActivity/progress",
                "snapshots[0].liveActivity.progress is 5; the maximum is 1"
            ),
            (
                body().replacing(#""title":"#, with: #""titel":"#), "/snapshots/0/liveActivity/title",
                "snapshots[0].liveActivity has unknown members: titel (did you mean title?)"
            ),
            (
                body().replacing(#""title":"#, with: #""titel":"","title":"#), "/snapshots/0/liveActivity/titel",
                "snapshots[0].liveActivity has unknown members: titel"
            ),
            (
                body().replacing(#""kind":"liveActivity""#, with: #""kind":"liveActivty""#), "/snapshots/0/kind",
                #"(found \"liveActivty\"); did you mean liveActivity?"#
            ),
            (
                body().replacing(#""state":"active""#, with: #""state":"done""#), "/snapshots/0/state",
                #"(found \"done\")"#
            ),
            (body(to: #"{"users":[]}"#), "/to/users", "must have 1 to 100 users (found 0)\""),
        ] as [(String, String, String)]
    )
    func `a mistake is reported when the surface is stored`(
        body: String,
        pointer: String,
        message: String
    ) async throws {
        let bench = try await RelayBench()
        let answer = await bench.ask("PUT", Self.surface, body)
        #expect(answer.status == 400 && answer.text.contains(message), "\(answer.text)")
        #expect(answer.json["errors"]?.elements?.first?["pointer"]?.stringValue == pointer, "\(answer.text)")
        #expect(await bench.ask("GET", Self.surface).status == 404)
        await bench.stop()
    }

    /// The title is in each push, and the link only in the notification in place of the Live Activity.
    @Test(arguments: ["On its way", "shop://orders/17", "not in a push"])
    func `a snapshot whose push is too long is refused`(text: String) async throws {
        let long = text + String(repeating: "a", count: text == "not in a push" ? 40_000 : 5_000)
        let added = Self.body().replacing(#""stage":"#, with: #""contextLabel":"not in a push","stage":"#)
        let bench = try await RelayBench()
        let answer = await bench.ask("PUT", Self.surface, added.replacing(text, with: long))
        #expect(answer.status == 400, "\(answer.text)")
        let pointer = answer.json["errors"]?.elements?.first?["pointer"]?.stringValue ?? ""
        #expect(pointer.hasPrefix("/snapshots"), "\(answer.text)")
        await bench.stop()
    }

    @Test func `a surface has a snapshot of each kind, in any order`() async throws {
        let bench = try await RelayBench()
        let first = await bench.ask("PUT", Self.surface, Self.body(Self.kinds))
        #expect(first.status == 201, "\(first.text)")
        let reversed = Self.body(Self.kinds.reversed(), more: #","priority":10,"ends-at":null"#)
        #expect(await bench.ask("PUT", Self.surface, reversed).json["revision"] == 1)
        let shown = await bench.ask("GET", Self.surface)
        #expect(shown.json["snapshots"]?.elements?.compactMap { $0["kind"]?.stringValue } == Self.kinds)
        let control = Self.body(Self.kinds, more: #","control":"com.example.garage""#)
        #expect(await bench.ask("PUT", Self.surface, control).json["revision"] == 2)
        #expect(await bench.ask("GET", Self.surface).json["control"] == "com.example.garage")
        let content = try SurfaceContent(JSONField<APIProblem>(shown.json, named: "the surface"))
        #expect(try SurfaceContent(stored: content.stored).stored == content.stored)
        await bench.stop()
    }

    @Test func `a channel has the place of the app by default`() async throws {
        let bench = try await RelayBench()
        let body = Self.body(more: #","channel":{"id":"YQ=="}"#)
        #expect(await bench.ask("PUT", Self.surface, body).status == 201)
        let shown = await bench.ask("GET", Self.surface)
        let channel: JSONValue = [
            "id": "YQ==", "message-storage-policy": 0, "environment": "production", "bundle-id": "com.example.orders",
        ]
        #expect(shown.json["channel"] == channel && shown.json["problem"] == nil, "\(shown.text)")
        let again = Self.body(more: #","channel":\#(channel)"#)
        #expect(await bench.ask("PUT", Self.surface, again).json["revision"] == 1)
        await bench.stop()
    }

    @Test func `a channel belongs to one surface`() async throws {
        let bench = try await RelayBench()
        func put(_ id: String, on channel: String) async -> RelayBench.Answer {
            await bench.ask("PUT", Self.list + "/" + id, Self.body(of: id, more: #","channel":{"id":"\#(channel)"}"#))
        }
        #expect(await put("order-7", on: "YQ==").status == 201)
        let refused = await put("order-8", on: "YQ==")
        #expect(refused.status == 409 && refused.text.contains("the surface order-7 has it"), "\(refused.text)")
        #expect(refused.text.contains("create a channel for each surface"), "\(refused.text)")
        #expect(refused.json["errors"]?.elements?.first?["pointer"] == "/channel/id", "\(refused.text)")
        #expect(await bench.ask("GET", Self.list + "/order-8").status == 404)
        #expect(await put("order-8", on: "Yg==").status == 201)
        #expect(await put("order-7", on: "Yg==").status == 409)
        #expect(await bench.ask("GET", Self.surface).json["revision"] == 1)
        // A withdrawn surface frees its channel.
        #expect(await bench.ask("DELETE", Self.surface).status == 200)
        #expect(await put("order-8", on: "YQ==").json["revision"] == 2)
        #expect(await put("order-7", on: "YQ==").status == 409)
        await bench.stop()
    }

    @Test(
        arguments: [
            (#"{"user":"anna"}"#, ["users": ["anna"]]),
            (#"{"users":["bob","anna","bob"]}"#, ["users": ["anna", "bob"]]),
            (#"{"tag":"vip"}"#, ["where": "vip"]), (#"{"where":"vip&&!trial"}"#, ["where": "vip && !trial"]),
            (#"{"all":true}"#, ["where": "all"]),
            (
                #"{"installation":"0199f2c4-0000-7000-8000-000000000001"}"#,
                ["installation": "0199f2c4-0000-7000-8000-000000000001"]
            ),
        ] as [(String, JSONValue)]
    )
    func `an audience is stored in its usual form`(to: String, stored: JSONValue) async throws {
        let support = try Self.support()
        let bench = try await RelayBench { $0.callers.append(support) }
        let answer = await bench.ask("PUT", Self.surface, Self.body(to: to))
        #expect(answer.status == 201, "\(answer.text)")
        let shown = await bench.ask("GET", Self.surface, key: "mrt_support")
        #expect(shown.json["to"] == stored, "\(shown.text)")
        let again = await bench.ask("PUT", Self.surface, Self.body(to: "\(stored)"))
        #expect(again.status == 200 && again.json["revision"] == 1, "\(again.text)")
        await bench.stop()
    }

    @Test func `snapshots and users are shown to keys that may read them`() async throws {
        let reader = try RelayConfiguration.Caller(key: "mrt_reader", apps: ["orders"], scopes: [.read])
        let support = try Self.support()
        let bench = try await RelayBench { $0.callers += [reader, support] }
        #expect(await bench.ask("PUT", Self.surface, Self.body(), key: "mrt_reader").status == 403)
        #expect(await bench.ask("PUT", "/v1/apps/rides/surfaces/order-7", Self.body()).status == 403)
        #expect(await bench.ask("PUT", Self.surface, Self.body()).json["to"] == nil)
        for (key, hasUsers, hasSnapshots) in [
            (RelayBench.callerKey, false, true), ("mrt_reader", false, false), ("mrt_support", true, false),
        ] {
            let shown = await bench.ask("GET", Self.surface, key: key)
            #expect(shown.status == 200 && (shown.json["to"] != nil) == hasUsers, "\(key): \(shown.text)")
            #expect((shown.json["snapshots"] != nil) == hasSnapshots, "\(key): \(shown.text)")
            let listed = await bench.ask("GET", Self.list, key: key).json
            let first = listed["surfaces"]?.elements?.first
            #expect(Self.ids(listed) == ["order-7"] && first?["snapshots"] == nil, "\(key): \(listed)")
            #expect((first?["to"] != nil) == hasUsers, "\(key): \(listed)")
        }
        await bench.stop()
    }

    @Test func `a surface that cannot be read tells why nothing is sent`() async throws {
        let bench = try await RelayBench()
        let json = try JSONReader.read(Array(Self.body().utf8))
        let app = try #require(await bench.relay.context.configuration.apps.first)
        let request = try SurfaceRequest(json, of: "order-7", in: app, at: bench.parts.now)
        // With the fingerprint of the readable content, as after damage.
        var stored = try request.surface("order-7", of: "orders", by: "back end", replacing: nil)
        stored.request = Array(#"{"snapshots":[{"kind":"hologram"}]}"#.utf8)
        _ = try await bench.parts.outbox.surfaces.put(stored, if: .none, limit: 9, at: bench.parts.now)
        let shown = await bench.ask("GET", Self.surface)
        #expect(shown.json["problem"]?.stringValue?.contains("store it again") == true, "\(shown.text)")
        let replaced = await bench.ask("PUT", Self.surface, Self.body())
        #expect(replaced.json["revision"] == 2 && replaced.json["problem"] == nil, "\(replaced.text)")
        await bench.stop()
    }

    @Test func `surfaces are listed in pages`() async throws {
        let bench = try await RelayBench()
        for id in ["b", "a", "c"] {
            #expect(await bench.ask("PUT", Self.list + "/" + id, Self.body(["widget"], of: id)).status == 201)
        }
        let first = await bench.ask("GET", Self.list + "?limit=2").json
        #expect(Self.ids(first) == ["b", "a"], "\(first)")
        let cursor = try #require(first["cursor"]?.integerValue)
        let second = await bench.ask("GET", Self.list + "?after=\(cursor)").json
        #expect(Self.ids(second) == ["c"], "\(second)")
        await bench.stop()
    }

    @Test func `the identifier in the path is percent-encoded`() async throws {
        let bench = try await RelayBench()
        let stored = await bench.ask("PUT", Self.list + "/order%2F7", Self.body(["widget"], of: "order/7"))
        #expect(stored.status == 201 && stored.json["id"] == "order/7", "\(stored.text)")
        let refused = await bench.ask("GET", Self.list + "/order%207")
        #expect(refused.status == 400 && refused.text.contains("visible ASCII characters"), "\(refused.text)")
        await bench.stop()
    }

    @Test func `the withdrawal of a surface is audited`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger(.info))
        _ = await bench.ask("PUT", Self.surface, Self.body())
        _ = await bench.ask("DELETE", Self.surface)
        _ = await bench.ask("DELETE", Self.list + "/mrt_secret")
        // A surface with the path of another action, and a body that names dead letters.
        let id = "dead-letters:discard"
        _ = await bench.ask("PUT", Self.list + "/" + id, Self.body(of: id))
        _ = await bench.ask("DELETE", Self.list + "/" + id, #"{"ids":["0199f2c4-0000-7000-8000-000000000001"]}"#)
        await bench.stop()
        let entries = lines.objects.filter { $0["action"] == "withdraw-surface" }
        #expect(entries.map { $0["target"]?.stringValue } == ["order-7", nil, id])
        #expect(entries.map { $0["status"]?.integerValue } == [200, 404, 200])
    }

    @Test func `each phone is listed with what it shall show`() async throws {
        let bench = try await EnrollmentBench()
        let phone = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let path = Self.surface + "/installations"
        #expect(await bench.relay.ask("GET", path).status == 404)
        let stored = await bench.relay.ask("PUT", Self.surface, Self.body(["widget"]))
        #expect(stored.status == 201)
        try await eventually("the phone is listed") {
            await bench.relay.ask("GET", path).json["installations"]?.elements?.count == 1
        }
        let list = await bench.relay.ask("GET", path).json
        let listed = list["installations"]?.elements?.first
        #expect(list["changed-at"] != nil && list["changed-at"] == stored.json["changed-at"], "\(list)")
        #expect(listed?["installation"]?.stringValue == phone.id && listed?["in-audience"] == true, "\(list)")
        #expect(listed?["user"] == nil && listed?["kinds"]?["widget"]?["desired-revision"] == 1, "\(list)")
        let cursor = try #require(list["cursor"]?.integerValue)
        #expect(await bench.relay.ask("GET", path + "?after=\(cursor)").json["installations"] == [])
        await bench.stop()
    }

    @Test func `a missing token is named beside those that the app has reported`() async throws {
        let bench = try await EnrollmentBench()
        let tokens = #"{"device":"a1","start":{"OrderAttributes":"b1"},"controls":{"com.example.gate":"c1"}}"#
        _ = try await bench.enroll("anna", #","tokens":\#(tokens)"#)
        let body = Self.body(["liveActivity", "control"], more: #","control":"com.example.garage""#)
        #expect(await bench.relay.ask("PUT", Self.surface, body).status == 201)
        try await eventually("the reason is known") {
            let listed = await bench.relay.ask("GET", Self.surface + "/installations").json["installations"]
            return listed?.elements?.first?["kinds"]?["liveActivity"]?["reason"] == "no-start-token"
        }
        let listed = await bench.relay.ask("GET", Self.surface + "/installations").json["installations"]
        let kinds = try #require(listed?.elements?.first?["kinds"])
        let start = kinds["liveActivity"]?["detail"]?.stringValue ?? ""
        #expect(start.hasPrefix("tokens.start has no token of SurfaceActivityAttributes (found OrderAttributes): "))
        let control = kinds["control"]?["detail"]?.stringValue ?? ""
        #expect(control.hasPrefix("tokens.controls has no token of com.example.garage (found com.example.gate): "))
        await bench.stop()
    }

    @Test func `surfaces of a user are exported and removed with the user`() async throws {
        let bench = try await EnrollmentBench()
        let phone = try await bench.enroll("anna")
        let audiences = [
            ("own", #"{"user":"anna"}"#), ("phone", #"{"installation":"\#(phone.id)"}"#),
            ("shared", #"{"users":["anna","bert"]}"#), ("other", #"{"user":"bert"}"#), ("all", #"{"all":true}"#),
            ("withdrawn", #"{"user":"anna"}"#),
        ]
        for (id, to) in audiences {
            let answer = await bench.relay.ask("PUT", Self.list + "/" + id, Self.body(["widget"], to: to, of: id))
            #expect(answer.status == 201, "\(answer.text)")
        }
        #expect(await bench.relay.ask("DELETE", Self.list + "/withdrawn").status == 200)
        let pieces = await bench.relay.pieces("GET", "/v1/apps/orders/users/anna", key: EnrollmentBench.key)
        let export = try JSONReader.read(Array(pieces.joined()))
        #expect(Self.ids(export) == ["own", "phone", "shared", "withdrawn"] && export["complete"] == true, "\(export)")
        #expect(!"\(export)".contains("bert") && !"\(export)".contains("snapshots"), "\(export)")
        #expect(await bench.ask("DELETE", "/users/anna").status == 200)
        let stored = try await bench.relay.parts.outbox.surfaces.surfaces(of: "orders", after: 0, limit: 9)
        #expect(stored.map(\.surface.id) == ["shared", "other", "all"])
        #expect(stored.first?.surface.audience == .users(["bert"]))
        await bench.stop()
    }
}

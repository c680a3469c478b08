// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The relay in JSON.
@Suite(.timeLimit(.minutes(10))) struct RelayAPITests {
    private static let order =
        #"{"app":"orders","to":"5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d","payload":{"aps":{"alert":"Hi"},"b":1e400,"a":2}}"#

    @Test func `a push is stored and delivered, and its state can be read`() async throws {
        let bench = try await RelayBench()
        let posted = await bench.ask("POST", "/v1/pushes", Self.order)
        #expect(posted.status == 202 && posted.json["state"] == "accepted")
        let id = try #require(posted.json["id"]?.stringValue)
        let told = await bench.ask("GET", "/v1/pushes/\(id)?wait=60s")
        #expect(told.status == 200 && told.json["state"] == "delivered" && told.json["apns"]?["status"] == 200)
        let push = try #require(await bench.apple.pushes.first)
        #expect(String(decoding: push.payload, as: UTF8.self) == #"{"aps":{"alert":"Hi"},"b":1e400,"a":2}"#)
        #expect(push.headers.topic == "com.example.orders" && push.headers.pushType == "alert" && push.id == id)
        let waited = await bench.ask("POST", "/v1/pushes?wait=60", Self.order)
        #expect(waited.status == 200 && waited.json["state"] == "delivered")
        await bench.stop()
    }

    @Test func `a repeated request with the same Idempotency-Key is one push`() async throws {
        let bench = try await RelayBench()
        let key: HTTPFields = ["idempotency-key": "order-42"]
        let first = await bench.ask("POST", "/v1/pushes?wait=60", Self.order, fields: key)
        let second = await bench.ask("POST", "/v1/pushes", Self.order, fields: key)
        #expect(second.status == 200 && second.json["id"] == first.json["id"] && second.json["state"] == "delivered")
        let other = await bench.ask("POST", "/v1/pushes", Self.order.replacing("Hi", with: "Ho"), fields: key)
        #expect(other.status == 422 && other.json["errors"]?.elements?.first?["pointer"] == "/id")
        #expect(await bench.apple.pushCount == 1)
        await bench.stop()
    }

    @Test(arguments: [
        (#"{"#, 400, nil), (#"[]"#, 400, ""), (#"{"to":"5d3a6a1c"}"#, 400, ""),
        (#"{"to":"xyz","payload":{"aps":{}}}"#, 400, "/to"), (#"{"to":["ab","abc"],"payload":{}}"#, 400, "/to/1"),
        (#"{"to":"ab","payload":[]}"#, 400, "/payload"), (#"{"to":"ab","payload":{},"colour":1}"#, 400, "/colour"),
        (#"{"to":"ab","payload":{},"priority":"10"}"#, 400, "/priority"),
        (#"{"to":"ab","payload":{},"priority":7}"#, 400, "/priority"),
        (#"{"to":"ab","payload":{},"supersede":true}"#, 400, "/supersede"),
        (#"{"app":"orders","to":{"all":true},"payload":{},"supersede":true}"#, 400, "/supersede"),
        (#"{"to":"ab","payload":{},"app":"rides"}"#, 403, "/app"),
        (#"{"to":"ab","payload":{},"environment":"development"}"#, 400, "/environment"),
        (#"{"to":["ab","cd"],"payload":{},"id":"123e4567-e89b-42d3-a456-426655440000"}"#, 400, "/id"),
        (#"{"to":"ab","snapshot":{"kind":"widget"}}"#, 400, "/snapshot/schemaVersion"),
    ])
    func `the error for an invalid push has the place of the mistake`(body: String, status: Int, pointer: String?)
        async throws
    {
        let bench = try await RelayBench()
        let answer = await bench.ask("POST", "/v1/pushes", body)
        #expect(answer.status == status, "\(answer.text)")
        #expect(answer.json["errors"]?.elements?.first?["pointer"]?.stringValue == pointer, "\(answer.text)")
        await bench.stop()
    }

    @Test func `only health is public, and a caller sees its own apps only`() async throws {
        let bench = try await RelayBench {
            $0.callers.append(
                RelayConfiguration.Caller(
                    name: "reader",
                    hash: (try? RelayBench.hash("mrt_reader")) ?? "",
                    apps: ["rides"],
                    scopes: [.read]
                )
            )
        }
        #expect(await bench.ask("GET", "/livez", key: nil).status == 200)
        #expect(await bench.ask("GET", "/readyz", key: nil).status == 200)
        #expect(await bench.ask("TRACE", "/readyz").status == 405)
        #expect(await bench.ask("GET", "/openapi.json", key: nil).status == 200)
        for path in ["/v1/pushes", "/v1/status", "/nothing"] {
            #expect(await bench.ask("GET", path, key: nil).status == 401)
            #expect(await bench.ask("GET", path, key: "mrt_wrong").status == 401)
        }
        #expect(await bench.ask("POST", "/v1/pushes", Self.order, key: "mrt_reader").status == 403)
        let posted = await bench.ask("POST", "/v1/pushes", Self.order)
        let id = posted.json["id"]?.stringValue ?? ""
        #expect(await bench.ask("GET", "/v1/pushes/\(id)", key: "mrt_reader").status == 404)
        #expect(await bench.ask("GET", "/v1/apps/orders/unregistered-tokens", key: "mrt_reader").status == 403)
        #expect(await bench.ask("GET", "/v1/apps/rides/unregistered-tokens", key: "mrt_reader").status == 200)
        await bench.stop()
    }

    @Test func `a batch is answered line by line`() async throws {
        let bench = try await RelayBench()
        let lines = (0..<1_200).map { index in
            index == 700 ? #"{"to":"x"}"# : #"{"to":"5d3a6a1c","payload":{"aps":{"badge":\#(index)}}}"#
        }
        let decisions = await bench.batch(lines)
        #expect(decisions.count == lines.count)
        #expect(decisions.enumerated().allSatisfy { $1[$0 == 700 ? "errors" : "id"] != nil })
        let query = try PushQuery("topic:com.example.orders")
        let found = await bench.apple.wait(for: query, count: 1_000, timeout: .seconds(300))
        guard case .found = found else {
            Issue.record("\(found)")
            return
        }
        await bench.stop()
    }

    @Test func `many tokens get one payload, and unregistered ones are listed`() async throws {
        let bench = try await RelayBench()
        let dead = try DeviceToken(hex: "dead00ff")
        await bench.apple.unregister(dead, since: Date(timeIntervalSince1970: 1_790_000_000))
        let body = #"{"to":["5d3a6a1c","dead00ff","5d3a6a1d"],"payload":{"aps":{"alert":"Hi"}}}"#
        let posted = await bench.ask("POST", "/v1/pushes", body)
        #expect(posted.status == 202)
        let ids = (posted.json["pushes"]?.elements ?? []).compactMap { $0["id"]?.stringValue }
        #expect(Set(ids).count == 3)
        var states: [String?] = []
        for id in ids { states.append(await bench.ask("GET", "/v1/pushes/\(id)?wait=60").json["state"]?.stringValue) }
        #expect(states == ["delivered", "refused", "delivered"])
        let feed = await bench.ask("GET", "/v1/apps/orders/unregistered-tokens")
        let found = feed.json["unregistered-tokens"]?.elements ?? []
        #expect(found.map { $0["token"] } == ["dead00ff"] && found.first?["unregistered-at"] == 1_790_000_000_000)
        #expect(found.first?["environment"] == "production" && found.first?["topic"] == "com.example.orders")
        let other = #"{"to":"dead00ff","push-type":"voip","payload":{}}"#
        #expect(await bench.ask("POST", "/v1/pushes", other).status == 202, "it has another topic")
        #expect(await bench.ask("POST", "/v1/pushes", #"{"to":"dead00ff","payload":{}}"#).status == 410)
        #expect(await bench.ask("DELETE", "/v1/apps/orders/unregistered-tokens/dead00ff").status == 204)
        #expect(await bench.ask("POST", "/v1/pushes", #"{"to":"dead00ff","payload":{}}"#).status == 202)
        await bench.stop()
    }

    /// The next event, without the comments that keep the connection alive.
    private static func told(
        _ events: inout OutcomeStream.Iterator
    ) async -> [UInt8]? {
        while let event = await events.next() {
            if event != ServerSentEvent.keepAlive { return event }
        }
        return nil
    }

    @Test func `listeners receive outcomes, and those that they missed when they reconnect`() async throws {
        let bench = try await RelayBench()
        let listening = try await bench.parts.intake.listen(for: RelayBench.listener(to: "orders"), after: nil)
        let elsewhere = try await bench.parts.intake.listen(for: RelayBench.listener(to: "rides"), after: nil)
        var first = listening.makeAsyncIterator()
        let posted = await bench.ask("POST", "/v1/pushes?wait=60", Self.order)
        let id = posted.json["id"]?.stringValue ?? "?"
        let event = String(decoding: await Self.told(&first) ?? [], as: UTF8.self)
        #expect(event.hasPrefix("event: outcome\nid: ") && event.contains(id) && event.contains("delivered"))
        let eventID = event.split(separator: "\n")[1].dropFirst(4)
        _ = await bench.ask("POST", "/v1/pushes?wait=60", Self.order)
        var back = try await bench.parts.intake.listen(for: RelayBench.listener(to: "orders"), after: String(eventID))
            .makeAsyncIterator()
        #expect(await Self.told(&back) == Self.told(&first))
        var lost = try await bench.parts.intake.listen(for: RelayBench.listener(to: "orders"), after: "1-1")
            .makeAsyncIterator()
        let missed = String(decoding: await Self.told(&lost) ?? [], as: UTF8.self)
        #expect(missed.hasPrefix("event: gap") && missed.contains(event))
        await bench.stop()
        var nothing = elsewhere.makeAsyncIterator()
        #expect(await Self.told(&nothing) == nil)
    }

    @Test func `the JSON interface is available over HTTP/2`() async throws {
        let bench = try await RelayBench()
        let port = await bench.relay.ports[.production] ?? 0
        let url = "http://127.0.0.1:\(port)/v1/pushes?wait=60"
        let common = ["-sS", "--http2-prior-knowledge", "-H", "authorization: bearer " + RelayBench.callerKey]
        let posted = try await ProgramRun("curl", common + ["--data-binary", Self.order, url])
        #expect(posted.text.contains(#""state":"delivered""#), "\(posted.text) \(posted.errorOutput)")
        let refused = try await ProgramRun("curl", ["-sS", "--http2-prior-knowledge", "-d", Self.order, url])
        #expect(refused.text.contains("bearer"), "\(refused.text)")
        let line = Self.order.replacing("orders", with: "rides")
        let batch = url.replacing("pushes?wait=60", with: "pushes:batch")
        let lines = try await ProgramRun("curl", common + ["--data-binary", Self.order + "\n" + line, batch])
        #expect(lines.text.split(separator: "\n").count == 2, "\(lines.text)")
        await bench.stop()
    }

    @Test func `channels are made, listed, pushed to and deleted`() async throws {
        let bench = try await RelayBench()
        let path = "/v1/apps/orders/channels"
        let made = await bench.ask("POST", path, #"{"message-storage-policy":1}"#)
        let channel = try #require(made.json["channel"]?.stringValue, "\(made.text)")
        #expect(await bench.ask("GET", path).json["channels"]?.elements == [.string(channel)])
        let state = #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"score":1}}}"#
        let body = #"{"channel":"\#(channel)","payload":\#(state)}"#
        let pushed = await bench.ask("POST", "/v1/pushes?wait=60", body)
        #expect(pushed.json["state"] == "delivered", "\(pushed.text)")
        #expect(await bench.apple.pushes.map(\.channel?.rawValue) == [channel])
        #expect(await bench.ask("GET", "/v1/apps/rides/channels").status == 403)
        let query = "?channel=" + channel.replacing("+", with: "%2B").replacing("=", with: "%3D")
        #expect(await bench.ask("DELETE", path + query).status == 204)
        #expect(await bench.ask("GET", path).json["channels"]?.elements == [])
        await bench.stop()
    }

    @Test func `a long list is accepted alone, and refused by a full outbox`()
        async throws
    {
        let body = #"{"to":["aa","bb","cc"],"payload":{"aps":{"alert":"Hi"}}}"#
        let narrow = try await RelayBench { $0.loadLimits.incoming = 2 }
        let taken = await narrow.ask("POST", "/v1/pushes", body)
        #expect(taken.json["pushes"]?.elements?.count { $0["id"] != nil } == 3, "\(taken.text)")
        await narrow.stop()
        let full = try await RelayBench { $0.outbox.limit = 0 }
        let refused = await full.ask("POST", "/v1/pushes", body)
        #expect(refused.status == 503, "\(refused.text)")
        await full.stop()
    }

    @Test func `a scheduled push can be cancelled, a delivered one cannot`() async throws {
        let bench = try await RelayBench()
        let later = bench.parts.now / 1_000 + 3_600
        let body = #"{"to":"5d3a6a1c","not-before":\#(later),"payload":{"aps":{"alert":"Hi"}}}"#
        let posted = await bench.ask("POST", "/v1/pushes", body)
        let id = posted.json["id"]?.stringValue ?? ""
        let waiting = await bench.ask("GET", "/v1/pushes/\(id)")
        #expect(waiting.json["due-at"]?.integerValue == later * 1_000, "\(waiting.text)")
        let cancelled = await bench.ask("DELETE", "/v1/pushes/\(id)")
        #expect(cancelled.status == 200 && cancelled.json["state"] == "cancelled" && cancelled.json["due-at"] == nil)
        let again = await bench.ask("DELETE", "/v1/pushes/\(id)")
        #expect(again.status == 200 && again.json["state"] == "cancelled")
        let other = await bench.ask("POST", "/v1/pushes?wait=60", Self.order)
        let late = await bench.ask("DELETE", "/v1/pushes/\(other.json["id"]?.stringValue ?? "")")
        #expect(late.status == 409 && late.json["state"] == "delivered")
        #expect(await bench.apple.pushCount == 1)
        await bench.stop()
    }

    @Test(arguments: ["notification", "liveActivity", "widget", "control", "lockAccessory", "standby"])
    func `a snapshot of any kind is delivered`(kind: String) async throws {
        let bench = try await RelayBench()
        let snapshot = SurfaceExample.json(of: kind)
        let order = #"{"to":"5d3a6a1c","snapshot":\#(snapshot)}"#
        let answer = await bench.ask("POST", "/v1/pushes?wait=60", order)
        #expect(answer.json["state"] == "delivered", "\(answer.text)")
        await bench.stop()
    }

    @Test func `quick snapshots of a Live Activity are all shown`() async throws {
        let bench = try await RelayBench()
        let snapshot = SurfaceExample.json(of: "liveActivity")
        let phone = try DeviceToken(hex: "5d3a6a1c")
        let start = #"{"to":"\#(phone.hex)","event":"start","snapshot":\#(snapshot)}"#
        #expect(await bench.ask("POST", "/v1/pushes?wait=60", start).json["state"] == "delivered")
        let activity = try #require(await bench.apple.device(phone)?.startedActivities.last?.token)
        for event in ["update", "update", "end"] {
            let body = #"{"to":"\#(activity.hex)","event":"\#(event)","snapshot":\#(snapshot)}"#
            #expect(await bench.ask("POST", "/v1/pushes?wait=60", body).json["state"] == "delivered")
        }
        let pushes = await bench.apple.pushes
        #expect(
            pushes.map { $0.deliveries.map(\.kind) } == [
                [.delivered, .replacedOnDevice], [.delivered, .replacedOnDevice], [.delivered, .activityEnded],
                [.delivered],
            ]
        )
        await bench.stop()
    }

    @Test(arguments: [("start", -2), ("update", 0), ("end", 2)] as [(String, Int64)])
    func `a scheduled snapshot has the timestamp of its sending`(event: String, lead: Int64) async throws {
        let bench = try await RelayBench()
        let snapshot = SurfaceExample.json(of: "liveActivity")
        let time = bench.parts.now / 1_000 + 2
        let body = #"{"to":"5d3a6a1c","event":"\#(event)","not-before":\#(time),"snapshot":\#(snapshot)}"#
        #expect(await bench.ask("POST", "/v1/pushes?wait=60", body).json["state"] == "delivered")
        let payload = try #require(await bench.apple.pushes.first?.payload)
        #expect(try JSONReader.read(payload)["aps"]?["timestamp"]?.integerValue == time + lead)
        await bench.stop()
    }

    @Test func `the options of a snapshot are in its push`() async throws {
        let bench = try await RelayBench()
        let snapshot = SurfaceExample.json(of: "liveActivity")
        func send(_ members: String, key: String) async -> RelayBench.Answer {
            let body = #"{"to":"5d3a6a1c","snapshot":\#(snapshot),"# + members + "}"
            return await bench.ask("POST", "/v1/pushes?wait=60", body, fields: ["idempotency-key": key])
        }
        let content = #""stale-date":1790003600,"relevance-score":0.5"#
        let start = #""event":"start","attributes-type":"OrderAttributes","# + content
        #expect(await send(start, key: "own").json["state"] == "delivered")
        #expect(await send(#""event":"start","mobile-surfaces":true"#, key: "compatible").json["state"] == "delivered")
        let pushes = await bench.apple.pushes
        let aps = try pushes.map { try JSONReader.read($0.payload)["aps"] ?? .null }
        #expect(aps[0]["attributes-type"] == "OrderAttributes" && aps[0]["stale-date"] == 1_790_003_600)
        #expect(aps[0]["relevance-score"]?.encoded() == Array("0.5".utf8) && pushes[0].headers.priority == "10")
        #expect(aps[1]["attributes-type"] == "MobileSurfacesActivityAttributes" && pushes[1].headers.priority == "5")
        #expect(aps[1]["alert"]?["sound"] == nil && aps[1]["stale-date"] == nil)
        let removal = bench.parts.now / 1_000 + 600
        let end = #""event":"end","priority":10,"dismissal-date":\#(removal)"#
        #expect(await send(end, key: "end").json["state"] == "delivered")
        let last = try #require(await bench.apple.pushes.last)
        #expect(try JSONReader.read(last.payload)["aps"]?["dismissal-date"]?.integerValue == removal)
        #expect(last.headers.priority == "10")
        // A push that differs only in one of these members is another one.
        #expect(await send(#""event":"start","# + content, key: "own").status == 422)
        await bench.stop()
    }

    @Test(arguments: ["liveActivity", "notification"])
    func `a snapshot with the same idempotency key is one push, also after a restart`(kind: String) async throws {
        let bench = try await RelayBench()
        let snapshot = SurfaceExample.json(of: kind)
        let order = #"{"to":"5d3a6a1c","event":"update","snapshot":\#(snapshot)}"#
        let first = await bench.ask("POST", "/v1/pushes?wait=60", order, fields: ["idempotency-key": "order-1"])
        #expect(first.json["state"] == "delivered", "\(first.text)")
        let second = await bench.ask("POST", "/v1/pushes?wait=60", order, fields: ["idempotency-key": "order-1"])
        #expect(second.json["id"] == first.json["id"] && second.json["state"] == "delivered", "\(second.text)")
        await bench.relay.stop()
        let later = try await bench.another()
        let third = await later.ask("POST", "/v1/pushes?wait=60", order, fields: ["idempotency-key": "order-1"])
        #expect(third.json["id"] == first.json["id"] && third.json["state"] == "delivered", "\(third.text)")
        let changed = order.replacing("\"event\"", with: "\"expiration\":1900000000,\"event\"")
        let other = await later.ask("POST", "/v1/pushes", changed, fields: ["idempotency-key": "order-1"])
        #expect(other.status == 422, "\(other.text)")
        #expect(await bench.apple.pushCount == 1)
        await later.stop()
    }

    @Test func `the body of a request without a valid key is not waited for`() async throws {
        let bench = try await RelayBench { $0.http = RelayConfiguration.Address(port: 0) }
        let client = try RawClient(port: try #require(await bench.relay.httpPort))
        client.send("POST /v1/pushes:batch HTTP/1.1\r\nhost: a\r\ncontent-length: 30000000\r\n\r\n{")
        #expect(await RawHTTP1.answers(in: client.bytes()).map(\.status) == [401])
        #expect(await bench.parts.server.counts.rejectedCallers == 1)
        await bench.stop()
    }
}

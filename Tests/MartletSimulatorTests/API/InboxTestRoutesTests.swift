// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// Routes for tests in other languages: assertions, namespaces, export, import and events.
@Suite(.timeLimit(.minutes(10))) struct InboxTestRoutesTests {
    @Test func `assertions report which of them pass, and the near misses`() async throws {
        let bench = try await InboxBench(pushes: 3)
        let good =
            #"{"assertions":[{"query":"body:push","count":3},{"query":"body:2"},{"query":"type:voip","at-most":0}]}"#
        let passed = try await bench.send("POST", "/api/v1/assertions", good)
        #expect(passed.status == "200" && passed.body.hasPrefix(#"{"passed":true"#))
        let bad =
            #"{"since":1,"assertions":[{"query":"body:push","count":3},{"query":"body:1 status:410","at-least":1}]}"#
        let failed = try await bench.send("POST", "/api/v1/assertions", bad)
        #expect(failed.status == "409")
        let answers = try #require(try JSONReader.read(Array(failed.body.utf8))["assertions"]?.elements)
        #expect(answers.map { $0["count"]?.integerValue } == [2, 0])
        #expect(answers.last?["near-misses"]?.elements?.first?["misses"] == ["status:410"])
        for wrong in [
            "{}", #"{"assertions":[{"times":1}]}"#, #"{"assertions":[{"count":1,"at-most":2}]}"#,
            #"{"assertions":[{"at-least":2,"at-most":1}]}"#, #"{"assertions":[{"query":"x:y"}]}"#,
        ] {
            #expect(try await bench.send("POST", "/api/v1/assertions", wrong).status == "400", "\(wrong)")
        }
        await bench.apns.stop()
    }

    @Test(arguments: ["{}", #"{"assertions":[]}"#])
    func `a request without assertions is refused with the rule`(body: String) async throws {
        let bench = try await InboxBench()
        let refused = try await bench.send("POST", "/api/v1/assertions", body)
        #expect(refused.status == "400" && refused.body.contains("at least one assertion"), "\(refused.body)")
        await bench.apns.stop()
    }

    @Test func `a wait may last fractions of a second`() async throws {
        let bench = try await InboxBench()
        for time in ["0.2", "0", "0.001"] {
            #expect(try await bench.get("/api/v1/pushes/wait?timeout=\(time)").status == "408", "\(time)")
        }
        for wrong in ["-1", "300.1", "1e2", "nan", "0x1", "long", ""] {
            let refused = try await bench.get("/api/v1/pushes/wait?timeout=\(wrong)")
            #expect(refused.status == "400", "\(wrong)")
            #expect(refused.body.contains("timeout must be a number of seconds from 0 to 300"), "\(refused.body)")
        }
        await bench.apns.stop()
    }

    @Test func `assertions of one request are bounded, and so are their near misses`() async throws {
        let bench = try await InboxBench(pushes: 1)
        func body(_ count: Int) -> String {
            let assertions = (0..<count).map { #"{"query":"body:push title:\#($0)","count":1}"# }
            return #"{"assertions":[\#(assertions.joined(separator: ","))]}"#
        }
        let failed = try await bench.send("POST", "/api/v1/assertions", body(100))
        #expect(failed.status == "409")
        let answers = try JSONReader.read(Array(failed.body.utf8))["assertions"]?.elements ?? []
        let nearMisses = answers.map { $0["near-misses"]?.elements?.count ?? -1 }
        #expect(nearMisses == Array(repeating: 1, count: 10) + Array(repeating: 0, count: 90))
        let refused = try await bench.send("POST", "/api/v1/assertions", body(101))
        #expect(refused.status == "400" && refused.body.contains("at most 100 elements (found 101)"), "\(refused.body)")
        await bench.apns.stop()
    }

    @Test func `a namespace is a part of the inbox for one test`() async throws {
        let bench = try await InboxBench(pushes: 1)
        let made = try await bench.json("POST", "/api/v1/namespaces")
        let name = try #require(made["namespace"]?.stringValue)
        #expect(name.count == 8 && made["query"]?.stringValue == "ns:\(name)")
        try await bench.push(1, to: name + "6a1c")
        let own = try await bench.json("GET", "/api/v1/pushes?query=ns:\(name)")
        #expect(own["pushes"]?.elements?.map { $0["number"]?.integerValue } == [2])
        _ = try await bench.send("PUT", "/api/v1/devices/\(name)00", #"{"online":false}"#)
        #expect(try await bench.send("DELETE", "/api/v1/namespaces/\(name)").status == "204")
        #expect(try await bench.send("DELETE", "/api/v1/namespaces/\(name)").status == "404")
        #expect(await bench.apns.pushes.map(\.number) == [1])
        #expect(try await bench.get("/api/v1/devices/\(name)00").status == "404")
        #expect(try await bench.send("POST", "/api/v1/namespaces", #"{"seconds":0}"#).status == "400")
        await bench.apns.stop()
    }

    @Test func `a namespace ends after its duration`() throws {
        var namespaces = Namespaces()
        var random = SplitMix64(state: 7)
        let first = try #require(namespaces.make(lasting: 10, at: 100_000, using: &random))
        #expect(first.end == 110_000)
        #expect(namespaces.namespace(header: nil, deviceToken: "\(first.name.uppercased())ff") == first.name)
        #expect(namespaces.namespace(header: "mine", deviceToken: "\(first.name)ff") == "mine")
        #expect(namespaces.namespace(header: nil, deviceToken: "ff") == nil)
        #expect(namespaces.removeEnded(at: 109_999).isEmpty)
        #expect(namespaces.removeEnded(at: 110_000) == [first.name])
        #expect(namespaces.namespace(header: nil, deviceToken: "\(first.name)ff") == nil)
    }

    @Test func `an added fault rule does not restart the earlier ones`() async throws {
        let bench = try await InboxBench()
        let client = try PushClient(
            await bench.apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: .init(additionalAuthorities: bench.apns.authorityPEM, retry: .none)
        )
        let token = try DeviceToken(hex: "5d3a")
        func reason() async -> APNsReason? {
            do throws(APNsError) {
                try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
                return nil
            } catch {
                return error.reason
            }
        }
        _ = try await bench.send("POST", "/api/v1/chaos/rules", #"{"do":"respond","reason":"Shutdown","count":1}"#)
        #expect(await reason() == .shutdown)
        #expect(await reason() == nil, "it has happened as often as it was to")
        _ = try await bench.send("POST", "/api/v1/chaos/rules", #"{"do":"delay","seconds":0,"count":1}"#)
        #expect(await reason() == nil)
        await client.close()
        await bench.apns.stop()
    }

    @Test func `exported pushes can be imported unchanged`() async throws {
        let bench = try await InboxBench(pushes: 2)
        let client = try PushClient(
            await bench.apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: .init(additionalAuthorities: bench.apns.authorityPEM, checksBeforeSending: false)
        )
        let payloads: [[UInt8]] = [Array(#"{ "aps" : {"badge":1e0} }"#.utf8), [0xFF, 0x00, 0x7B]]
        for payload in payloads {
            _ = try? await client.send(
                .opaque(payload, pushType: .alert),
                to: DeviceToken(hex: "5d3a"),
                topic: "com.example.app"
            )
        }
        await client.close()
        let lines = try await bench.get("/api/v1/export.jsonl").body
        #expect(lines.split(separator: "\n").count == 3)

        let other = try await InboxBench(pushes: 1)
        let scratch = try ScratchDirectory()
        let file = try scratch.write(Array(lines.utf8), to: "export.jsonl")
        #expect(try await other.send("POST", "/api/v1/import", "@" + file).body == #"{"imported":3,"cursor":4}"#)
        let pushes = await other.apns.pushes
        #expect(pushes.map(\.number) == [2, 3, 4])
        #expect(pushes.dropFirst().map(\.payload) == payloads)
        let originals = await bench.apns.pushes
        for (push, original) in zip(pushes, originals) {
            #expect(push.time == original.time && push.headers == original.headers && push.id == original.id)
            #expect(push.status == original.status && push.reason == original.reason)
            #expect(push.deliveries == original.deliveries && push.findings == original.findings)
        }
        let broken = try await other.send("POST", "/api/v1/import", "{\"number\":1}")
        let missing = "line 1: time is missing: it must be an integer from 0 to 253402300799"
        #expect(broken.status == "400" && broken.body.contains(missing))
        let old = #"{"time":1,"connection":1,"device-token":"5d","status":200,"apns-id":"","payload":{}}"#
        #expect(try await other.send("POST", "/api/v1/import", old).body == #"{"imported":1,"cursor":5}"#)
        #expect(await other.apns.pushes.last?.time == 1_000, "what was taken in just now is not too old")
        await bench.apns.stop()
        await other.apns.stop()
    }

    @Test func `events are streamed, with those that were missed`() async throws {
        let bench = try await InboxBench(pushes: 2)
        let client = try RawClient(port: try #require(await bench.apns.inboxPort))
        client.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 1\r\n\r\n")
        // The stream begins with a comment.
        let missed = await client.read(until: "}\n\n\r\n")
        #expect(missed.contains("text/event-stream") && missed.contains("event: push\nid: 2\ndata: {\"number\":2,"))
        await bench.apns.setFaults([])
        #expect(await client.read(until: "event: chaos\ndata: {}\n\n").contains("chaos"))
        try await bench.push(1)
        #expect(await client.read(until: "event: push\nid: 3\n").contains("id: 3"))
        await bench.apns.forgetPushes(matching: try PushQuery("number:3"))
        #expect(await client.read(until: #"event: forgotten\#ndata: {"from":3,"through":3}"#).contains("forgotten"))
        await bench.apns.stop()
        _ = await client.read()
        #expect(await client.isClosedByPeer())
    }

    @Test func `a browser receives that the simulator is running`() {
        #expect(SimulatorEvent.keepAlive.bytes(matching: .everything) == Array("event: alive\ndata: {}\n\n".utf8))
    }

    @Test func `a HEAD request for events leaves the connection usable`() async throws {
        let bench = try await InboxBench()
        let client = try RawClient(port: try #require(await bench.apns.inboxPort))
        client.send("HEAD /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await client.read(until: "\r\n\r\n").contains("text/event-stream"))
        client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await client.read(until: "ok\n").hasPrefix("HTTP/1.1 200"))
        await bench.apns.stop()
    }

    @Test func `waiting clients are limited, and others are answered`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0, isEncrypted: false))
        var followers: [AsyncStream<SimulatorEvent>] = []
        for _ in 0..<500 { followers.append(await apns.inbox.events(after: nil)) }
        let port = try #require(await apns.inboxPort)
        let refused = try await ProgramRun.curl(["http://127.0.0.1:\(port)/api/v1/pushes/wait?timeout=1"])
        #expect(refused.text.contains("too many clients wait or read events"))
        #expect(try await ProgramRun.curl(["http://127.0.0.1:\(port)/readyz"]).text == "ok\n")
        _ = followers
        await apns.stop()
    }

    @Test func `a query selects events`() async throws {
        let bench = try await InboxBench()
        let client = try RawClient(port: try #require(await bench.apns.inboxPort))
        client.send("GET /api/v1/events?query=body:1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = await client.read(until: ":\n\n\r\n")
        try await bench.push(2)
        let event = await client.read(until: "push 1")
        #expect(event.contains("push 1") && !event.contains("push 0"))
        await bench.apns.stop()
    }

    @Test func `the sequence of a slow reader ends`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let slow = await apns.inbox.events(after: nil)
        let last = await apns.inbox.events(after: nil)
        await apns.inbox.reportChangedFaults(10_001)
        // Events are passed to one reader after the other.
        for await _ in last { break }
        var count = 0
        for await _ in slow { count += 1 }
        #expect(count == 10_000)
        await apns.stop()
    }

    @Test func `keys are registered by their public halves`() async throws {
        let bench = try await InboxBench()
        let known = try SigningKey.ephemeral(keyID: "KNOWNKEY01", teamID: "TEAM000001")
        let pem = try known.publicKeyPEM().split(separator: "\n").joined(separator: "\\n")
        let body = #"{"team-id":"TEAM000001","public-key":"\#(pem)\n"}"#
        #expect(try await bench.send("PUT", "/api/v1/keys/KNOWNKEY01", body).status == "204")
        #expect(
            try await bench.get("/api/v1/keys").body == #"{"keys":[{"key-id":"KNOWNKEY01","team-id":"TEAM000001"}]}"#
        )
        let client = try PushClient(
            await bench.apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: .init(additionalAuthorities: bench.apns.authorityPEM, retry: .none)
        )
        func send() async throws {
            try await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
        }
        #expect(await #expect(throws: APNsError.self) { try await send() }?.reason == .invalidProviderToken)
        #expect(try await bench.send("DELETE", "/api/v1/keys/KNOWNKEY01").status == "204")
        #expect(try await bench.send("DELETE", "/api/v1/keys/KNOWNKEY01").status == "404")
        try await send()
        for wrong in [#"{"team-id":"T"}"#, #"{"team-id":"T","public-key":"none"}"#] {
            #expect(try await bench.send("PUT", "/api/v1/keys/K", wrong).status == "400")
        }
        await client.close()
        await bench.apns.stop()
    }
}

extension PushInbox {
    /// Reports a number of events at once.
    fileprivate func reportChangedFaults(_ count: Int) {
        for _ in 0..<count { report(.faultsChanged) }
    }
}

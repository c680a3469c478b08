// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// Routes of the other pages: connections, channels, presets and client instructions.
@Suite(.timeLimit(.minutes(10))) struct InboxPagesAPITests {
    private func client(of bench: InboxBench, trusts: Bool = true) async throws -> PushClient {
        try PushClient(
            await bench.apns.endpoint,
            authentication: .token(.ephemeral(keyID: "KEY1234567", teamID: "TEAM123456")),
            configuration: .init(additionalAuthorities: trusts ? bench.apns.authorityPEM : nil, retry: .none)
        )
    }

    /// The first of the closed connections, once there are so many.
    private func closed(_ count: Int, of bench: InboxBench) async throws -> JSONValue {
        try await eventually("\(count) connections are closed") {
            await bench.apns.service.closedConnections.all.count >= count
        }
        return try #require(try await bench.json("GET", "/api/v1/connections")["closed"]?.elements?.first)
    }

    @Test func `a connection is reported with its client, its parameters and its answers`() async throws {
        let bench = try await InboxBench()
        let client = try await client(of: bench)
        for hex in ["5d3a6a1c", "5d3a0000dead"] {
            _ = try? await client.send(.alert("Hi"), to: DeviceToken(hex: hex), topic: "com.example.app")
        }
        let list = try await bench.json("GET", "/api/v1/connections")
        #expect(list["open-count"]?.integerValue == 1 && list["closed"] == [])
        let open = try #require(list["open"]?.elements?.first)
        #expect(open["id"]?.integerValue == 1 && open["closed"] == nil && open["handshake-failed"] == nil)
        #expect(open["peer"]?.stringValue?.contains(":") == true)
        #expect(open["tls"] == ["version": "TLSv1.3", "alpn": "h2"])
        #expect(open["provider-token"]?["key-id"]?.stringValue == "KEY1234567")
        #expect(open["provider-token"]?["team-id"]?.stringValue == "TEAM123456")
        #expect(open["provider-token"]?["issued-at"]?.integerValue != nil)
        #expect(open["answers"] == ["200": 1, "410": 1] && open["requests"]?.integerValue == 2)
        #expect(open["streams-most"]?.integerValue == 1 && open["streams-open"]?.integerValue == 0)
        await client.close()
        let left = try await closed(1, of: bench)
        #expect(left["id"]?.integerValue == 1 && left["requests"]?.integerValue == 2)
        #expect(left["handshake-failed"] == nil && left["failed"] == nil)
        #expect(left["closed"]?["reason"]?.stringValue?.contains("closed") == true)
        #expect(left["provider-token"]?["key-id"]?.stringValue == "KEY1234567")
        await bench.apns.stop()
    }

    @Test func `a failed handshake is reported with the reason`() async throws {
        let bench = try await InboxBench()
        let client = try await client(of: bench, trusts: false)
        await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a6a1c"), topic: "com.example.app")
        }
        let failed = try await closed(1, of: bench)
        #expect(failed["id"]?.integerValue == 1 && failed["port"]?.stringValue == "pushes")
        #expect(failed["handshake-failed"] == true && failed["failed"] == true)
        #expect(failed["tls"] == nil && failed["requests"]?.integerValue == 0)
        let reason = try #require(failed["closed"]?["reason"]?.stringValue)
        #expect(reason.contains("unknown ca"), "\(reason)")
        await client.close()
        await bench.apns.stop()
    }

    @Test func `a GOAWAY is reported with its code and debug data`() async throws {
        let bench = try await InboxBench()
        await bench.apns.setFaults([SimulatedAPNs.Fault(.goAway(code: 2, debugData: "tired"), count: 1)])
        try await bench.push(1)
        let left = try await closed(1, of: bench)
        #expect(left["goaway-sent"] == ["code": "INTERNAL_ERROR", "last-stream": 1, "debug-data": "tired"])
        await bench.apns.stop()
    }

    /// Five requests that arrive together: a GOAWAY after the first names the last of them, or none.
    @Test(arguments: [true, false]) func `a GOAWAY is reported with the last stream that was written`(
        includesRequest: Bool
    ) async throws {
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(
                inboxPort: 0,
                isEncrypted: false,
                streamsBeforeToken: 10,
                faults: [SimulatedAPNs.Fault(.goAway(includesRequest: includesRequest), count: 1)]
            )
        )
        let raw = try RawClient(port: await apns.port)
        raw.send(RawHTTP2.greeting + RawHTTP2.requests(5, from: 1))
        let bytes = await raw.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .goAway } }
        let frame = try #require(RawHTTP2.frames(in: bytes).last { $0.kind == .goAway })
        let lastStream = frame.payload.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        #expect(lastStream == (includesRequest ? 9 : 0))
        let port = try #require(await apns.inboxPort)
        let run = try await ProgramRun.curl(["http://127.0.0.1:\(port)/api/v1/connections"])
        let list = try JSONReader.read(Array(run.text.utf8))
        let connection = (list["open"]?.elements ?? []) + (list["closed"]?.elements ?? [])
        #expect(connection.first?["goaway-sent"]?["last-stream"]?.integerValue == Int64(lastStream), "\(run.text)")
        await apns.stop()
    }

    @Test func `the last hundred closed connections are stored`() async throws {
        let bench = try await InboxBench()
        try await bench.push(1)
        _ = try await closed(1, of: bench)
        var closed = await bench.apns.service.closedConnections
        let record = try #require(closed.all.first)
        for _ in 0..<150 { closed.add(record) }
        #expect(closed.all.count == 100 && closed.count == 151 && closed.failedCount == 0)
        let list = try await bench.json("GET", "/api/v1/connections")
        #expect(list["closed-count"] == 1 && list["failed-count"] == 0)
        await bench.apns.stop()
    }

    @Test func `a channel is created and deleted for clients, too`() async throws {
        let bench = try await InboxBench()
        let made = try await bench.send(
            "POST",
            "/api/v1/channels",
            #"{"app":"com.example.app","message-storage-policy":1}"#
        )
        #expect(made.status == "201")
        let id = try #require(try JSONReader.read(Array(made.body.utf8))["channel"]?.stringValue)
        let client = try await client(of: bench)
        #expect(try await client.channels(of: "com.example.app").storage(of: ChannelID(id)) == .mostRecent)
        _ = try await bench.send("PUT", "/api/v1/devices/5d3a6a1c", #"{"channels":["\#(id)"]}"#)
        let told = try #require(try await bench.json("GET", "/api/v1/channels")["channels"]?.elements?.first)
        #expect(told["subscriber-count"]?.integerValue == 1 && told["subscribers"] == ["5d3a6a1c"])
        let query = "app=com.example.app&channel=" + percentEncoded(id)
        #expect(try await bench.send("DELETE", "/api/v1/channels?" + query).status == "204")
        #expect(try await bench.send("DELETE", "/api/v1/channels?" + query).status == "404")
        #expect(try await bench.json("GET", "/api/v1/channels")["channels"] == [])
        #expect(try await bench.json("GET", "/api/v1/devices/5d3a6a1c")["channels"] == nil)
        for wrong in ["{}", #"{"app":""}"#, #"{"app":"com.example.app","message-storage-policy":2}"#] {
            #expect(try await bench.send("POST", "/api/v1/channels", wrong).status == "400")
        }
        await client.close()
        await bench.apns.stop()
    }

    private func percentEncoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func `devices are listed in one answer`() async throws {
        let bench = try await InboxBench()
        for token in ["5d3a6a1c", "aaaa0001"] {
            _ = try await bench.send("PUT", "/api/v1/devices/" + token, #"{"topics":["com.example.app"]}"#)
        }
        #expect(try await bench.json("GET", "/api/v1/devices")["devices"] == ["5d3a6a1c", "aaaa0001"])
        let list = try await bench.json("GET", "/api/v1/devices?details=true")
        #expect(list["total"]?.integerValue == 2)
        #expect(list["devices"]?.elements?.map { $0["token"]?.stringValue } == ["5d3a6a1c", "aaaa0001"])
        #expect(list["devices"]?.elements?.first?["topics"] == ["com.example.app"])
        await bench.apns.stop()
    }

    @Test func `tokens have the kind that pushes to them show`() async throws {
        let bench = try await InboxBench(pushes: 1, storedPushes: 10)
        let client = try await client(of: bench)
        let start =
            #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{},"#
            + #""alert":{"title":"Ride"}}}"#
        let update = #"{"aps":{"timestamp":2,"event":"update","content-state":{}}}"#
        for (token, payload) in [("aaaa0001", start), ("bbbb0002", update)] {
            try await client.send(
                .opaque(Array(payload.utf8), pushType: .liveActivity),
                to: DeviceToken(hex: token),
                topic: "com.example.app"
            )
        }
        _ = try await bench.send("PUT", "/api/v1/devices/cccc0003", #"{"topics":["com.example.app"]}"#)
        let devices = try await bench.json("GET", "/api/v1/devices?details=true")["devices"]?.elements ?? []
        let activity = try #require(devices.first { $0["token"] == "bbbb0002" }?["activity"])
        #expect(activity["pushes"] == 1 && activity["ignored"] == 0 && activity["removed-at"] == nil)
        let kinds = Dictionary(
            uniqueKeysWithValues: devices.map { ($0["token"]?.stringValue ?? "", $0["kind"]?.stringValue ?? "") }
        )
        #expect(kinds["aaaa0001"] == "push-to-start" && kinds["bbbb0002"] == "activity")
        #expect(kinds["cccc0003"] == "device" && kinds["5d3a6a1c"] == "device")
        #expect(kinds.values.sorted() == ["activity", "activity", "device", "device", "push-to-start"])
        await client.close()
        await bench.apns.stop()
    }

    @Test func `an unregistered device is listed with what it shows`() async throws {
        let bench = try await InboxBench(pushes: 2, storedPushes: 10)
        let headers = #"{"apns-topic":"com.example.app","apns-push-type":"alert"}"#
        let refused = #"{"device-token":"5d3a0000dead","headers":\#(headers),"payload":{"aps":{"alert":"A"}}}"#
        #expect(try await bench.json("POST", "/api/v1/pushes", refused)["status"] == 410)
        func devices() async throws -> [String: JSONValue] {
            let all = try await bench.json("GET", "/api/v1/devices?details=true")["devices"]?.elements ?? []
            return Dictionary(uniqueKeysWithValues: all.map { ($0["token"]?.stringValue ?? "", $0) })
        }
        let unregistered = try await devices()
        #expect(unregistered["5d3a6a1c"]?["shown"] == [1, 2] && unregistered["5d3a6a1c"]?["registered"] == false)
        #expect(unregistered["5d3a6a1c"]?["answers"] == nil)
        #expect(unregistered["5d3a0000dead"]?["answers"] == "Unregistered")
        #expect(unregistered["5d3a0000dead"]?["needs-connection"] == nil)
        _ = try await bench.send("PUT", "/api/v1/devices/5d3a6a1c", #"{"topics":["com.example.app"]}"#)
        try await bench.push(1)
        #expect(try await devices()["5d3a6a1c"]?["shown"] == [1, 2, 4])
        let other = #"{"device-token":"5d3a6a1c","payload":{"aps":{}},"headers":{"apns-topic":"com.example.other"}}"#
        #expect(try await bench.json("POST", "/api/v1/pushes", other)["reason"] == "DeviceTokenNotForTopic")
        #expect(try await devices()["5d3a6a1c"]?["apps"] == ["com.example.app"])
        await bench.apns.stop()
    }

    @Test func `a device has no answer of its own without token suffixes`() async throws {
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(isEncrypted: false, usesTokenSuffixes: false)
        )
        let token = "5d3a0000dead"
        await apns.register(try DeviceToken(hex: token), for: ["com.example.app"])
        let devices = await KnownDevices(apns)
        #expect(devices.json(of: token)["token"]?.stringValue == token && devices.json(of: token)["answers"] == nil)
        await apns.stop()
    }

    @Test func `the push that started an activity is among its pushes`() async throws {
        let bench = try await InboxBench(storedPushes: 10)
        let client = try await client(of: bench)
        let start =
            #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{},"#
            + #""alert":{"title":"Ride"}}}"#
        try await client.send(
            .opaque(Array(start.utf8), pushType: .liveActivity),
            to: DeviceToken(hex: "5d3a6a1c"),
            topic: "com.example.app.push-type.liveactivity"
        )
        let activities = try await bench.json("GET", "/api/v1/activities")["activities"]?.elements
        let token = try #require(activities?.first?["token"]?.stringValue)
        let unknown = try await bench.get("/api/v1/activities/abcd")
        #expect(unknown.status == "404" && unknown.body.contains("there is no Live Activity abcd"), "\(unknown)")
        let pushes = try await bench.json("GET", "/api/v1/activities/" + token)["pushes"]?.elements
        #expect(pushes?.map { $0["number"]?.integerValue } == [1])
        await client.close()
        await bench.apns.stop()
    }

    @Test func `an activity that has applied no push is listed`() async throws {
        let bench = try await InboxBench()
        for (token, event) in [("5d3a6a1c000410", "update"), ("5d3a6a1d000410", "start")] {
            let push =
                #"{"device-token":"\#(token)","headers":{"apns-push-type":"liveactivity","#
                + #""apns-topic":"com.example.app.push-type.liveactivity"},"#
                + #""payload":{"aps":{"event":"\#(event)","timestamp":1,"content-state":{}}}}"#
            _ = try await bench.send("POST", "/api/v1/pushes", push)
        }
        let activities = try await bench.json("GET", "/api/v1/activities")["activities"]?.elements
        // A push that starts an activity is for the token of a device.
        #expect(activities?.map { $0["token"]?.stringValue } == ["5d3a6a1c000410"])
        #expect(activities?.first?["refused"]?.integerValue == 1 && activities?.first?["activity"] == nil)
        await bench.apns.stop()
    }

    @Test func `presets are listed with their rules`() async throws {
        let bench = try await InboxBench()
        let presets = try await bench.json("GET", "/api/v1/chaos")["presets"]?.elements
        let slow = try #require(presets?.first { $0["name"]?.stringValue == "slow" })
        let rules = try #require(slow["rules"])
        #expect(String(decoding: rules.encoded(), as: UTF8.self) == #"[{"do":"delay","seconds":0.2,"jitter":1.8}]"#)
        await bench.apns.stop()
    }

    @Test func `the lines for clients are those of the terminal`() async throws {
        let bench = try await InboxBench()
        let info = try await bench.json("GET", "/api/v1/info")
        #expect(info["apns"]?.stringValue == "https://localhost:\(await bench.apns.port)")
        #expect(info["environment"]?.stringValue == "development" && info["channel-port"] == nil)
        #expect(try await bench.get("/api/v1/ca.pem") == ("200", bench.apns.authorityPEM))
        let text = await bench.apns.recipes.text
        let recipes = try #require(try await bench.json("GET", "/api/v1/recipes")["recipes"]?.elements)
        #expect(recipes.count > 5)
        for recipe in recipes {
            for member in recipe.members ?? [] {
                let lines = member.value.stringValue?.split(separator: "\n") ?? []
                #expect(!lines.isEmpty && lines.allSatisfy { text.contains($0) })
            }
        }
        await bench.apns.stop()
        let clear = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0, isEncrypted: false))
        let port = try #require(await clear.inboxPort)
        let answer = try await ProgramRun.curl([
            "--write-out", "%{http_code}", "http://127.0.0.1:\(port)/api/v1/ca.pem",
        ])
        #expect(answer.text.hasSuffix("404"))
        await clear.stop()
    }

    @Test func `the lines for clients name the address that is listened on`() async throws {
        for host in ["0.0.0.0", "127.0.0.1", "localhost", "127.0.0.2"] {
            let name = host == "127.0.0.2" ? host : "localhost"
            let apns = try await SimulatedAPNs.start(
                SimulatedAPNs.Configuration(host: host, channelPort: 0, inboxPort: 0)
            )
            let text = await apns.recipes.text
            #expect(text.contains("at https://\(name):\(await apns.port)\n"), "\(text)")
            #expect(text.contains("http://\(name):\(await apns.inboxPort ?? 0)/api/v1/pushes"))
            #expect(text.contains("localhost") == (name == "localhost"))
            #expect(text.contains("--name 127.0.0.2") == (host == "127.0.0.2"))
            #expect(!text.contains("as Apple has it"))
            await apns.stop()
        }
    }
}

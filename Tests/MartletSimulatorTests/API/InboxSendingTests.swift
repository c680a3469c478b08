// SPDX-License-Identifier: Apache-2.0

import Martlet
import Testing

@testable import MartletSimulator

/// Pushes that the page sends, and pushes that are sent on to real devices.
@Suite(.timeLimit(.minutes(10))) struct InboxSendingTests {
    private static let headers = #"{"apns-push-type":"alert","apns-topic":"com.example.app"}"#

    private static func body(to token: String = "5d3a6a1c", _ payload: String = #"{"aps":{"alert":"Hi"}}"#) -> String {
        let text = String(decoding: JSONValue.string(payload).encoded(), as: UTF8.self)
        return #"{"device-token":"\#(token)","headers":\#(headers),"payload-text":\#(text)}"#
    }

    @Test func `a push of the page is evaluated like others, and its payload is unchanged`() async throws {
        let bench = try await InboxBench()
        let payload = #"{ "aps" : {"alert":"Hi","badge":"3"}, "n" : 1.50, "n" : 12345678901234567890 }"#
        let push = try await bench.json("POST", "/api/v1/pushes", Self.body(payload))
        #expect(push["status"]?.integerValue == 200 && push["connection"]?.integerValue == 0)
        #expect(push["apns-id"]?.stringValue?.isEmpty == false)
        #expect(push["findings"]?.elements?.isEmpty == false)
        #expect(push["deliveries"]?.elements?.first?["kind"] == "delivered")
        #expect(try await bench.get("/api/v1/pushes/1/payload").body == payload)
        try await bench.push(1)
        #expect(try await bench.json("GET", "/api/v1/pushes?query=is:composed")["pushes"]?.elements?.count == 1)
        await bench.apns.stop()
    }

    @Test func `rules and faults that answer apply, faults of connections do not`() async throws {
        let bench = try await InboxBench()
        let other = try DeviceToken(hex: "5d3a6a1c")
        await bench.apns.register(other, for: ["com.example.other"])
        for (token, status, reason, fault) in [
            ("5d3a6a1c", 400, "DeviceTokenNotForTopic", nil), ("5d3a/6a", 404, "BadPath", nil),
            ("5d3", 400, "BadDeviceToken", nil), ("5d00dead", 410, "Unregistered", "00dead"),
        ] as [(String, Int, String, String?)] {
            let push = try await bench.json("POST", "/api/v1/pushes", Self.body(to: token))
            #expect(push["status"]?.integerValue == Int64(status) && push["reason"]?.stringValue == reason, "\(push)")
            #expect(push["fault"]?.stringValue == fault)
        }
        let unanswered = try await bench.json("POST", "/api/v1/pushes", Self.body(to: "5d00deaf"))
        #expect(unanswered["status"] == 200)
        let note = "the device token suffix 00deaf (hang) affects only pushes of clients over HTTP/2"
        #expect(unanswered["note"]?.stringValue == note)
        let device = try await bench.json("GET", "/api/v1/devices/5d00deaf")
        #expect(device["answers"] == "hang" && device["needs-connection"] == true)
        let noted = try await bench.json("POST", "/api/v1/pushes", Self.body(to: "5d3a6a1d"))["note"]
        #expect(noted?.stringValue == nil)
        let long = String(repeating: "x", count: 20_000)
        let tooLarge = try await bench.json("POST", "/api/v1/pushes", Self.body(long))
        #expect(tooLarge["status"] == 413)
        #expect(await bench.apns.pushes.last?.payload.count == 16_384)
        let sizes = tooLarge["findings"]?.elements?.compactMap { $0["message"]?.stringValue } ?? []
        #expect(sizes.count == 1 && sizes.first?.hasPrefix("the payload has 200") == true, "\(sizes)")
        await bench.apns.stop()
    }

    @Test func `a broadcast of the page goes to a channel`() async throws {
        let bench = try await InboxBench()
        let broadcast = #"{"app":"com.example.app","channel":"bm9uZQ==","payload":{"aps":{"event":"update"}}}"#
        let push = try await bench.json("POST", "/api/v1/pushes", broadcast)
        #expect(push["channel"] == "bm9uZQ==" && push["app"] == "com.example.app")
        #expect(push["status"]?.integerValue ?? 200 != 200)
        await bench.apns.stop()
    }

    @Test(arguments: [
        (#"{"payload":{}}"#, "device-token, or app"), (#"{"device-token":"5d","app":"a","payload":{}}"#, "or app"),
        (#"{"device-token":"5d"}"#, "payload is missing"), (#"{"to":"5d"}"#, "to is unknown"),
        (
            #"{"device-token":"5d","headers":{"authorization":"x"},"payload":{}}"#,
            "headers must be strings with these names"
        ),
        (
            #"{"device-token":"5d","headers":{"apns-priority":10},"payload":{}}"#,
            "headers must be strings with these names"
        ),
        (#"{"device-token":"5d","payload-base64":"%"}"#, "must be valid base64"),
    ])
    func `invalid pushes are refused and not stored`(body: String, detail: String) async throws {
        let bench = try await InboxBench()
        let answer = try await bench.send("POST", "/api/v1/pushes", body)
        #expect(answer.status == "400" && answer.body.contains(detail), "\(answer.body)")
        #expect(await bench.apns.pushCount == 0)
        await bench.apns.stop()
    }

    @Test func `the pushes of a query are listed and deleted in one request`() async throws {
        let bench = try await InboxBench(pushes: 6, storedPushes: 10)
        #expect(try await bench.get("/api/v1/pushes/numbers").body == #"{"numbers":[6,5,4,3,2,1]}"#)
        #expect(try await bench.get("/api/v1/pushes/numbers?query=body:3").body == #"{"numbers":[4]}"#)
        #expect(try await bench.send("DELETE", "/api/v1/pushes?query=number:1,3-5").body == #"{"forgotten":4}"#)
        #expect(try await bench.get("/api/v1/pushes/numbers?query=number:6-").body == #"{"numbers":[6]}"#)
        await bench.apns.stop()
    }

    @Test func `the pushes of a query are counted by the values of their fields`() async throws {
        let bench = try await InboxBench(pushes: 6, storedPushes: 10)
        _ = try await bench.send("PUT", "/api/v1/devices/5d3a6a1c", #"{"name":"Anna"}"#)
        let json = try await bench.json("GET", "/api/v1/pushes/facets?query=number:2-4")
        #expect(json["total"] == 3)
        let type: JSONValue = ["value": "alert", "count": 3]
        let verdict: JSONValue = ["value": "shown", "count": 3]
        let device: JSONValue = ["value": "5d3a6a1c", "name": "Anna", "count": 3]
        for (field, value) in [("type", type), ("verdict", verdict), ("device", device)] {
            let expected: JSONValue = ["total": 1, "values": [value]]
            #expect(json["fields"]?[field] == expected)
        }
        #expect(try await bench.json("GET", "/api/v1/pushes/facets")["total"] == 6)
        #expect(try await bench.get("/api/v1/pushes/facets?query=is:loud").status == "400")
        await bench.apns.stop()
    }

    @Test func `the times of a query are ahead of UTC by the offset of the request`() async throws {
        let bench = try await InboxBench()
        // Received at 2026-11-18T11:06:40Z.
        let push =
            #"{"number":1,"time":1795000000,"connection":1,"device-token":"5d","headers":{},"status":200,"#
            + #""apns-id":"","payload":{},"deliveries":[]}"#
        #expect(try await bench.send("POST", "/api/v1/import", push).status == "200")
        for (query, numbers) in [
            ("after:2026-11-18T11:06", "[1]"), ("after:2026-11-18T11:07", "[]"),
            ("after:2026-11-18T13:06&utc-offset=7200", "[1]"), ("after:2026-11-18T13:07&utc-offset=7200", "[]"),
            ("before:2026-11-18T03:07&utc-offset=-28800", "[1]"),
        ] {
            let answer = try await bench.get("/api/v1/pushes/numbers?query=" + query)
            #expect(answer.body == #"{"numbers":\#(numbers)}"#, "\(query)")
        }
        #expect(try await bench.get("/api/v1/pushes/numbers?utc-offset=CET").status == "400")
        await bench.apns.stop()
    }

    @Test func `payload-text is checked unchanged, and broadcasts by their rules`() async throws {
        let bench = try await InboxBench()
        let spaces = String(repeating: " ", count: 4_096)
        let long = try await bench.send("POST", "/api/v1/lint", Self.body("{\(spaces)}"))
        #expect(long.body.contains("payload-too-large"), "\(long.body)")
        let broadcast = #"{"app":"com.example.app","payload-text":"{}"}"#
        #expect(try await bench.send("POST", "/api/v1/lint", broadcast).body.contains("apns-channel-id"))
        await bench.apns.stop()
    }

    // MARK: Release

    @Test func `a release is refused unless it is allowed`() async throws {
        let bench = try await InboxBench(pushes: 1)
        let answer = try await bench.send("POST", "/api/v1/pushes/1/release")
        #expect(answer.status == "403" && answer.body.contains("--allow-release"))
        #expect(try await bench.json("GET", "/api/v1/info")["release"] == nil)
        await bench.apns.stop()
    }

    @Test func `a push is released unchanged to the allowed devices only`() async throws {
        let real = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(
            await real.endpoint,
            authentication: .token(.ephemeral()),
            configuration: PushClient.Configuration(retry: .none, checksBeforeSending: false)
        )
        let own = try DeviceToken(hex: "5D3A6A1C")
        let release = SimulatedAPNs.Release(with: client, destination: "there", environment: .production, to: [own])
        let bench = try await InboxBench(release: release)
        let info = try await bench.json("GET", "/api/v1/info")["release"]
        #expect(info == ["destination": "there", "environment": "production", "device-tokens": ["5d3a6a1c"]])

        let payload = #"{ "aps" : {"alert":"Hi"} , "n" : 1.50 }"#
        for body in [
            Self.body(payload), Self.body(to: "5d3a6a1d"), #"{"app":"a","channel":"b","payload":{}}"#,
            #"{"device-token":"5d3a6a1c","headers":{"apns-priority":"high","apns-topic":"a"},"payload":{}}"#,
        ] { _ = try await bench.send("POST", "/api/v1/pushes", body) }
        let answer = try await bench.json("POST", "/api/v1/pushes/1/release")
        let pushes = await real.pushes
        #expect(answer["status"] == 200 && answer["apns-id"]?.stringValue == pushes.first?.id)
        #expect(pushes.map { String(decoding: $0.payload, as: UTF8.self) } == [payload])
        #expect(pushes.first?.headers.topic == "com.example.app")
        #expect(await bench.apns.pushes[0].deliveries.last?.kind == .released)
        for (number, status) in [("2", "403"), ("3", "403"), ("4", "409"), ("9", "404")] {
            #expect(try await bench.send("POST", "/api/v1/pushes/\(number)/release").status == status, "\(number)")
        }
        #expect(await real.pushCount == 1)

        await real.unregister(own)
        let gone = try await bench.json("POST", "/api/v1/pushes/1/release")
        #expect(gone == ["status": 410, "reason": "Unregistered"])
        await real.stop()
        let failed = try await bench.send("POST", "/api/v1/pushes/1/release")
        #expect(failed.status == "502", "\(failed.body)")
        await client.close()
        await bench.apns.stop()
    }
}

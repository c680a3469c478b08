// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// Routes of the data for previews.
@Suite(.timeLimit(.minutes(10))) struct PreviewAPITests {
    @Test func `strings are put, listed, read and forgotten`() async throws {
        let bench = try await InboxBench()
        let path = "/api/v1/strings/com.example.app"
        #expect(try await bench.send("PUT", path + "/de", #""READY" = "Fertig, %@";"#).status == "204")
        #expect(try await bench.get(path + "/de").body == #"{"READY":"Fertig, %@"}"#)
        let list = #"{"strings":[{"app":"com.example.app","language":"de","keys":1}]}"#
        #expect(try await bench.get("/api/v1/strings").body == list)
        let wrong = try await bench.send("PUT", path + "/de", #""READY" "Fertig""#)
        #expect(wrong.body == #"{"status":400,"detail":"line 1: expected = after the key"}"#)
        #expect(try await bench.send("PUT", path + "/d", "").status == "400")
        let catalog = #"{"sourceLanguage":"en","strings":{"READY":{}}}"#
        #expect(try await bench.send("PUT", path, catalog).status == "204")
        #expect(try await bench.get(path + "/de").status == "404")
        #expect(try await bench.get(path + "/en").body == #"{"READY":"READY"}"#)
        #expect(try await bench.send("DELETE", path + "/en").status == "204")
        #expect(try await bench.send("DELETE", path).status == "404")
        #expect(try await bench.send("PUT", path, "[]").status == "400")
        await bench.apns.stop()
    }

    @Test func `templates are put, listed, read and forgotten`() async throws {
        let bench = try await InboxBench()
        let path = "/api/v1/templates/com.example.app.push-type.liveactivity/Ride"
        let template = #"{"lock":{"title":"{{driver.name}}"}}"#
        #expect(try await bench.send("PUT", path, template).status == "204")
        #expect(try await bench.get("/api/v1/templates/com.example.app/Ride").body == template)
        let list = #"{"templates":[{"topic":"com.example.app","attributes-type":"Ride","template":\#(template)}]}"#
        #expect(try await bench.get("/api/v1/templates").body == list)
        let wrong = try await bench.send("PUT", path, #"{"lock":{"title":"{{"}}"#)
        #expect(wrong.body == #"{"status":400,"detail":"lock.title: {{ is not closed by }}"}"#)
        #expect(try await bench.send("DELETE", path).status == "204")
        #expect(try await bench.get(path).status == "404")
        #expect(try await bench.send("DELETE", path).status == "404")
        await bench.apns.stop()
    }

    @Test func `surfaces are put with their projections, listed and forgotten`() async throws {
        let bench = try await InboxBench()
        let snapshot = SurfaceSnapshot.example(of: .widget)
        let path = "/api/v1/surfaces/com.example.app.push-type.widgets/widget"
        let put = try await bench.send("PUT", path, String(decoding: snapshot.json.encoded(), as: UTF8.self))
        let entry = String(decoding: try #require(snapshot.projections.first).value.encoded(), as: UTF8.self)
        #expect(put.body == #"{"topic":"com.example.app","kind":"widget","projections":{"entry":\#(entry)}}"#)
        #expect(try await bench.get("/api/v1/surfaces/com.example.app/widget").body == put.body)
        #expect(try await bench.get("/api/v1/surfaces").body == #"{"surfaces":[\#(put.body)]}"#)
        #expect(try await bench.send("PUT", path, entry).body == put.body)
        #expect(try await bench.send("PUT", "/api/v1/surfaces/com.example.app/tile", entry).status == "400")
        #expect(try await bench.send("PUT", "/api/v1/surfaces/com.example.app/control", entry).status == "400")
        #expect(try await bench.send("DELETE", path).status == "204")
        #expect(try await bench.get(path).status == "404")
        await bench.apns.stop()
    }

    @Test func `the context of a push has the surfaces and the thread of its app and device`() async throws {
        let bench = try await InboxBench(storedPushes: 20)
        try await bench.push(3)
        try await bench.push(1, to: "00c0ffee")
        let control = String(decoding: SurfaceSnapshot.example(of: .control).json.encoded(), as: UTF8.self)
        _ = try await bench.send("PUT", "/api/v1/surfaces/com.example.app/control", control)
        let context = try await bench.json("GET", "/api/v1/pushes/2/context")
        #expect(context["thread"]?.elements?.compactMap { $0["number"]?.integerValue } == [3, 1])
        #expect(context["surfaces"]?["control"]?["entry"]?["label"] == "Ring the bell")
        #expect(try await bench.json("GET", "/api/v1/pushes/4/context")["thread"] == nil)
        #expect(try await bench.get("/api/v1/pushes/9/context").status == "404")
        await bench.apns.stop()
    }

    @Test func `the context of a push has the errors of the app's strings in each language`() async throws {
        let bench = try await InboxBench()
        let push =
            #"{"device-token":"5d3a6a1c","payload":{"aps":{"alert":{"title-loc-key":"NEW","loc-key":"STOPS"}}},"#
            + #""headers":{"apns-topic":"com.example.app"}}"#
        #expect(try await bench.send("POST", "/api/v1/pushes", push).status == "200")
        #expect(try await bench.json("GET", "/api/v1/pushes/1/context")["strings"] == nil)
        for (language, table) in [("de", #""STOPS" = "%@ Halte";"#), ("en", #""NEW" = "New"; "STOPS" = "Stops";"#)] {
            let path = "/api/v1/strings/com.example.app/" + language
            #expect(try await bench.send("PUT", path, table).status == "204")
        }
        let strings = try await bench.json("GET", "/api/v1/pushes/1/context")["strings"]?.elements ?? []
        #expect(strings.map { $0["place"] } == ["/aps/alert/title-loc-key", "/aps/alert/loc-key"])
        let messages = ["NEW has no string in de", "STOPS in de needs 1 argument, and the push has 0"]
        #expect(strings.compactMap { $0["message"]?.stringValue } == messages)
        await bench.apns.stop()
    }

    @Test func `a thread has the newest push of each collapse identifier`() async throws {
        let bench = try await InboxBench(storedPushes: 20)
        for (number, collapseID) in [("1", "order"), ("2", "order"), ("3", "bill"), ("4", "bill")] {
            let push =
                #"{"device-token":"5d3a6a1c","payload":{"aps":{"alert":"\#(number)","thread-id":"t"}},"#
                + #""headers":{"apns-topic":"com.example.app","apns-collapse-id":"\#(collapseID)"}}"#
            #expect(try await bench.send("POST", "/api/v1/pushes", push).status == "200")
        }
        let thread = try await bench.json("GET", "/api/v1/pushes/4/context")["thread"]?.elements ?? []
        #expect(thread.compactMap { $0["number"]?.integerValue } == [2])
        await bench.apns.stop()
    }

    @Test func `the context of an update has the attributes of the start`() async throws {
        let bench = try await InboxBench(storedPushes: 20)
        let client = try PushClient(
            await bench.apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: bench.apns.clientConfiguration
        )
        let device: DeviceToken = try DeviceToken(hex: "5d3a6a1c")
        let now = bench.apns.service.clock.secondsSince1970()
        let start =
            #"{"aps":{"timestamp":\#(now),"event":"start","attributes-type":"Ride","attributes":{"line":7},"#
            + #""content-state":{"stop":"Zoo"},"alert":{"title":"Ride","body":"It begins"}}}"#
        let update = #"{"aps":{"timestamp":\#(now + 1),"event":"update","content-state":{"stop":"Park"}}}"#
        func send(_ text: String, to token: DeviceToken) async throws {
            try await client.send(
                .opaque(Array(text.utf8), pushType: .liveActivity),
                to: token,
                topic: Topic("com.example.app").qualified(for: .liveActivity)
            )
        }
        try await send(start, to: device)
        let activity = try #require(await bench.apns.device(device)?.startedActivities.first?.token)
        try await send(update, to: activity)
        let template = #"{"lock":{"title":"{{stop}}"}}"#
        _ = try await bench.send("PUT", "/api/v1/templates/com.example.app/Ride", template)
        let context = try await bench.json("GET", "/api/v1/pushes/2/context")
        #expect(context["attributes-type"] == "Ride")
        #expect(context["attributes"]?["line"] == 7)
        #expect(context["template"]?["lock"]?["title"] == "{{stop}}")
        await client.close()
        await bench.apns.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

/// Tests that values that a program stores, such as in a table of jobs, are the same when it loads them.
@Suite struct StorageTests {
    private struct Order: Codable {
        var id = "A-17/é"
        var total = 12.50
        var readyAt = Date(timeIntervalSince1970: 1_764_000_000)
    }

    /// Encodes and decodes with the coders of JSON and of property lists.
    private func reload<Value: Codable>(_ value: Value) throws -> [Value] {
        let json = try JSONDecoder().decode(Value.self, from: JSONEncoder().encode([value]).dropFirst().dropLast())
        let list = try PropertyListDecoder().decode([Value].self, from: PropertyListEncoder().encode([value]))
        return [json] + list
    }

    private static func notifications() throws -> [PushNotification] {
        let alert = PushNotification.Alert(
            title: "Order ready",
            subtitle: "Table 7",
            body: "“Ciao” \u{1F35D}\n",
            launchImage: "launch",
            titleLocalizationKey: "t",
            titleLocalizationArguments: ["1"],
            subtitleLocalizationKey: "s",
            subtitleLocalizationArguments: [],
            localizationKey: "b",
            localizationArguments: ["x", "y"]
        )
        let start = try LiveActivityStart(
            attributesType: "Delivery",
            attributes: ["z": 1, "a": [1, 2]],
            state: ["score": .number(#require(JSONNumber(0.1)))],
            alert: LiveActivityAlert(title: .localized(key: "k", arguments: ["1"]), body: "b", sound: "chime.aiff"),
            updateSource: .byChannel("YQ==")
        )
        let date = Date(timeIntervalSince1970: 1_764_000_000)
        return [
            .alert(alert, sound: .critical(name: "alarm.caf", volume: 0.5), badge: 3),
            try .alert(
                "Hi",
                sound: "chime.aiff",
                threadID: "t",
                category: "c",
                targetContentID: "w",
                interruptionLevel: .timeSensitive,
                relevanceScore: 0.25,
                filterCriteria: "f",
                mutableContent: true,
                custom: Order(),
                priority: .powerAware,
                expiration: .at(date),
                collapseID: "order-17",
                id: APNsID("6d3a9e70-3f2d-4b34-9d60-0d0d3a2b6a11")
            ),
            .alert(nil, sound: .default, badge: 0, expiration: .attemptOnce),
            try .background(custom: Order()),
            try .voip(PushNotification.CustomData(json: Array(#"{ "b" : 1.00, "a":"\u00e9" }"#.utf8))),
            try .liveActivity(start, timestamp: date),
            .opaque(Array(#"{"aps": {}, "x":1e2}"#.utf8), pushType: nil),
            .opaque([0xFF, 0x00], pushType: PushType(rawValue: "future"), priority: .powerFirst),
        ]
    }

    @Test func `a notification is sent with the same bytes after it was stored`() throws {
        for notification in try Self.notifications() {
            for loaded in try reload(notification) {
                #expect(loaded == notification)
                #expect(try loaded.payload.encoded() == notification.payload.encoded())
            }
        }
    }

    @Test func `aps is stored with Apple's keys, and a payload's own aps can be decoded`() throws {
        let payload = #"""
            {"alert":"Hi","sound":{"critical":1,"volume":0.5},"content-available":1,"thread-id":"t","other":[1]}
            """#
        let aps = try JSONDecoder().decode(APS.self, from: Data(payload.utf8))
        #expect(aps.alert == "Hi" && aps.sound == .critical(volume: 0.5))
        #expect(aps.contentAvailable && !aps.mutableContent && aps.threadID == "t")
        let encoded = try JSONReader.read(Array(JSONEncoder().encode(aps)))
        #expect(encoded["alert"] == ["body": "Hi"] && encoded["content-available"] == 1)
        #expect(encoded["mutable-content"] == nil && encoded["sound"]?["name"] == "default")
    }

    @Test func `starts, updates and ends of Live Activities are the same after they were stored`() throws {
        let date = Date(timeIntervalSince1970: 1_764_000_000.5)
        let dismissals: [LiveActivityUpdate.Dismissal] = [.default, .immediate, .after(.seconds(90)), .at(date)]
        var updates = dismissals.map { LiveActivityUpdate.end(dismissal: $0) }
        updates += try dismissals.map { try LiveActivityUpdate.end(["b": 1, "a": 2], dismissal: $0) }
        updates.append(try .update(Order(), alert: LiveActivityAlert(title: "a", body: "b"), staleDate: date))
        for update in updates {
            for loaded in try reload(update) {
                #expect(loaded == update)
                #expect(try loaded.payload(timestamp: date) == update.payload(timestamp: date))
            }
        }
        for source in [LiveActivityStart.UpdateSource.byApp, .byToken, .byChannel("YQ==")] {
            let start = try LiveActivityStart(
                attributesType: "Delivery",
                attributes: ["z": 1, "a": 2],
                state: ["n": 1],
                alert: LiveActivityAlert(title: "a", body: "b", sound: nil),
                updateSource: source,
                staleDate: date,
                relevanceScore: 50
            )
            for loaded in try reload(start) { #expect(loaded == start) }
        }
    }

    @Test(arguments: [
        #"{"payload":{"json":{}}}"#, #"{"payload":{}}"#, #"{"payload":{"aps":{},"custom":"{\"aps\":1}"}}"#,
        #"{"payload":{"aps":{},"custom":"[]"}}"#, #"{"payload":{"aps":{}},"collapseID":""}"#, "{}",
    ])
    func `JSON that is not a notification is not decoded`(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PushNotification.self, from: Data(json.utf8))
        }
    }

    @Test func `a collapse identifier from a literal is checked before it is sent`() {
        let long: CollapseID = "0123456789012345678901234567890123456789012345678901234567890123456789"
        let finding = PushLint.firstError(
            in: .alert("Hi", collapseID: long),
            topic: "com.example.app",
            payloadByteCount: 20
        )
        #expect(finding?.rule == "collapse-id-too-long")
        #expect(
            PushLint.firstError(in: .alert("Hi", collapseID: "a"), topic: "com.example", payloadByteCount: 9) == nil
        )
    }

    @Test func `an expiration counts from a date`() {
        let date = Date(timeIntervalSince1970: 1_764_000_000)
        #expect(PushNotification.Expiration.after(.seconds(90), from: date).date == date + 90)
        let soon = PushNotification.Expiration.after(.seconds(3_600)).date?.timeIntervalSinceNow ?? 0
        #expect((3_500...3_600).contains(soon))
        #expect(PushNotification.Expiration.after(.seconds(Int64.max), from: date).date != nil)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@Suite struct PayloadTests {
    private func text(_ payload: PushNotification.Payload) throws -> String {
        String(decoding: try payload.encoded(), as: UTF8.self)
    }

    @Test func `an aps without values is an empty dictionary`() throws {
        #expect(try text(PushNotification.Payload(APS())) == #"{"aps":{}}"#)
    }

    @Test func `every key of aps is written under Apple's name`() throws {
        let aps = APS(
            alert: PushNotification.Alert(title: "T", subtitle: "S", body: "B", launchImage: "L"),
            badge: 3,
            sound: .named("ping.caf"),
            threadID: "thread",
            category: "CATEGORY",
            contentAvailable: true,
            mutableContent: true,
            targetContentID: "window",
            interruptionLevel: .timeSensitive,
            relevanceScore: 0.5,
            filterCriteria: "focus"
        )
        let expected =
            #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B","launch-image":"L"},"badge":3,"#
            + #""sound":"ping.caf","thread-id":"thread","category":"CATEGORY","content-available":1,"#
            + #""mutable-content":1,"target-content-id":"window","interruption-level":"time-sensitive","#
            + #""relevance-score":0.5,"filter-criteria":"focus"}}"#
        #expect(try text(PushNotification.Payload(aps)) == expected)
    }

    @Test func `every localisation key is written under Apple's name`() throws {
        let alert = PushNotification.Alert(
            titleLocalizationKey: "TK",
            titleLocalizationArguments: ["1", "2"],
            subtitleLocalizationKey: "SK",
            subtitleLocalizationArguments: [],
            localizationKey: "K",
            localizationArguments: ["\"x\""]
        )
        let expected =
            #"{"aps":{"alert":{"title-loc-key":"TK","title-loc-args":["1","2"],"subtitle-loc-key":"SK","#
            + #""subtitle-loc-args":[],"loc-key":"K","loc-args":["\"x\""]}}}"#
        #expect(try text(PushNotification.Payload(APS(alert: alert))) == expected)
    }

    @Test(arguments: [
        (PushNotification.Sound.default, #""default""#), (.named("a.caf"), #""a.caf""#),
        (.critical(name: "siren.caf", volume: 0.25), #"{"critical":1,"name":"siren.caf","volume":0.25}"#),
        (.critical(), #"{"critical":1,"name":"default","volume":1}"#),
    ])
    func `a sound is a name or a dictionary`(sound: PushNotification.Sound, json: String) throws {
        #expect(try text(PushNotification.Payload(APS(sound: sound))) == #"{"aps":{"sound":\#(json)}}"#)
    }

    @Test(arguments: [
        ("plain", #""plain""#), ("\"\\", #""\"\\""#), ("a\nb\tc\r", #""a\nb\tc\r""#), ("\u{1}", #""\u0001""#),
        ("/é🛎️", #""/é🛎️""#), ("", #""""#), (#"before "and" after"#, #""before \"and\" after""#),
    ])
    func `text is escaped where JSON demands it, and only there`(body: String, json: String) throws {
        let encoded = try text(PushNotification.Payload(APS(alert: PushNotification.Alert(body: body))))
        #expect(encoded == #"{"aps":{"alert":{"body":\#(json)}}}"#)
        let parsed = try JSONSerialization.jsonObject(with: Data(encoded.utf8)) as? [String: [String: [String: String]]]
        #expect(parsed?["aps"]?["alert"]?["body"] == body)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func `a number that JSON cannot represent is an error`(
        score: Double
    ) {
        #expect(throws: PayloadError.notFinite(key: "relevance-score")) {
            try PushNotification.Payload(APS(relevanceScore: score)).encoded()
        }
    }

    @Test func `a badge of 0 is written`() throws {
        #expect(try text(PushNotification.Payload(APS(badge: 0))) == #"{"aps":{"badge":0}}"#)
    }

    @Test func `opaque bytes stay unchanged`() throws {
        let bytes: [UInt8] = [0xFF, 0x00, 0x7B]
        #expect(try PushNotification.Payload(opaque: bytes).encoded() == bytes)
    }
}

@Suite struct CustomDataTests {
    private struct Order: Encodable {
        var id = 42
        var placed = Date(timeIntervalSinceReferenceDate: 100)
        var seal = Data([1, 2, 3])
    }

    private func text(_ custom: PushNotification.CustomData) throws -> String {
        String(decoding: try PushNotification.Payload(APS(badge: 1), custom: custom).encoded(), as: UTF8.self)
    }

    @Test func `members of any encodable value stand beside aps`() throws {
        #expect(try text(PushNotification.CustomData(["b": 2, "a": 1])) == #"{"aps":{"badge":1},"a":1,"b":2}"#)
    }

    @Test(arguments: [
        (PushNotification.CustomData.DateFormat.iso8601, #""2001-01-01T00:01:40Z""#), (.secondsSince1970, "978307300"),
        (.secondsSince2001, "100"),
    ])
    func `dates have the form that is asked for`(format: PushNotification.CustomData.DateFormat, date: String) throws {
        let expected = #"{"aps":{"badge":1},"id":42,"placed":\#(date),"seal":"AQID"}"#
        #expect(try text(PushNotification.CustomData(Order(), dates: format)) == expected)
    }

    @Test func `dates are ISO 8601 by default`() throws {
        #expect(
            try text(PushNotification.CustomData(Order()))
                == text(PushNotification.CustomData(Order(), dates: .iso8601))
        )
    }

    @Test func `custom JSON is written with its bytes and white space`() throws {
        let json = #" { "n" : 1.50 , "t":"é" } "#
        #expect(
            try text(PushNotification.CustomData(json: Array(json.utf8)))
                == #"{"aps":{"badge":1}, "n" : 1.50 , "t":"é" }"#
        )
    }

    @Test(arguments: ["{}", " { } "]) func `custom data without members adds nothing`(json: String) throws {
        #expect(try text(PushNotification.CustomData(json: Array(json.utf8))) == #"{"aps":{"badge":1}}"#)
    }

    @Test(arguments: [
        ("[1]", PayloadError.notAnObject), ("\"x\"", .notAnObject), (#"{"aps":{}}"#, .reservedKey),
        (#"{"a":1,"\u0061ps":{}}"#, .reservedKey),
    ])
    func `JSON that cannot be placed beside aps is refused`(json: String, error: PayloadError) {
        #expect(throws: error) { try PushNotification.CustomData(json: Array(json.utf8)) }
    }

    @Test func `a value that is no object, or has the key aps, is refused`() {
        #expect(throws: PayloadError.notAnObject) { try PushNotification.CustomData([1, 2]) }
        #expect(throws: PayloadError.reservedKey) { try PushNotification.CustomData(["aps": 1]) }
    }

    @Test func `the error for invalid JSON has the position`() throws {
        let error = #expect(throws: PayloadError.self) {
            try PushNotification.CustomData(json: Array("{\"a\":1,\n x}".utf8))
        }
        #expect(error?.description.contains("line 2, column 2") == true)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -62_167_219_201, 253_402_300_800, 1e300])
    func `a date that ISO 8601 cannot write is an error that names it`(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        let error = #expect(throws: PayloadError.self) {
            try PushNotification.CustomData(["orders": ["readyAt": date]])
        }
        #expect(error?.description.contains("must be in the years 0 to 9999") == true)
        #expect(error?.description.contains("\(seconds)") == true)
        #expect(error?.description.contains("orders.readyAt") == true)
    }

    @Test func `the last date of ISO 8601 is written`() throws {
        let custom = try PushNotification.CustomData(["at": Date(timeIntervalSince1970: 253_402_300_799)])
        #expect(try text(custom).contains(#""at":"9999-12-31T23:59:59Z""#))
    }
}

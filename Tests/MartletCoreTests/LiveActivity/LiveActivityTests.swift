// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@Suite struct LiveActivityTests {
    private struct RideAttributes: LiveActivityAttributes {
        struct ContentState: Codable, Equatable {
            var arrival: Date
            var photo: Data
        }
        var rideID: String
    }

    private static let state = RideAttributes.ContentState(
        arrival: Date(timeIntervalSince1970: 1_800_000_000),
        photo: Data([1, 2, 3])
    )

    private func text(_ payload: PushNotification.Payload) throws -> String {
        String(decoding: try payload.encoded(), as: UTF8.self)
    }

    @Test func `a start has all required members`() throws {
        let start = try LiveActivityStart(
            RideAttributes(rideID: "r7"),
            state: Self.state,
            alert: LiveActivityAlert(title: "Your ride", body: .localized(key: "ARRIVES_%@", arguments: ["6 PM"])),
            updateSource: .byToken,
            staleDate: Date(timeIntervalSince1970: 1_800_000_600.9),
            relevanceScore: 75
        )
        #expect(
            try text(start.payload(timestamp: Date(timeIntervalSince1970: 1_799_999_000)))
                == #"{"aps":{"timestamp":1799999000,"event":"start","#
                + #""content-state":{"arrival":821692800,"photo":"AQID"},"attributes-type":"RideAttributes","#
                + #""attributes":{"rideID":"r7"},"#
                + #""alert":{"title":"Your ride","body":{"loc-key":"ARRIVES_%@","loc-args":["6 PM"]},"#
                + #""sound":"default"},"#
                + #""input-push-token":1,"stale-date":1800000600,"relevance-score":75}}"#
        )
    }

    @Test func `a channel takes the place of a token`() throws {
        let start = try LiveActivityStart(
            RideAttributes(rideID: "r7"),
            state: Self.state,
            alert: LiveActivityAlert(title: "a", body: "b", sound: nil),
            updateSource: .byChannel("dHN0LXNyY2gtY2hubA==")
        )
        let text = try text(start.payload(timestamp: Date(timeIntervalSince1970: 1)))
        #expect(text.contains(#""input-push-channel":"dHN0LXNyY2gtY2hubA==""#) && !text.contains("input-push-token"))
    }

    @Test func `JSONDecoder decodes the written content state`() throws {
        struct Push: Decodable {
            struct APS: Decodable {
                var contentState: RideAttributes.ContentState
                enum CodingKeys: String, CodingKey { case contentState = "content-state" }
            }
            var aps: APS
        }
        let bytes = try LiveActivityUpdate.update(Self.state).payload(timestamp: Date(timeIntervalSince1970: 5))
            .encoded()
        #expect(try JSONDecoder().decode(Push.self, from: Data(bytes)).aps.contentState == Self.state)
    }

    @Test(arguments: [
        (LiveActivityUpdate.Dismissal.default, ""), (.immediate, #","dismissal-date":1"#),
        (.after(.seconds(90)), #","dismissal-date":1090"#),
        (.after(.seconds(-5)), #","dismissal-date":1000"#),
        (.at(Date(timeIntervalSince1970: 4_000)), #","dismissal-date":4000"#),
    ])
    func `an end has its dismissal date`(dismissal: LiveActivityUpdate.Dismissal, member: String) throws {
        let end = LiveActivityUpdate.end(dismissal: dismissal)
        #expect(
            try text(end.payload(timestamp: Date(timeIntervalSince1970: 1_000)))
                == #"{"aps":{"timestamp":1000,"event":"end"\#(member)}}"#
        )
    }

    @Test func `an alert may come with an update, and with an end`() throws {
        let alert = LiveActivityAlert(title: "Arrived", body: "Look for the blue car", sound: .named("honk.caf"))
        let update = try LiveActivityUpdate.update(["a": 1], alert: alert, staleDate: .distantFuture)
        #expect(
            try text(update.payload(timestamp: Date(timeIntervalSince1970: 1)))
                == #"{"aps":{"timestamp":1,"event":"update","content-state":{"a":1},"#
                + #""alert":{"title":"Arrived","body":"Look for the blue car","sound":"honk.caf"},"#
                + #""stale-date":64092211200}}"#
        )
        let end = try LiveActivityUpdate.end(["a": 2], alert: alert)
        #expect(
            try text(end.payload(timestamp: Date(timeIntervalSince1970: 1))).contains(
                #""content-state":{"a":2},"alert":{"title":"Arrived""#
            )
        )
    }

    @Test func `an end may have a stale date and a relevance score`() throws {
        let end = try LiveActivityUpdate.end(
            ["a": 2],
            dismissal: .at(Date(timeIntervalSince1970: 9)),
            staleDate: Date(timeIntervalSince1970: 5),
            relevanceScore: 0.5
        )
        #expect(
            try text(end.payload(timestamp: Date(timeIntervalSince1970: 1)))
                == #"{"aps":{"timestamp":1,"event":"end","content-state":{"a":2},"#
                + #""stale-date":5,"dismissal-date":9,"relevance-score":0.5}}"#
        )
    }

    @Test func `content that cannot be encoded as an object is refused`() {
        #expect(throws: PayloadError.notEncodable("content-state must encode to a JSON object")) {
            try LiveActivityUpdate.update([1, 2])
        }
        #expect(throws: PayloadError.self) { try LiveActivityUpdate.update(["a": Double.nan]) }
        #expect(throws: PayloadError.notFinite(key: "relevance-score")) {
            try LiveActivityUpdate.update(["a": 1], relevanceScore: .infinity).payload(
                timestamp: Date(timeIntervalSince1970: 1)
            )
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -0.5, -1e300, 1e300, 9_007_199_254_740_992])
    func `a date that JSON or the protocol cannot represent is an error that names it`(seconds: Double) throws {
        let (date, now) = (Date(timeIntervalSince1970: seconds), Date(timeIntervalSince1970: 1))
        let alert = LiveActivityAlert(title: "a", body: "b")
        func start(_ staleDate: Date? = nil) throws -> LiveActivityStart {
            try LiveActivityStart(
                attributesType: "A",
                attributes: [:],
                state: [:],
                alert: alert,
                staleDate: staleDate
            )
        }
        let attempts: [(String, () throws -> PushNotification.Payload)] = [
            ("timestamp", { try start().payload(timestamp: date) }),
            ("timestamp", { try LiveActivityUpdate.end().payload(timestamp: date) }),
            ("stale-date", { try start(date).payload(timestamp: now) }),
            ("stale-date", { try LiveActivityUpdate.update(["a": 1], staleDate: date).payload(timestamp: now) }),
            ("dismissal-date", { try LiveActivityUpdate.end(dismissal: .at(date)).payload(timestamp: now) }),
        ]
        for (key, attempt) in attempts {
            let error = #expect(throws: PayloadError.self) { try attempt() }
            let rule = "\(key) must be from 0 to 9007199254740991 seconds after 1970 (found \(seconds))"
            #expect(error?.description == rule)
        }
    }

    @Test func `the first and the last date that JSON can represent are sent`() throws {
        for seconds in [0, 9_007_199_254_740_991] as [Double] {
            let date = Date(timeIntervalSince1970: seconds)
            let payload = try LiveActivityUpdate.update(["a": 1], staleDate: date).payload(timestamp: date)
            #expect(try text(payload).contains(#""timestamp":\#(Int(seconds)),"#))
            #expect(try text(payload).contains(#""stale-date":\#(Int(seconds))}"#))
        }
    }

    @Test func `a dismissal after the last date is an error that names it`() {
        let error = #expect(throws: PayloadError.self) {
            try LiveActivityUpdate.end(dismissal: .after(.seconds(Int64.max))).payload(
                timestamp: Date(timeIntervalSince1970: 1_000)
            )
        }
        #expect(error?.description.hasPrefix("dismissal-date must be from 0 to 9007199254740991") == true)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import Synchronization
import TestSupport
import Testing

@testable import MartletRelay

/// Answers of `listen` that are those of the simulator, and the log lines about rejected callers.
@Suite(.timeLimit(.minutes(10))) struct ListenConformanceTests {
    private static let payload = #"{"aps":{"alert":"Hi"}}"#
    private static let device = "/3/device/5d3a6a1c8f9a42d6"
    private static let channels = "/1/apps/com.example.orders/channels"
    private static let broadcast = "/4/broadcasts/apps/com.example.orders"
    private static let key = ("authorization", "bearer \(RelayBench.callerKey)")

    private func fields(_ all: [(String, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in all { fields.append(name, value) }
        return fields
    }

    private func reason(_ answer: HTTP2Asker.Answer) -> String? {
        (try? JSONReader.read(Array(answer.body.utf8)))?["reason"]?.stringValue
    }

    @Test func `refusals have the statuses and the reasons of the simulator`() async throws {
        let bench = try await RelayBench()
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        let push = [("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-priority", "10")]
        let channel = ("apns-channel-id", "a")
        let suffixed = "/1/apps/com.example.orders.push-type.liveactivity/channels"
        let cases: [(String, String, [(String, String)], Int, String)] = [
            ("POST", Self.device, [("authorization", "")], 403, "MissingProviderToken"),
            ("POST", Self.device, [("authorization", "bearer")], 403, "MissingProviderToken"),
            ("POST", Self.device, [("authorization", "BEARER")], 403, "MissingProviderToken"),
            ("POST", Self.device, [Self.key, ("apns-topic", "a"), ("apns-topic", "a")], 400, "DuplicateHeaders"),
            ("POST", Self.channels, [Self.key, ("apns-request-id", "x")], 400, "BadMessageId"),
            ("POST", suffixed, [Self.key], 403, "TopicDisallowed"),
            ("GET", Self.channels, [Self.key, channel, channel], 400, "BadChannelId"),
            ("PUT", Self.channels, [Self.key], 404, "BadPath"), ("GET", Self.broadcast, [Self.key], 404, "BadPath"),
            ("POST", Self.broadcast, [Self.key, ("apns-priority", "5")] + push, 400, "BadPriority"),
            ("POST", Self.broadcast, [Self.key, ("apns-expiration", "0")] + push, 400, "BadExpirationDate"),
        ]
        for (method, path, more, status, text) in cases {
            let answer = try await asker.answer(method, path, fields(more), body: Self.payload)
            let found = reason(answer)
            let expected = APNsReason(rawValue: text).status ?? status
            #expect(answer.status == expected && found == text, "\(method) \(path): \(more): \(answer)")
        }
        #expect(await bench.apple.pushCount == 0)
        await asker.close()
        await bench.stop()
    }

    @Test func `the apns-id of a broadcast is ignored`() async throws {
        let bench = try await RelayBench()
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        let body = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
        let made = try await asker.answer("POST", Self.channels, fields([Self.key]), body: body)
        let channel = try #require(made.fields["apns-channel-id"])
        let broadcast = [
            Self.key, ("apns-channel-id", channel), ("apns-push-type", "liveactivity"), ("apns-expiration", "0"),
            ("apns-priority", "10"), ("apns-id", "no UUID"),
        ]
        let update = #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{}}}"#
        let answer = try await asker.answer("POST", Self.broadcast, fields(broadcast), body: update)
        #expect(answer.status == 200 && answer.fields["x-martlet-state"] == "delivered", "\(answer)")
        #expect((try? APNsID(answer.fields["apns-request-id"] ?? "")) != nil)
        await asker.close()
        await bench.stop()
    }

    @Test func `a rejected caller is logged with the cause, and each cause has its own limit`() async throws {
        let lines = LogLines()
        let clock = TestClock()
        let own = try ES256PrivateKey()
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger(.warning)) {
            guard let pem = try? own.pem() else { return }
            guard let key = try? SigningKey(pem: pem, keyID: "KEY0000001", teamID: "TEAM000001") else { return }
            $0.apps[0].key = key
        }
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        func token(_ keyID: String, _ teamID: String, _ key: ES256PrivateKey, age: Int64 = 0) throws -> String {
            try ProviderTokenForm().authorization(at: clock.now - age, keyID: keyID, teamID: teamID, key: key)
        }
        let (keyID, team, stranger) = ("KEY0000001", "TEAM000001", try ES256PrivateKey())
        let long = "\u{202E}" + String(repeating: "K", count: 500)
        let cases: [(String, String)] = [
            ("bearer", "no credentials"), ("bearer mrt_wrong", "unknown API key"),
            ("bearer a.b.c", "malformed provider token"),
            (try token(long, team, own), "unknown key identifier"), (try token(keyID, "OTHER00001", own), "wrong team"),
            (try token(keyID, team, stranger), "wrong signature"), (try token(keyID, team, own, age: 7_200), "expired"),
            (try token(keyID, team, own, age: -7_200), "issued too far ahead"),
            ("bearer \(RelayBench.callerKey)", "topic of another app"),
        ]
        for _ in 0..<3 {
            for (authorization, _) in cases {
                let all = [("authorization", authorization), ("apns-topic", "com.example.rides")]
                let answer = try await asker.answer("POST", Self.device, fields(all), body: Self.payload)
                #expect(answer.status >= 400)
            }
        }
        let rejected = lines.objects.filter { $0["msg"] == "caller rejected" }
        #expect(rejected.map { $0["cause"]?.stringValue } == cases.map(\.1), "\(lines.all)")
        #expect(rejected[2]["error"] == "the header of the provider token is not base64url", "\(lines.all)")
        #expect(rejected[4]["key-id"] == "KEY0000001" && rejected[4]["team-id"] == "OTHER00001")
        #expect(rejected[6]["caller"] == "key KEY0000001" && rejected[8]["bundle-id"] == "com.example.rides")
        #expect(rejected[3]["key-id"]?.stringValue?.count ?? 0 < 80 && !lines.all.joined().contains("\u{202E}"))
        for secret in ["eyJ", "mrt_"] { #expect(!lines.all.joined().contains(secret)) }
        clock.advance(by: 45)
        try await eventually("the number of omitted lines is logged") {
            lines.objects.contains { $0["cause"] == "wrong team" && $0["not-logged"] == 2 }
        }
        await asker.close()
        await bench.stop()
    }

    @Test func `omitted lines are reported once, half a minute later`() {
        var throttle = LogThrottle()
        #expect([0, 1, 2].map { throttle.take(at: $0) } == [0, nil, nil])
        #expect([30_999, 31_000, 31_001, 99_000].map { throttle.takeOmitted(at: $0) } == [nil, 2, nil, nil])
    }

    @Test func `a waiting answer has the same time of the end as a later one`() async throws {
        // Each look at the clock is a millisecond later.
        let time = Mutex(WallClock.system.millisecondsSince1970())
        let clock = WallClock.milliseconds {
            time.withLock { time in
                time += 1
                return time
            }
        }
        let bench = try await RelayBench(clock: clock)
        let answer = await bench.push()
        let id = try #require(answer.json["id"]?.stringValue, "\(answer.text)")
        let later = await bench.ask("GET", "/v1/pushes/\(id)")
        #expect(answer.json["ended-at"] != nil && answer.json["ended-at"] == later.json["ended-at"])
        await bench.stop()
    }
}

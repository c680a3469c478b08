// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// Deliveries of broadcasts, and of pushes to started activities.
@Suite(.timeLimit(.minutes(10))) struct BroadcastDeliveryTests {
    private var registry = DeviceRegistry(environment: .development)
    private var random = SplitMix64(state: 7)

    private func update(_ number: Int, expiration: String, timestamp: Int) -> ReceivedPush {
        let payload = #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":{"score":\#(timestamp)}}}"#
        return ReceivedPush.sample(
            number,
            app: "com.example.app",
            channel: "c2NvcmVz",
            headers: PushHeaders(pushType: "LiveActivity", expiration: expiration),
            payload
        )
    }

    private mutating func broadcast(_ number: Int, expiration: String, timestamp: Int) -> [String] {
        let push = update(number, expiration: expiration, timestamp: timestamp)
        return words(registry.receive(push, at: 0, using: &random))
    }

    private func words(_ deliveries: DeviceRegistry.Deliveries) -> [String] {
        deliveries.map { "\($0.number) \($0.1.kind.rawValue) \($0.1.note ?? "")" }
    }

    @Test mutating func `all subscribers receive a broadcast, and offline ones receive a stored one later`() throws {
        let here = try DeviceToken(hex: "aaaa0001")
        let away = try DeviceToken(hex: "bbbb0002")
        #expect(broadcast(1, expiration: "0", timestamp: 1).isEmpty, "nobody listens")
        #expect(words(registry.subscribe(here, to: ["c2NvcmVz"], at: 0)).isEmpty, "nothing was stored")
        _ = registry.subscribe(away, to: ["c2NvcmVz", "b3RoZXI="], at: 0)
        _ = registry.setOnline(false, away, at: 0, using: &random)
        #expect(
            broadcast(2, expiration: "0", timestamp: 2)
                == ["2 delivered at aaaa0001…", "2 discarded-not-stored at bbbb0002…"]
        )
        #expect(
            broadcast(3, expiration: "100", timestamp: 3)
                == [
                    "2 replaced-on-device at aaaa0001…: by push 3", "3 delivered at aaaa0001…",
                    "3 stored-device-offline at bbbb0002…",
                ]
        )
        #expect(
            broadcast(4, expiration: "100", timestamp: 3).first
                == "4 ignored at aaaa0001…: its timestamp 3 is not after 3 of the content on screen"
        )
        #expect(
            words(registry.setOnline(true, away, at: 1, using: &random)) == ["4 delivered-from-storage at bbbb0002…"]
        )
        #expect(registry["bbbb0002"]?.activity?.timestamp == 3)

        let late = try DeviceToken(hex: "cccc0003")
        #expect(words(registry.subscribe(late, to: ["c2NvcmVz"], at: 1)) == ["4 delivered-from-storage at cccc0003…"])
        _ = broadcast(7, expiration: "-1", timestamp: 4)
        let afterExpired = try DeviceToken(hex: "eeee0005")
        #expect(
            words(registry.subscribe(afterExpired, to: ["c2NvcmVz"], at: 1))
                == ["4 delivered-from-storage at eeee0005…"],
            "an expired broadcast does not replace the stored one"
        )
        _ = registry.subscribe(afterExpired, to: [], at: 1)
        let tooLate = try DeviceToken(hex: "dddd0004")
        #expect(words(registry.subscribe(tooLate, to: ["c2NvcmVz"], at: 100_001)).isEmpty)

        _ = registry.subscribe(here, to: [], at: 1)
        let last = broadcast(5, expiration: "0", timestamp: 5).filter { $0.hasPrefix("5") }
        #expect(last.count == 3, "one listens no more")
        registry.removed("c2NvcmVz")
        #expect(broadcast(6, expiration: "0", timestamp: 6).isEmpty)
        #expect(registry["bbbb0002"]?.channels == ["b3RoZXI="])
    }

    @Test mutating func `each of 250 activities on a channel has its own result of a broadcast`() throws {
        let tokens = try (0..<250).map { try DeviceToken(hex: "abcd\(1000 + $0)") }
        let (away, gone) = (tokens[200], tokens[240])
        for token in tokens { _ = registry.subscribe(token, to: ["c2NvcmVz"], at: 0) }
        _ = registry.setOnline(false, away, at: 0, using: &random)
        var pushes: [Int: ReceivedPush] = [:]
        for number in 1...3 {
            if number == 3 { _ = registry.subscribe(gone, to: [], at: 0) }
            var push = update(number, expiration: "100", timestamp: number)
            for (other, event) in registry.receive(push, at: 0, using: &random) {
                if other == number { push.record(event) } else { pushes[other]?.record(event) }
            }
            pushes[number] = push
        }
        func verdict(on number: Int, at token: DeviceToken) -> PushVerdict? {
            pushes[number]?.verdict(atDevice: token.hex, after: registry.lastEvents(of: number, at: token.hex))
        }
        func kinds(at token: DeviceToken) -> [PushVerdict.Kind?] { (1...3).map { verdict(on: $0, at: token)?.kind } }
        for token in tokens where token != away && token != gone {
            #expect(kinds(at: token) == [.replaced, .replaced, .shown], "\(token.hex)")
        }
        #expect(kinds(at: away) == [.discarded, .discarded, .stored])
        #expect(kinds(at: gone) == [.replaced, .shown, nil])

        _ = registry.setOnline(true, away, at: 1, using: &random)
        #expect(kinds(at: away) == [.discarded, .discarded, .shown])
        #expect(verdict(on: 3, at: away)?.text == "Delivered when the device came online · Live Activity updates")
        _ = registry.subscribe(gone, to: ["c2NvcmVz"], at: 1)
        let late = "Delivered when the activity subscribed to the channel · Live Activity updates"
        #expect(verdict(on: 3, at: gone)?.text == late)
        #expect(verdict(on: 1, at: tokens[150])?.replacedBy == 2)
        registry.forgetPushes()
        #expect(registry.lastEvents(of: 3, at: away.hex).isEmpty)
    }

    @Test func `the page of the last of 250 activities has the verdict on a broadcast`() async throws {
        let bench = try await InboxBench()
        let made = try await bench.json(
            "POST",
            "/api/v1/channels",
            #"{"app":"com.example.app","message-storage-policy":0}"#
        )
        let channel = try #require(made["channel"]?.stringValue)
        for index in 0..<250 {
            await bench.apns.subscribe(try DeviceToken(hex: "abcd\(1000 + index)"), to: [ChannelID(channel)])
        }
        let payload = #"{"aps":{"timestamp":1,"event":"update","content-state":{"score":1}}}"#
        let headers = #"{"apns-push-type":"liveactivity","apns-expiration":"0","apns-priority":"5"}"#
        let push = try await bench.json(
            "POST",
            "/api/v1/pushes",
            #"{"app":"com.example.app","channel":"\#(channel)","headers":\#(headers),"payload":\#(payload)}"#
        )
        #expect(push["verdict"]?["text"]?.stringValue?.hasPrefix("Shown on 100 of the first 100") == true)
        let activity = try await bench.json("GET", "/api/v1/activities/abcd1249")
        #expect(activity["pushes"]?.elements?.map { $0["verdict"]?["kind"] } == ["shown"])
        await bench.apns.stop()
    }

    @Test func `an activity lists only accepted broadcasts since its start`() async throws {
        let bench = try await InboxBench(storedPushes: 10)
        let made = try await bench.json(
            "POST",
            "/api/v1/channels",
            #"{"app":"com.example.app","message-storage-policy":0}"#
        )
        let channel = try #require(made["channel"]?.stringValue)
        let payload = #"{"aps":{"timestamp":1,"event":"update","content-state":{"score":1}}}"#
        func broadcast(expiration: Int) async throws {
            let headers = #"{"apns-push-type":"liveactivity","apns-expiration":"\#(expiration)","apns-priority":"5"}"#
            _ = try await bench.send(
                "POST",
                "/api/v1/pushes",
                #"{"app":"com.example.app","channel":"\#(channel)","headers":\#(headers),"payload":\#(payload)}"#
            )
        }
        try await broadcast(expiration: 0)
        await bench.apns.subscribe(try DeviceToken(hex: "abcd1000"), to: [ChannelID(channel)])
        try await broadcast(expiration: 0)
        try await broadcast(expiration: 1)
        let pushes = try await bench.json("GET", "/api/v1/activities/abcd1000")["pushes"]?.elements
        #expect(pushes?.map { $0["number"]?.integerValue } == [2])
        let channels = try await bench.json("GET", "/api/v1/channels")["channels"]?.elements
        #expect(channels?.first?["last-broadcast"]?["number"] == 2)
        await bench.apns.stop()
    }

    @Test mutating func `a channel stores a broadcast for eight hours at most`() throws {
        _ = broadcast(1, expiration: "1000000", timestamp: 1)
        let (early, late) = (try DeviceToken(hex: "aaaa0001"), try DeviceToken(hex: "bbbb0002"))
        let limit: Int64 = 8 * 60 * 60 * 1_000
        let deliveries = words(registry.subscribe(early, to: ["c2NvcmVz"], at: limit))
        #expect(deliveries == ["1 delivered-from-storage at aaaa0001…"])
        #expect(words(registry.subscribe(late, to: ["c2NvcmVz"], at: limit + 1)).isEmpty)
    }

    @Test func `a started activity has its own token and subscribes to the channel of its start`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let channel = try await client.channels(of: "com.example.app").create(storing: .mostRecent)
        let phone = try DeviceToken(hex: "5d3a6a1c")
        func start(_ more: String) -> PushNotification {
            let payload =
                #"{"aps":{"timestamp":1,"event":"start","attributes-type":"Ride","attributes":{},"#
                + #""content-state":{"eta":9},"alert":{"title":"Ride"}\#(more)}}"#
            return .opaque(Array(payload.utf8), pushType: .liveActivity)
        }
        try await client.send(start(""), to: phone, topic: "com.example.app")
        try await client.send(start(#","input-push-channel":"\#(channel)""#), to: phone, topic: "com.example.app")
        let started = try #require(await apns.device(phone)?.startedActivities)
        #expect(started.map(\.attributesType) == ["Ride", "Ride"] && started.map(\.startedBy) == [1, 2])
        let first = try #require(await apns.device(started[0].id))
        #expect(first.activity?.timestamp == 1 && first.channels.isEmpty)
        #expect(first.topics == ["com.example.app.push-type.liveactivity"])
        #expect(await apns.device(started[1].id)?.channels == [channel])

        // Broadcasts update it, and there is no token for updates.
        #expect(started[1].token == nil)
        let id = started[1].id
        let refused = await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: id, topic: "com.example.app")
        }
        #expect(refused?.reason == .badDeviceToken)

        let state = #"{"aps":{"timestamp":2,"event":"update","content-state":{"eta":4}}}"#
        await apns.setOnline(false, phone)
        try await client.send(start(""), to: phone, topic: "com.example.app")
        #expect(await apns.device(phone)?.startedActivities.count == 2, "it has not heard of it yet")
        await apns.setOnline(true, phone)
        #expect(await apns.device(phone)?.startedActivities.count == 3)

        let update = PushNotification.opaque(Array(state.utf8), pushType: .liveActivity)
        let token = try #require(started[0].token)
        try await client.send(update, to: token, topic: "com.example.app")
        #expect(await apns.device(token)?.activity?.contentState == Array(#"{"eta":4}"#.utf8))
        await client.close()
        await apns.stop()
    }
}

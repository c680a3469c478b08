// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletServer
import MartletTransport
import Testing

@testable import MartletSimulator

/// Deliveries of accepted pushes.
@Suite(.timeLimit(.minutes(10))) struct SimulatedDeviceTests {
    private var device = SimulatedDevice(environment: .development)

    private func push(
        _ number: Int,
        at time: Int64 = 0,
        topic: String = "app",
        expiration: String? = nil,
        collapseID: String? = nil,
        type: String = "alert",
        _ payload: String = #"{"aps":{"alert":"Hi"}}"#
    ) -> DeliveredPush {
        DeliveredPush(
            .sample(
                number,
                at: time,
                headers: PushHeaders(pushType: type, expiration: expiration, topic: topic, collapseID: collapseID),
                payload
            )
        )
    }

    private func words(_ events: [(number: Int, DeliveryEvent)]) -> [String] {
        events.map { "\($0.number) \($0.1.kind.rawValue)" }
    }

    private mutating func comesOnline(at now: Int64) -> [String] {
        let expired = device.removeExpired(at: now).map { "\($0.number) expired" }
        return expired + words(device.setOnline(true).flatMap { device.receive($0, .deliveredFromStorage, at: now) })
    }

    @Test mutating func `an online device receives a push immediately`() {
        #expect(words(device.receive(push(1), at: 0)) == ["1 delivered"])
        #expect(device.shown == [1])
    }

    @Test mutating func `the newest push of each topic is stored for an offline device`() {
        _ = device.setOnline(false)
        #expect(words(device.receive(push(1), at: 0)) == ["1 stored-device-offline"])
        #expect(words(device.receive(push(2, topic: "other"), at: 0)) == ["2 stored-device-offline"])
        #expect(words(device.receive(push(3), at: 0)) == ["1 discarded-replaced", "3 stored-device-offline"])
        #expect(device.stored == ["app": 3, "other": 2])
        #expect(comesOnline(at: 1) == ["2 delivered-from-storage", "3 delivered-from-storage"])
        #expect(device.stored.isEmpty && device.shown == [2, 3])
    }

    @Test mutating func `a device prints its state in one line`() {
        _ = device.receive(push(1), at: 0)
        _ = device.setOnline(false)
        _ = device.receive(push(2), at: 0)
        #expect("\(device)" == "offline, shown [1], stored [2]")
    }

    @Test mutating func `pushes with expiration 0 are not stored, and expired ones are discarded`() {
        _ = device.setOnline(false)
        #expect(words(device.receive(push(1, expiration: "0"), at: 0)) == ["1 discarded-not-stored"])
        _ = device.receive(push(2, topic: "a", expiration: "100"), at: 0)
        _ = device.receive(push(3, topic: "b", expiration: "101"), at: 0)
        _ = device.receive(push(4, topic: "c"), at: 0)
        #expect(
            comesOnline(at: 100_001) == [
                "2 expired", "3 delivered-from-storage", "4 delivered-from-storage",
            ]
        )
        _ = device.setOnline(false)
        _ = device.receive(push(5, at: 101_000), at: 101_000)
        #expect(comesOnline(at: 101_000 + 31 * 86_400_000) == ["5 expired"])
    }

    @Test mutating func `an expired push is not stored and leaves the stored push in its place`() {
        _ = device.setOnline(false)
        #expect(words(device.receive(push(1, at: 100_000), at: 100_000)) == ["1 stored-device-offline"])
        let expired = device.receive(push(2, at: 100_000, expiration: "99"), at: 100_000)
        #expect(words(expired) == ["2 discarded-expired"])
        #expect(expired.first?.1.note == "its apns-expiration was in the past when it arrived")
        #expect(device.stored == ["app": 1])
        #expect(comesOnline(at: 100_000) == ["1 delivered-from-storage"])
    }

    @Test mutating func `a newer notification replaces one with the same collapse identifier`() {
        for (number, name) in [(1, "a"), (2, "b"), (3, "a"), (4, nil), (5, nil)] as [(Int, String?)] {
            _ = device.receive(push(number, collapseID: name), at: 0)
        }
        #expect(device.shown == [2, 3, 4, 5])
        _ = device.receive(push(6, #"{"aps":{"content-available":1}}"#), at: 0)
        #expect(device.shown == [2, 3, 4, 5], "silent ones are not shown")
        for number in 7..<200 { _ = device.receive(push(number), at: 0) }
        #expect(device.shown.count == 100 && device.shown.last == 199)
    }

    @Test mutating func `an activity has the newest content, and ignores pushes after its end`() throws {
        func activity(_ number: Int, _ event: String, _ timestamp: Int, _ minutes: Int) -> DeliveredPush {
            push(
                number,
                type: "liveactivity",
                #"{"aps":{"timestamp":\#(timestamp),"event":"\#(event)","content-state":{"minutes":\#(minutes)}}}"#
            )
        }
        #expect(words(device.receive(activity(1, "update", 10, 5), at: 0)) == ["1 delivered"])
        let late = device.receive(activity(2, "update", 10, 9), at: 0)
        #expect(words(late) == ["2 ignored"])
        let finding = try #require(late.first?.1.finding)
        #expect(finding.rule == "activity-timestamp-repeated" && finding.severity == .error)
        #expect(finding.message == "ignored: its timestamp 10 is not after 10 of the content on screen")
        // A broadcast names the device as well.
        #expect(late.first?.1.at(device: "5d3a").finding?.message.hasPrefix("ignored: at 5d3a…: its") == true)
        let older = device.receive(activity(3, "update", 9, 9), at: 0)
        #expect(words(older) == ["3 ignored"] && older.first?.1.finding?.rule == "activity-timestamp-older")
        #expect(words(device.receive(activity(4, "end", 11, 0), at: 0)) == ["1 activity-ended", "4 delivered"])
        let afterEnd = device.receive(activity(5, "update", 12, 9), at: 0)
        #expect(words(afterEnd) == ["5 ignored"] && afterEnd.first?.1.finding?.rule == "activity-after-end")
        let shown = try #require(device.activity)
        #expect(shown.hasEnded && shown.timestamp == 11 && shown.contentState == Array(#"{"minutes":0}"#.utf8))
        #expect(words(device.receive(push(6, type: "liveactivity", "{}"), at: 0)) == ["6 ignored"])
    }

    /// A generator whose octets are zero, except those that make the end of a token `0503`.
    private struct UnluckyGenerator: RandomNumberGenerator {
        private var count = 0

        mutating func next() -> UInt64 {
            count += 1
            return count < 31 ? 0 : count == 31 ? 5 : count == 32 ? 3 : 9
        }
    }

    @Test func `the token of a started activity selects no response`() throws {
        var registry = DeviceRegistry(environment: .development)
        var generator = UnluckyGenerator()
        let start = """
            {"aps":{"timestamp":10,"event":"start","content-state":{"n":1},"attributes-type":"Ride",\
            "attributes":{"id":1},"alert":{"title":"A","body":"B"},"input-push-token":1}}
            """
        let headers = PushHeaders(pushType: "liveactivity", priority: "10", topic: "app.push-type.liveactivity")
        _ = registry.receive(.sample(headers: headers, start), at: 0, using: &generator)
        let token = try #require(registry["5d3a"]?.startedActivities.first?.token?.hex)
        #expect(token.hasSuffix("0503") && FaultPlan.suffixAction(token) == nil, "\(token)")
    }

    @Test func `a device that is registered again keeps its stored pushes`() throws {
        var registry = DeviceRegistry(environment: .development)
        let token = try DeviceToken(hex: "5d3a")
        var random = SplitMix64(state: 7)
        _ = registry.setOnline(false, token, at: 0, using: &random)
        _ = registry.receive(.sample(), at: 0, using: &random)
        registry.register(token, for: ["app"], in: .development)
        #expect(registry["5d3a"]?.stored == ["app": 1])
        #expect(words(registry.setOnline(true, token, at: 1, using: &random)) == ["1 delivered-from-storage"])
    }

    private static func activity(_ event: String, timestamp: Int) -> PushNotification {
        let attributes = #""attributes-type":"Ride","attributes":{"id":1},"alert":{"title":"A","body":"B"}"#
        let start = event == "start" ? "," + attributes : ""
        let payload = #"{"aps":{"timestamp":\#(timestamp),"event":"\#(event)","content-state":{"n":1}\#(start)}}"#
        return .opaque(Array(payload.utf8), pushType: .liveActivity, priority: .powerAware)
    }

    @Test func `a push that an activity ignores has a finding with the cause`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let starter = try DeviceToken(hex: "5d3a6a1c")
        let topic: Topic = "com.example.app"
        try await client.send(Self.activity("start", timestamp: 1_700_000_000), to: starter, topic: topic)
        let activity = try #require(await apns.device(starter)?.startedActivities.first?.token)
        for timestamp in [1_700_000_000, 1_699_999_999, 1_700_000_001] {
            try await client.send(Self.activity("update", timestamp: timestamp), to: activity, topic: topic)
        }
        let pushes = await apns.pushes.dropFirst()
        #expect(
            pushes.map { $0.findings.map(\.message) } == [
                ["ignored: its timestamp 1700000000 is not after 1700000000 of the content on screen"],
                ["ignored: its timestamp 1699999999 is not after 1700000000 of the content on screen"],
                [
                    "content-state is that of push 1, which is on screen: the update changes nothing, and may use"
                        + " up the budget of the app"
                ],
            ]
        )
        #expect(pushes.map { $0.deliveries.map(\.kind) } == [[.ignored], [.ignored], [.delivered]])
        await client.close()
        await apns.stop()
    }

    @Test func `a stored push that is ignored on delivery has a finding`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let token = try DeviceToken(hex: "5d3a6a1c")
        try await client.send(Self.activity("update", timestamp: 1_700_000_000), to: token, topic: "com.example.app")
        await apns.setOnline(false, token)
        try await client.send(Self.activity("update", timestamp: 1_699_999_999), to: token, topic: "com.example.app")
        #expect(await apns.pushes.last?.findings.isEmpty == true)
        await apns.setOnline(true, token)
        #expect(await apns.pushes.last?.findings.map(\.rule) == ["activity-timestamp-older"])
        await client.close()
        await apns.stop()
    }

    @Test func `stored pushes are discarded when they expire`() throws {
        var registry = DeviceRegistry(environment: .development)
        var random = SplitMix64(state: 7)
        let token = try DeviceToken(hex: "5d3a")
        _ = registry.setOnline(false, token, at: 0, using: &random)
        for (number, topic, expiration) in [(1, "a", "100"), (2, "b", "200"), (3, "c", "0")] {
            let headers = PushHeaders(pushType: "alert", expiration: expiration, topic: topic)
            _ = registry.receive(.sample(number, headers: headers), at: 0, using: &random)
        }
        #expect(registry.nextExpiry == 100_000 && registry.discardExpired(at: 100_000).isEmpty)
        let expired = registry.discardExpired(at: 100_001)
        #expect(words(expired) == ["1 discarded-expired"] && expired.first?.1.time == 100_000)
        #expect(registry["5d3a"]?.stored == ["b": 2] && registry.nextExpiry == 200_000)
        let headers = PushHeaders(pushType: "alert", topic: "b")
        let events = registry.receive(.sample(4, at: 300_000, headers: headers), at: 300_000, using: &random)
        #expect(words(events) == ["2 discarded-expired", "4 stored-device-offline"], "nothing expired is replaced")
        let afterStorage = Int64(300_000 + 31 * 86_400_000)
        let online = registry.setOnline(true, token, at: afterStorage, using: &random)
        #expect(words(online) == ["4 discarded-expired"], "nothing expired is delivered")
    }

    @Test func `the verdict on a stored push changes when it expires`() async throws {
        let time = MovableTime(1_790_000_000)
        let configuration = SimulatedAPNs.Configuration(isEncrypted: false)
        let apns = try await SimulatedAPNs.start(configuration, clock: WallClock { time.seconds })
        await apns.setOnline(false, try DeviceToken(hex: "5d3a"))
        let fields: HTTPFields = [
            ":method": "POST", ":path": "/3/device/5d3a", "apns-topic": "app", "apns-push-type": "alert",
            "apns-expiration": "1790000060",
        ]
        let stored = await apns.service.receive(
            composed: APNsRequest(composed: fields, Array(#"{"aps":{"alert":"Hi"}}"#.utf8))
        )
        #expect(stored.verdict.kind == .stored)
        time.advance(by: 61)
        let expired = try #require(await apns.pushes.last).verdict
        #expect(expired.kind == .discarded && expired.text == "Discarded: expired while the device was offline")
        #expect(await apns.device(try DeviceToken(hex: "5d3a"))?.stored.isEmpty == true)
        await apns.stop()
    }

    @Test func `received pushes have their deliveries`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false, storedPushes: 3))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let token = try DeviceToken(hex: "5d3a6a1c")
        await apns.setOnline(false, token)
        for _ in 0..<5 { try await client.send(.alert("Hi"), to: token, topic: "com.example.app") }
        #expect(await apns.device(token)?.stored == ["com.example.app": 5])
        await apns.setOnline(true, token)
        #expect(
            await apns.pushes.map { $0.deliveries.map(\.kind) } == [
                [.storedDeviceOffline, .discardedReplaced], [.storedDeviceOffline, .discardedReplaced],
                [.storedDeviceOffline, .deliveredFromStorage],
            ]
        )
        try await client.send(.alert("Hi"), to: DeviceToken(hex: "ffff"), topic: "com.example.app")
        #expect(await apns.pushes.last?.deliveries.map(\.kind) == [.delivered])
        #expect(await apns.device(try DeviceToken(hex: "ffff")) == nil)
        await client.close()
        await apns.stop()
    }
}

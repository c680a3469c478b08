// SPDX-License-Identifier: Apache-2.0

import MartletCore
import TestSupport
import Testing

@testable import MartletSimulator

/// Notifications and contents of Live Activities that newer pushes replace on the device.
@Suite(.timeLimit(.minutes(10))) struct ReplacedOnDeviceTests {
    private var registry = DeviceRegistry(environment: .development, rememberedNotifications: 4)
    private var random = SplitMix64(state: 7)
    private static let alert = #"{"aps":{"alert":"A"}}"#

    private func push(
        _ number: Int,
        to token: String = "5d3a",
        collapseID: String? = nil,
        topic: String = "app",
        type: String = "alert",
        _ payload: String = Self.alert
    ) -> ReceivedPush {
        .sample(
            number,
            to: token,
            headers: PushHeaders(pushType: type, topic: topic, collapseID: collapseID),
            payload
        )
    }

    private func activity(
        _ number: Int,
        _ event: String,
        _ timestamp: Int,
        to token: String = "5d3a"
    ) -> ReceivedPush {
        push(
            number,
            to: token,
            type: "liveactivity",
            #"{"aps":{"timestamp":\#(timestamp),"event":"\#(event)","content-state":{"n":1}}}"#
        )
    }

    private mutating func words(_ push: ReceivedPush) -> [String] {
        words(registry.receive(push, at: 0, using: &random))
    }

    private func words(_ deliveries: DeviceRegistry.Deliveries) -> [String] {
        deliveries.map { number, event in
            "\(number) \(event.kind.rawValue)" + (event.note.map { " \($0)" } ?? "")
        }
    }

    @Test mutating func `a newer notification with the same collapse identifier replaces one on any token`() throws {
        for token in ["5d3a", "5D3A"] {
            #expect(registry.concerns(push(1, collapseID: "a"), to: "5d3a") && !registry.concerns(push(1), to: "5d3a"))
            _ = words(push(1, to: token, collapseID: "b"))
            #expect(words(push(2, to: token, collapseID: "a")).last == "2 delivered")
            #expect(words(push(3, to: token, collapseID: "c")) == ["3 delivered"])
            #expect(
                words(push(4, to: token, collapseID: "a")) == ["2 replaced-on-device by push 4", "4 delivered"]
            )
            registry = DeviceRegistry(environment: .development)
        }
        #expect(registry.tokens.isEmpty, "nothing is registered by a push")
        registry.register(try DeviceToken(hex: "5d3a"), for: ["app"], in: .development)
        _ = words(push(5, collapseID: "a"))
        #expect(words(push(6, collapseID: "a")) == ["5 replaced-on-device by push 6", "6 delivered"])
        #expect(registry["5d3a"]?.shown == [6])
    }

    @Test mutating func `other devices, topics and silent pushes replace nothing`() {
        _ = words(push(1, collapseID: "a"))
        #expect(words(push(2, to: "ffff", collapseID: "a")) == ["2 delivered"])
        #expect(words(push(3, collapseID: "a", topic: "other")) == ["3 delivered"])
        #expect(words(push(4, collapseID: "a", type: "background")) == ["4 delivered"])
        #expect(words(push(5, collapseID: "a", #"{"aps":{"badge":1}}"#)) == ["5 delivered"])
        #expect(words(push(6, collapseID: "a")) == ["1 replaced-on-device by push 6", "6 delivered"])
    }

    @Test mutating func `a notification that was stored replaces one when it is delivered`() throws {
        let token = try DeviceToken(hex: "5d3a")
        _ = words(push(1, collapseID: "a"))
        _ = registry.setOnline(false, token, at: 0, using: &random)
        #expect(words(push(2, collapseID: "a")) == ["2 stored-device-offline"])
        #expect(
            words(registry.setOnline(true, token, at: 0, using: &random))
                == ["1 replaced-on-device by push 2", "2 delivered-from-storage"]
        )
    }

    @Test mutating func `the identifiers that are remembered are bounded`() {
        for number in 1...100 { _ = words(push(number, collapseID: "\(number)")) }
        #expect(words(push(101, collapseID: "1")) == ["101 delivered"], "long forgotten")
        #expect(words(push(102, collapseID: "100")).first == "100 replaced-on-device by push 102")
        #expect(words(push(103, collapseID: "100")).first == "102 replaced-on-device by push 103")
    }

    @Test mutating func `newer content replaces older, and the end ends it`() {
        #expect(words(activity(1, "update", 10)) == ["1 delivered"])
        #expect(words(activity(2, "update", 11)) == ["1 replaced-on-device by push 2", "2 delivered"])
        #expect(words(activity(3, "update", 11)).count == 1, "it is ignored")
        #expect(words(activity(4, "end", 12)) == ["2 activity-ended by push 4", "4 delivered"])
        #expect(words(activity(5, "update", 13)).count == 1)
    }

    @Test(arguments: [9, 10])
    mutating func `an end with an old timestamp ends the activity`(timestamp: Int) {
        _ = words(activity(1, "update", 10))
        let end = registry.receive(activity(2, "end", timestamp), at: 0, using: &random)
        let note =
            "its timestamp \(timestamp) is not after 10 of the content on screen: developers report that phones end"
            + " the activity, which Apple does not document"
        #expect(words(end) == ["1 activity-ended by push 2", "2 delivered \(note)"])
        let finding = end.last?.1.finding
        #expect(finding?.rule == "activity-end-not-newer" && finding?.severity == .warning)
        #expect(finding?.message == note && finding?.place == .payload("/aps/timestamp"))
        #expect(registry["5d3a"]?.activity?.hasEnded == true && registry["5d3a"]?.traffic.ignored == 0)
        #expect(words(activity(3, "end", 9)) == ["3 ignored the activity has ended"])
    }

    @Test mutating func `content of a broadcast and of a push replace each other`()
        throws
    {
        let token = try DeviceToken(hex: "5d3a")
        _ = registry.subscribe(token, to: ["c"], at: 0)
        func broadcast(_ number: Int, _ timestamp: Int) -> ReceivedPush {
            .sample(
                number,
                app: "app",
                channel: "c",
                headers: PushHeaders(pushType: "liveactivity", expiration: "0"),
                #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":{"n":1}}}"#
            )
        }
        #expect(words(activity(1, "update", 10)) == ["1 delivered"])
        #expect(words(broadcast(2, 11)) == ["1 replaced-on-device by push 2", "2 delivered at 5d3a…"])
        #expect(words(broadcast(3, 12)).first == "2 replaced-on-device at 5d3a…: by push 3")
        let last = registry.receive(activity(4, "update", 13), at: 0, using: &random)
        #expect(words(last) == ["3 replaced-on-device at 5d3a…: by push 4", "4 delivered"])
        let event = try #require(last.first?.1)
        #expect(event.replacedBy == 4 && event.device == "5d3a" && event.reason == "by push 4")
    }

    @Test func `events are the same after they were stored`() throws {
        let events = [
            DeliveryEvent(.replacedOnDevice, by: 4, at: 7).at(device: "5d3a6a1c8f9a"),
            DeliveryEvent(ignoredAt: 7, .activityAfterEnd, "the activity has ended"),
            DeliveryEvent(.delivered, at: 7, breaking: .activityEndNotNewer, "its timestamp 9 is not after 10"),
            DeliveryEvent(.released, at: 7, "200"),
        ]
        for event in events { #expect(try DeliveryEvent(APIField(event.json, named: "")) == event) }
        #expect(events[0].replacing(5).note == "at 5d3a6a1c…: by push 5" && events[0].replacing(5).replacedBy == 5)
        #expect(events[0].replacing(nil).note == "at 5d3a6a1c…: by a push that is not stored")
    }

    @Test mutating func `an activity counts pushes of an earlier run, and those that are forgotten`() {
        func stored(_ push: ReceivedPush, _ kind: DeliveryEvent.Kind) -> ReceivedPush {
            var push = push
            push.record(DeliveryEvent(kind, at: 0))
            return push
        }
        registry.restore([
            stored(activity(1, "update", 10), .replacedOnDevice), stored(activity(2, "update", 9), .ignored),
            stored(activity(3, "update", 11), .delivered),
        ])
        _ = words(activity(4, "update", 12))
        _ = words(activity(5, "update", 12))
        #expect(registry["5d3a"]?.traffic.received == 5 && registry["5d3a"]?.traffic.ignored == 2)
    }

    @Test mutating func `devices are restored from the pushes of an earlier run`() throws {
        func stored(_ push: ReceivedPush, _ kind: DeliveryEvent.Kind = .delivered) -> ReceivedPush {
            var push = push
            push.record(DeliveryEvent(kind, at: 0))
            return push
        }
        registry.restore([
            stored(push(1, collapseID: "a")), stored(activity(2, "update", 10, to: "ac7e")),
            stored(push(3, to: "ffff"), .storedDeviceOffline), stored(push(4, to: "eeee")),
        ])
        #expect(registry.tokens == ["ac7e", "ffff"] && registry["ffff"]?.stored == ["app": 3])
        #expect(words(push(5, collapseID: "a")).first == "1 replaced-on-device by push 5")
        #expect(words(activity(6, "update", 11, to: "ac7e")).first == "2 replaced-on-device by push 6")
        #expect(words(activity(7, "update", 12)).first?.hasPrefix("7 ignored push 1 to the token was") == true)
        #expect(
            words(registry.setOnline(true, try DeviceToken(hex: "ffff"), at: 0, using: &random))
                == ["3 delivered-from-storage"]
        )
    }
}

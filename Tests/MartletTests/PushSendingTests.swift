// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import Synchronization
import TestSupport
import Testing

/// Tests of code that sends through ``PushSending``, with a fake and with a client.
@Suite(.timeLimit(.minutes(10))) struct PushSendingTests {
    /// A service as users write it.
    private struct OrderService<Sender: PushSending> {
        let sender: Sender
        let topic: Topic = "com.example.app"

        func orderIsReady(for phone: DeviceToken) async throws {
            try await sender.send(.alert("Ready", sound: "chime.aiff"), to: phone, topic: topic)
        }

        func followDelivery(startToken: DeviceToken, activity: DeviceToken) async throws {
            let start = try LiveActivityStart(
                attributesType: "Delivery",
                attributes: ["order": 17],
                state: ["minutes": 9],
                alert: LiveActivityAlert(title: "On its way", body: "9 minutes")
            )
            try await sender.startLiveActivity(start, on: startToken, topic: topic)
            try await sender.updateLiveActivity(activity, state: ["minutes": 5], topic: topic, priority: .immediate)
            try await sender.endLiveActivity(activity, state: ["minutes": 0], topic: topic, dismissal: .immediate)
            try await sender.endLiveActivity(activity, topic: topic)
            try await sender.broadcast(.end(), to: "YQ==", topic: topic)
        }
    }

    private let phone: DeviceToken
    private let activity: DeviceToken

    init() throws {
        phone = try DeviceToken(bytes: Data(repeating: 1, count: 32))
        activity = try DeviceToken(bytes: Data(repeating: 2, count: 32))
    }

    @Test func `RecordingPushSender records the pushes of a service`() async throws {
        let sender = RecordingPushSender()
        let service = OrderService(sender: sender)
        try await service.orderIsReady(for: phone)
        try await service.followDelivery(startToken: phone, activity: activity)
        let pushes = sender.pushes
        #expect(
            pushes.first == .notification(.alert("Ready", sound: "chime.aiff"), to: phone, topic: "com.example.app")
        )
        let tokens: [DeviceToken?] = pushes.map { if case .notification(_, let token, _) = $0 { token } else { nil } }
        #expect(tokens == [phone, phone, activity, activity, activity, nil])
        let events = try pushes.compactMap { push -> String? in
            guard case .notification(let notification, _, _) = push else { return nil }
            return try JSONReader.read(notification.payload.encoded())["aps"]?["event"]?.stringValue
        }
        #expect(events == ["start", "update", "end", "end"])
        #expect(pushes.last == .broadcast(.end(), to: "YQ==", topic: "com.example.app"))
        let payload = #"{"aps":{"alert":{"body":"Ready"},"sound":"chime.aiff"}}"#
        #expect(pushes.first?.description == "push to 01010101… for com.example.app: alert, priority 10: \(payload)")
        #expect(pushes.last?.description == "broadcast to channel YQ== of com.example.app: end, dismissal default")
    }

    @Test func `RecordingPushSender records the options of each push`() async throws {
        let sender = RecordingPushSender(error: .refused(.tooManyRequests, retryAfter: .seconds(5)))
        let error = await #expect(throws: APNsError.self) {
            let options = SendOptions(retry: .none, timeout: .seconds(1))
            try await sender.send(.alert("Ready"), to: phone, topic: "com.example.app", options: options)
        }
        #expect(error?.reason == .tooManyRequests && error?.retryAfter == .seconds(5))
        await #expect(throws: APNsError.self) {
            try await sender.broadcast(.end(), to: "YQ==", topic: "com.example.app")
        }
        #expect(sender.options == [SendOptions(retry: .none, timeout: .seconds(1)), SendOptions()])
        #expect(sender.pushes.count == 2)
    }

    @Test func `RecordingPushSender returns the result of its closure`() async throws {
        let date = Date(timeIntervalSince1970: 1_764_000_000)
        let sender = RecordingPushSender { _ in .failure(.refused(.unregistered, unregisteredAt: date)) }
        let error = await #expect(throws: APNsError.self) {
            try await OrderService(sender: sender).orderIsReady(for: phone)
        }
        #expect(error?.status == 410 && error?.reason == .unregistered && error?.unregisteredAt == date)
        #expect(error?.outcome == .answered && error?.code == .refused)
        #expect(error?.localizedDescription.contains("410 Unregistered") == true)
        #expect(APNsError(.timedOut, description: "late", outcome: .unknown).outcome == .unknown)
    }

    @Test func `a service can send through a client instead`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await PushClient(
            apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
        let service = OrderService(sender: client)
        try await service.orderIsReady(for: phone)
        await #expect(throws: APNsError.self, "there is no such channel") {
            try await service.followDelivery(startToken: phone, activity: activity)
        }
        let pushes = await apns.pushes
        #expect(pushes.map(\.status).prefix(5) == [200, 200, 200, 200, 200])
        let first = try #require(pushes.first)
        #expect(try first.decode(APS.self, at: "aps") == APS(alert: "Ready", sound: "chime.aiff"))
        #expect(throws: DecodingError.self) { try first.decode(APS.self, at: "none") }
        let payload = #"{"aps":{"alert":{"body":"Ready"},"sound":"chime.aiff"}}"#
        #expect(first.description == "push 1: alert to 01010101… for com.example.app, 200, \(payload)")
        struct Update: Decodable {
            struct Content: Decodable {
                enum CodingKeys: String, CodingKey { case state = "content-state" }
                let state: [String: Int]
            }
            let aps: Content
        }
        let updates = try pushes[1...3].map { try $0.decode(Update.self).aps.state["minutes"] }
        #expect(updates == [9, 5, 0])
        await client.close()
        await apns.stop()
    }

    @Test func `a received push decodes the dates of custom data`() async throws {
        struct Order: Codable, Equatable {
            var readyAt: Date
        }
        let apns = try await SimulatedAPNs.start()
        let client = try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
        let order = Order(readyAt: Date(timeIntervalSince1970: 1_790_000_000.75))
        let written = try PushNotification.alert("Ready", custom: order)
        try await client.send(written, to: phone, topic: "com.example.app")
        for time in [#""2026-09-21T14:13:20.25Z""#, #""2026-09-21T14:13:20Z""#, "811692800", #""soon""#] {
            let custom = try PushNotification.CustomData(json: #"{"readyAt":\#(time)}"#.utf8)
            let notification = PushNotification.alert("Ready", custom: custom)
            try await client.send(notification, to: phone, topic: "com.example.app")
        }
        let pushes = await apns.pushes
        // The strategy .iso8601 of an app reads no fractions on older systems, so they are cut.
        let times = try pushes.prefix(4).map { try $0.decode(Order.self).readyAt.timeIntervalSince1970 }
        #expect(times.map { $0.rounded(.down) } == Array(repeating: 1_790_000_000, count: 4))
        #expect(times[0] == 1_790_000_000 && abs(times[1] - 1_790_000_000.25) < 0.001)
        let last = try #require(pushes.last)
        #expect(throws: DecodingError.self) { try last.decode(Order.self) }
        await client.close()
        await apns.stop()
    }

    @Test func `a simulator stops with its test, also when the test throws`() async throws {
        let endpoint = try await withSimulatedAPNs { apns, client in
            try await client.send(.alert("Hi"), to: phone, topic: "com.example.app")
            return await apns.endpoint
        }
        var failed = endpoint
        await #expect(throws: CancellationError.self) {
            try await withSimulatedAPNs { apns, _ in
                failed = await apns.endpoint
                throw CancellationError()
            }
        }
        for gone in [endpoint, failed] {
            let client = try PushClient(gone, authentication: .token(.ephemeral()))
            let options = SendOptions(retry: .none)
            let error = await #expect(throws: APNsError.self) {
                try await client.send(.alert("Hi"), to: phone, topic: "com.example.app", options: options)
            }
            #expect(error?.code == .connectionFailed)
            await client.close()
        }
    }

    @Test func `recipients and receipts are the same after they were stored`() throws {
        let recipients = [Recipient(phone), Recipient(activity, notification: .alert("Hi", badge: 3))]
        let payload = #"{"aps":{"alert":{"body":"Hi"},"badge":3}}"#
        #expect(recipients.map { "\($0)" } == ["01010101…", "02020202…: alert, priority 10: \(payload)"])
        let loaded = try JSONDecoder().decode([Recipient].self, from: JSONEncoder().encode(recipients))
        #expect(loaded == recipients)
        let timing = SendTiming(waiting: .milliseconds(1), onWire: .seconds(2), backingOff: .seconds(Int64.max))
        let receipt = PushReceipt(id: .random(), uniqueID: "u", attempts: 2, unknownTries: 1, timing: timing)
        #expect(try JSONDecoder().decode(PushReceipt.self, from: JSONEncoder().encode(receipt)) == receipt)
        #expect(receipt.timing.onWire == .seconds(2))
        #expect("\(timing)".hasPrefix("waiting 0.001 seconds, on wire 2.0 seconds, "))
    }

    @Test func `keys are read from bytes, and a client runs until its task is cancelled`() async throws {
        let key = try SigningKey.ephemeral()
        #expect(throws: APNsError.self) {
            try SigningKey(pem: Data("no key".utf8), keyID: key.keyID, teamID: key.teamID)
        }
        let client = try PushClient(authentication: .token(key))
        let running = Task { await client.run() }
        running.cancel()
        await running.value
        let error = await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: phone, topic: "com.example.app")
        }
        #expect(error?.code == .closed)
    }
}

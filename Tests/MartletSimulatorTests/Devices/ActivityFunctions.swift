// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet

/// A choice of functions of the client library that send pushes to one Live Activity.
///
/// The numbers from 0 to 119 choose every combination of a start, an update and an end, by token and by broadcast.
struct ActivityFunctions {
    /// The receiver of updates and of the end.
    enum Receiver {
        case token(DeviceToken)
        case channel(ChannelID)
    }

    static let topic: Topic = "com.example.app"
    private static let snapshot = SurfaceSnapshot.example(of: .liveActivity)

    let number: Int

    /// Whether broadcasts update the activity.
    var usesChannel: Bool { number % 2 == 1 }

    func start(
        on phone: DeviceToken,
        updatedBy source: LiveActivityStart.UpdateSource,
        through client: PushClient
    ) async throws {
        let start = try LiveActivityStart(
            attributesType: "Ride",
            attributes: ["rideID": "r7"],
            state: ["minutesLeft": 9],
            alert: LiveActivityAlert(title: "Your ride", body: "It arrives soon."),
            updateSource: source
        )
        let sender: any PushSending = client
        switch number / 2 % 3 {
        case 0: try await client.startLiveActivity(start, on: phone, topic: Self.topic)
        case 1: try await sender.startLiveActivity(start, on: phone, topic: Self.topic)
        default:
            let delivery = SurfaceDelivery(updateSource: source)
            try await client.send(Self.snapshot, to: .activityStart(phone), topic: Self.topic, delivery: delivery)
        }
    }

    /// Sends an update; each turn uses another function.
    func update(_ receiver: Receiver, turn: Int, through client: PushClient) async throws {
        let update = try LiveActivityUpdate.update(["minutesLeft": 8 - turn])
        let sender: any PushSending = client
        switch (receiver, (number / 2 + turn) % 4) {
        case (.token(let token), 0): try await client.send(update, toActivity: token, topic: Self.topic)
        case (.token(let token), 1): try await sender.send(update, toActivity: token, topic: Self.topic)
        case (.token(let token), 2):
            try await sender.updateLiveActivity(token, state: ["minutesLeft": 8 - turn], topic: Self.topic)
        case (.token(let token), _): try await client.send(Self.snapshot, to: .activity(token), topic: Self.topic)
        case (.channel(let channel), 0): try await client.broadcast(update, to: channel, topic: Self.topic)
        case (.channel(let channel), 1): try await sender.broadcast(update, to: channel, topic: Self.topic)
        case (.channel(let channel), _): try await client.send(Self.snapshot, to: .channel(channel), topic: Self.topic)
        }
    }

    /// Sends an end that removes the activity from the Lock Screen immediately.
    func end(_ receiver: Receiver, through client: PushClient) async throws {
        let (end, topic) = (LiveActivityUpdate.end(dismissal: .immediate), Self.topic)
        let sender: any PushSending = client
        switch (receiver, number / 2 % 5) {
        case (.token(let token), 0): try await client.send(end, toActivity: token, topic: topic)
        case (.token(let token), 1): try await sender.send(end, toActivity: token, topic: topic)
        case (.token(let token), 2):
            try await sender.endLiveActivity(token, topic: topic, dismissal: .immediate)
        case (.token(let token), 3):
            try await sender.endLiveActivity(token, state: ["minutesLeft": 0], topic: topic, dismissal: .immediate)
        case (.token(let token), _): try await client.send(Self.snapshot, to: .activityEnd(token), topic: topic)
        case (.channel(let channel), 0): try await client.broadcast(end, to: channel, topic: topic)
        case (.channel(let channel), 1): try await sender.broadcast(end, to: channel, topic: topic)
        case (.channel(let channel), _): try await client.send(Self.snapshot, to: .channelEnd(channel), topic: topic)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletCore
import Testing

@testable import MartletSimulator

/// The order of pushes to a Live Activity in quick succession.
@Suite(.timeLimit(.minutes(10))) struct ActivityOrderTests {
    private struct RideAttributes: LiveActivityAttributes {
        struct ContentState: Encodable { var minutesLeft: Int }
        var rideID: String
    }

    /// The processes that send to an activity in turn, and the verdicts on its five pushes.
    struct Processes: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var clocks: [WallClock]
        var verdicts: [String]
    }

    private static let now = WallClock.system.secondsSince1970()
    private static let afterEnd = "not-shown activity-after-end"

    /// Clocks that stand still, so that all pushes are sent within one second, however long that takes.
    private static let processes = [
        Processes(
            testDescription: "one process",
            clocks: [.system],
            verdicts: ["replaced", "replaced", "ended", "delivered", afterEnd]
        ),
        Processes(
            testDescription: "two processes with the same time",
            clocks: [WallClock { now }, WallClock { now }],
            verdicts: ["replaced", "ended", "not-shown activity-timestamp-repeated", "delivered", afterEnd]
        ),
        Processes(
            testDescription: "two processes, the first a second ahead",
            clocks: [WallClock { now + 1 }, WallClock { now }],
            verdicts: ["replaced", "replaced", "ended", "delivered", afterEnd]
        ),
        Processes(
            testDescription: "two processes, the second a second ahead",
            clocks: [WallClock { now }, WallClock { now + 1 }],
            verdicts: ["replaced", "ended", "not-shown activity-timestamp-older", "delivered", afterEnd]
        ),
    ]

    /// The number of activities of each case: 1 000 in all.
    private static let activities = 250

    @Test(arguments: processes) func `an end is not ignored, whichever function sends it`(
        of processes: Processes
    ) async throws {
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(
                isEncrypted: false,
                storedPushes: processes.verdicts.count * Self.activities,
                usesTokenSuffixes: false
            )
        )
        let clients = try await Self.clients(of: apns, processes.clocks)
        let receivers = try await withThrowingTaskGroup(of: [String].self) { group in
            for number in 0..<Self.activities {
                let functions = ActivityFunctions(number: number)
                group.addTask { try await Self.follow(functions, through: clients, on: apns) }
            }
            var receivers: [[String]] = []
            for try await receiver in group { receivers.append(receiver) }
            return receivers
        }
        var verdicts: [String: [String]] = [:]
        for push in await apns.pushes {
            verdicts[push.channel?.rawValue ?? push.deviceToken, default: []].append(Self.verdict(on: push))
        }
        for receiver in receivers {
            #expect(receiver.flatMap { verdicts[$0] ?? [] } == processes.verdicts)
        }
        for client in clients { await client.close() }
        await apns.stop()
    }

    private static func clients(of apns: SimulatedAPNs, _ clocks: [WallClock]) async throws -> [PushClient] {
        let endpoint = await apns.endpoint
        return try clocks.map { clock in
            try PushClient(
                endpoint,
                authentication: .token(.ephemeral()),
                configuration: apns.clientConfiguration,
                clock: clock
            )
        }
    }

    private static func verdict(on push: ReceivedPush) -> String {
        let rule = push.deliveries.last?.brokenRule.map { " \($0.id)" } ?? ""
        return push.verdict.kind.rawValue + rule
    }

    /// Starts an activity, updates it twice, ends it and updates it again, by the processes in turn.
    ///
    /// - Returns: The receivers of the pushes, as the simulator names them.
    private static func follow(
        _ functions: ActivityFunctions,
        through clients: [PushClient],
        on apns: SimulatedAPNs
    ) async throws -> [String] {
        let (first, second) = (clients[0], clients[clients.count - 1])
        let phone = try DeviceToken(hex: "5d3a" + String(0x1000 + functions.number, radix: 16))
        var channel: ChannelID?
        if functions.usesChannel { channel = try await first.channels(of: ActivityFunctions.topic).create() }
        try await functions.start(on: phone, updatedBy: channel.map { .byChannel($0) } ?? .byToken, through: first)
        let activity = try #require(await apns.device(phone)?.startedActivities.last)
        let receiver = channel.map { ActivityFunctions.Receiver.channel($0) } ?? .token(activity.id)
        try await functions.update(receiver, turn: 0, through: second)
        try await functions.update(receiver, turn: 1, through: first)
        try await functions.end(receiver, through: second)
        try await functions.update(receiver, turn: 2, through: first)
        #expect(await apns.device(activity.id)?.activity?.hasEnded == true)
        return [phone.hex, channel?.rawValue ?? activity.id.hex]
    }

    @Test func `timestamps from a counter that processes share are all shown`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let clients = try await Self.clients(of: apns, [WallClock { Self.now }, WallClock { Self.now }])
        let (phone, topic) = (try DeviceToken(hex: "5d3a6a1c"), ActivityFunctions.topic)
        let times = (0..<5).map { Date(timeIntervalSince1970: Double(Self.now + $0)) }
        let start = try LiveActivityStart(
            RideAttributes(rideID: "r7"),
            state: RideAttributes.ContentState(minutesLeft: 5),
            alert: LiveActivityAlert(title: "Your ride", body: "It arrives soon."),
            updateSource: .byToken
        )
        try await clients[0].send(.liveActivity(start, timestamp: times[0]), to: phone, topic: topic)
        let activity = try #require(await apns.device(phone)?.startedActivities.last?.token)
        let update = try LiveActivityUpdate.update(RideAttributes.ContentState(minutesLeft: 4))
        try await clients[1].send(update, toActivity: activity, topic: topic, timestamp: times[1])
        try await clients[0].send(.liveActivity(update, timestamp: times[2]), to: activity, topic: topic)
        let delivery = SurfaceDelivery(timestamp: times[3])
        let snapshot = SurfaceSnapshot.example(of: .liveActivity)
        try await clients[1].send(snapshot, to: .activity(activity), topic: topic, delivery: delivery)
        try await clients[0].send(.end(dismissal: .immediate), toActivity: activity, topic: topic, timestamp: times[4])
        let verdicts = await apns.pushes.map { Self.verdict(on: $0) }
        #expect(verdicts == ["replaced", "replaced", "replaced", "ended", "delivered"])
        for client in clients { await client.close() }
        await apns.stop()
    }

    @Test func `updates and the end in quick succession are all shown, in their order`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
        let activity = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
        for minutes in [3, 2] {
            let update = try LiveActivityUpdate.update(RideAttributes.ContentState(minutesLeft: minutes))
            try await client.send(update, toActivity: activity, topic: "com.example.app")
        }
        try await client.send(.end(), toActivity: activity, topic: "com.example.app")
        #expect(
            await apns.pushes.map { $0.deliveries.map(\.kind) } == [
                [.delivered, .replacedOnDevice], [.delivered, .activityEnded], [.delivered],
            ]
        )
        let shown = await apns.device(activity)?.activity
        #expect(shown?.hasEnded == true && shown?.contentState == Array(#"{"minutesLeft":2}"#.utf8))
        await client.close()
        await apns.stop()
    }
}

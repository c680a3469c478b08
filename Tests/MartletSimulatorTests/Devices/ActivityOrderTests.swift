// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletSimulator
import Testing

/// The order of pushes to a Live Activity in quick succession.
@Suite(.timeLimit(.minutes(10))) struct ActivityOrderTests {
    private static let rounds = 1_000

    private struct RideAttributes: LiveActivityAttributes {
        struct ContentState: Encodable { var minutesLeft: Int }
        var rideID: String
    }

    @Test(arguments: [1, 2]) func `an update right after a start is not ignored`(clientCount: Int) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(storedPushes: 2 * Self.rounds))
        var clients: [PushClient] = []
        for _ in 0..<clientCount {
            clients.append(
                try PushClient(
                    await apns.endpoint,
                    authentication: .token(.ephemeral()),
                    configuration: apns.clientConfiguration
                )
            )
        }
        let phone = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
        let start = try LiveActivityStart(
            RideAttributes(rideID: "r7"),
            state: RideAttributes.ContentState(minutesLeft: 5),
            alert: LiveActivityAlert(title: "Your ride", body: "It arrives soon."),
            updateSource: .byToken
        )
        let update = try LiveActivityUpdate.update(RideAttributes.ContentState(minutesLeft: 4))
        for _ in 0..<Self.rounds {
            try await clients[0].startLiveActivity(start, on: phone, topic: "com.example.app")
            let activity = try #require(await apns.device(phone)?.startedActivities.last?.token)
            try await clients[clientCount - 1].send(update, toActivity: activity, topic: "com.example.app")
        }
        let pushes = await apns.pushes
        #expect(pushes.count == 2 * Self.rounds)
        let ignored = pushes.filter { push in push.deliveries.contains { $0.kind == .ignored } }
        #expect(ignored.isEmpty, "\(ignored.count) were ignored: \(ignored.first?.deliveries.last?.note ?? "")")
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

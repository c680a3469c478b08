// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet

/// The examples of Live Activities.
extension CopiedSwift {
    static let activities: [CopiedSwift] = [
        CopiedSwift(
            "Start activity",
            payload:
                #"{"aps":{"timestamp":1795593600,"event":"start","attributes-type":"OrderAttributes","#
                + #""attributes":{"order":42},"content-state":{"status":"In the kitchen","minutesLeft":20,"#
                + #""progress":0.1},"alert":{"title":"Order 42","body":"It is in the kitchen."}}}"#,
            copied: startActivity
        ),
        CopiedSwift(
            "Update activity",
            payload:
                #"{"aps":{"timestamp":1795593600,"event":"update","content-state":{"status":"On its way","#
                + #""minutesLeft":8,"progress":0.6}}}"#,
            copied: updateActivity
        ),
        CopiedSwift(
            "End activity",
            payload:
                #"{"aps":{"timestamp":1795593600,"event":"end","dismissal-date":1795594200,"#
                + #""content-state":{"status":"Delivered","minutesLeft":0,"progress":1}}}"#,
            copied: endActivity
        ),
        CopiedSwift(
            "Broadcast",
            payload:
                #"{"aps":{"timestamp":1795593600,"event":"update","#
                + #""content-state":{"status":"The kitchen is busy","minutesLeft":25,"progress":0.1}}}"#,
            copied: broadcast
        ),
    ]

    private static func startActivity(_ client: PushClient) async throws {
        // Example: Start activity
        struct OrderAttributes: LiveActivityAttributes {
            struct ContentState: Encodable {
                var status: String
                var minutesLeft: Int
                var progress: Double
            }

            var order: Int
        }

        try await client.startLiveActivity(
            LiveActivityStart(
                OrderAttributes(order: 42),
                state: OrderAttributes.ContentState(status: "In the kitchen", minutesLeft: 20, progress: 0.1),
                alert: LiveActivityAlert(title: "Order 42", body: "It is in the kitchen.", sound: nil)
            ),
            on: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func updateActivity(_ client: PushClient) async throws {
        // Example: Update activity
        struct ContentState: Encodable {
            var status: String
            var minutesLeft: Int
            var progress: Double
        }

        try await client.send(
            .update(ContentState(status: "On its way", minutesLeft: 8, progress: 0.6)),
            toActivity: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func endActivity(_ client: PushClient) async throws {
        // Example: End activity
        struct ContentState: Encodable {
            var status: String
            var minutesLeft: Int
            var progress: Int
        }

        try await client.send(
            .end(
                ContentState(status: "Delivered", minutesLeft: 0, progress: 1),
                dismissal: .at(Date(timeIntervalSince1970: 1_795_594_200))
            ),
            toActivity: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func broadcast(_ client: PushClient) async throws {
        // Example: Broadcast
        struct ContentState: Encodable {
            var status: String
            var minutesLeft: Int
            var progress: Double
        }

        try await client.broadcast(
            .update(ContentState(status: "The kitchen is busy", minutesLeft: 25, progress: 0.1)),
            to: "bm9uZQ==",
            topic: "com.example.app"
        )
    }
}

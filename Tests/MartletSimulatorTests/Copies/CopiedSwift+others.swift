// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet

/// The examples of pushes without a notification.
extension CopiedSwift {
    static let others: [CopiedSwift] = [
        CopiedSwift(
            "Silent",
            payload: #"{"aps":{"content-available":1},"order":42}"#,
            copied: silent
        ),
        CopiedSwift(
            "Widget",
            payload: #"{"aps":{"content-changed":true}}"#,
            copied: widget
        ),
        CopiedSwift(
            "Control",
            payload: #"{"aps":{"content-changed":true}}"#,
            copied: control
        ),
        CopiedSwift(
            "Complication",
            payload: #"{"steps":8400,"goal":10000}"#,
            copied: complication
        ),
        CopiedSwift(
            "Location",
            payload: #"{"query":"q-17"}"#,
            copied: location
        ),
        CopiedSwift(
            "File provider",
            payload: #"{"container-identifier":"NSFileProviderWorkingSetContainerItemIdentifier"}"#,
            copied: fileProvider
        ),
        CopiedSwift(
            "MDM",
            payload: #"{"mdm":"5B1F7A10-0F29-4C0D-9F6C-8E0C6B2A1D11"}"#,
            copied: mdm
        ),
        CopiedSwift(
            "Call",
            payload: #"{"caller":"Ada Lovelace","handle":"+44 20 7946 0000"}"#,
            copied: call
        ),
        CopiedSwift(
            "Push to Talk",
            payload: #"{"activeSpeaker":"Ada"}"#,
            copied: pushToTalk
        ),
    ]

    private static func silent(_ client: PushClient) async throws {
        // Example: Silent
        struct AppData: Encodable {
            var order: Int
        }

        try await client.send(
            .background(custom: AppData(order: 42)),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func widget(_ client: PushClient) async throws {
        // Example: Widget
        try await client.send(
            .widgets(priority: .immediate),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func control(_ client: PushClient) async throws {
        // Example: Control
        try await client.send(
            .controls(),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func complication(_ client: PushClient) async throws {
        // Example: Complication
        struct AppData: Encodable {
            var steps: Int
            var goal: Int
        }

        try await client.send(
            .complication(PushNotification.CustomData(AppData(steps: 8400, goal: 10000))),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func location(_ client: PushClient) async throws {
        // Example: Location
        struct AppData: Encodable {
            var query: String
        }

        try await client.send(
            .location(PushNotification.CustomData(AppData(query: "q-17"))),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func fileProvider(_ client: PushClient) async throws {
        // Example: File provider
        try await client.send(
            .fileProvider(containerIdentifier: "NSFileProviderWorkingSetContainerItemIdentifier"),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func mdm(_ client: PushClient) async throws {
        // Example: MDM
        try await client.send(
            .mdm(pushMagic: "5B1F7A10-0F29-4C0D-9F6C-8E0C6B2A1D11"),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.apple.mgmt.External.5b1f7a10"
        )
    }

    private static func call(_ client: PushClient) async throws {
        // Example: Call
        struct AppData: Encodable {
            var caller: String
            var handle: String
        }

        try await client.send(
            .voip(
                PushNotification.CustomData(AppData(caller: "Ada Lovelace", handle: "+44 20 7946 0000")),
                expiration: .attemptOnce
            ),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func pushToTalk(_ client: PushClient) async throws {
        // Example: Push to Talk
        struct AppData: Encodable {
            var activeSpeaker: String
        }

        try await client.send(
            .pushToTalk(
                PushNotification.CustomData(AppData(activeSpeaker: "Ada")),
                expiration: .attemptOnce
            ),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }
}

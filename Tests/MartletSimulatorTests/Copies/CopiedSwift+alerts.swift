// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet

/// The examples of alerts, and one that the library has no type for.
extension CopiedSwift {
    static let alerts: [CopiedSwift] = [
        CopiedSwift(
            "Alert",
            payload:
                #"{"aps":{"alert":{"title":"Order ready","body":"Table 7 is waiting."},"sound":"default","#
                + #""badge":1,"thread-id":"order-42"},"deepLink":"app://orders/42"}"#,
            copied: alert
        ),
        CopiedSwift(
            "Time-sensitive",
            payload:
                #"{"aps":{"alert":{"title":"Your courier is here"},"interruption-level":"time-sensitive","#
                + #""relevance-score":1}}"#,
            copied: timeSensitive
        ),
        CopiedSwift(
            "Critical",
            payload:
                #"{"aps":{"alert":{"title":"Smoke in the kitchen","body":"Leave the building."},"#
                + #""interruption-level":"critical","sound":{"critical":1,"name":"default","volume":0.8}}}"#,
            copied: critical
        ),
        CopiedSwift(
            "Passive",
            payload:
                #"{"aps":{"alert":{"title":"Weekly summary","body":"You saved 12 orders."},"#
                + #""interruption-level":"passive"}}"#,
            copied: passive
        ),
        CopiedSwift(
            "Localized",
            payload:
                #"{"aps":{"alert":{"title-loc-key":"ORDER_READY","title-loc-args":["42"],"#
                + #""loc-key":"TABLE_WAITS","loc-args":["7"]},"sound":"default"}}"#,
            copied: localized
        ),
        CopiedSwift(
            "Attachment",
            payload:
                #"{"aps":{"alert":{"title":"Photo of your parcel","body":"It is at the door."},"#
                + #""mutable-content":1,"sound":"default"},"imageURL":"https://example.com/parcel.jpg"}"#,
            copied: attachment
        ),
        CopiedSwift(
            "Actions",
            payload:
                #"{"aps":{"alert":{"title":"Table for four at 7 pm?","body":"Ada invites you."},"#
                + #""category":"INVITATION","sound":"default"},"invitation":"i-17"}"#,
            copied: actions
        ),
        CopiedSwift(
            "Badge",
            payload: #"{"aps":{"badge":3}}"#,
            copied: badge
        ),
        CopiedSwift(
            "Without a type",
            payload: #"{"aps":{"alert":"Hi"},"note":null}"#,
            copied: withoutAType
        ),
    ]

    private static func alert(_ client: PushClient) async throws {
        // Example: Alert
        struct AppData: Encodable {
            var deepLink: String
        }

        try await client.send(
            .alert(
                PushNotification.Alert(title: "Order ready", body: "Table 7 is waiting."),
                sound: .default,
                badge: 1,
                threadID: "order-42",
                custom: AppData(deepLink: "app://orders/42")
            ),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func timeSensitive(_ client: PushClient) async throws {
        // Example: Time-sensitive
        try await client.send(
            .alert(
                PushNotification.Alert(title: "Your courier is here"),
                interruptionLevel: .timeSensitive,
                relevanceScore: 1
            ),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func critical(_ client: PushClient) async throws {
        // Example: Critical
        try await client.send(
            .alert(
                PushNotification.Alert(title: "Smoke in the kitchen", body: "Leave the building."),
                sound: .critical(name: "default", volume: 0.8),
                interruptionLevel: .critical
            ),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func passive(_ client: PushClient) async throws {
        // Example: Passive
        try await client.send(
            .alert(
                PushNotification.Alert(title: "Weekly summary", body: "You saved 12 orders."),
                interruptionLevel: .passive
            ),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func localized(_ client: PushClient) async throws {
        // Example: Localized
        try await client.send(
            .alert(
                PushNotification.Alert(
                    titleLocalizationKey: "ORDER_READY",
                    titleLocalizationArguments: ["42"],
                    localizationKey: "TABLE_WAITS",
                    localizationArguments: ["7"]
                ),
                sound: .default
            ),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func attachment(_ client: PushClient) async throws {
        // Example: Attachment
        struct AppData: Encodable {
            var imageURL: String
        }

        try await client.send(
            .alert(
                PushNotification.Alert(title: "Photo of your parcel", body: "It is at the door."),
                sound: .default,
                mutableContent: true,
                custom: AppData(imageURL: "https://example.com/parcel.jpg")
            ),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func actions(_ client: PushClient) async throws {
        // Example: Actions
        struct AppData: Encodable {
            var invitation: String
        }

        try await client.send(
            .alert(
                PushNotification.Alert(title: "Table for four at 7 pm?", body: "Ada invites you."),
                sound: .default,
                category: "INVITATION",
                custom: AppData(invitation: "i-17")
            ),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func badge(_ client: PushClient) async throws {
        // Example: Badge
        try await client.send(
            .alert(nil, badge: 3),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }

    private static func withoutAType(_ client: PushClient) async throws {
        // Example: Without a type
        let payload = #"""
            {"aps":{"alert":"Hi"},"note":null}
            """#

        try await client.send(
            .opaque(payload.utf8, pushType: PushType(rawValue: "alert"), priority: .immediate),
            to: DeviceToken(hex: "5d3a6a1c8f9a42d6"),
            topic: "com.example.app"
        )
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import Testing

@Suite struct RequestDescriptionTests {
    private let client: PushClient

    init() throws {
        client = try PushClient(.production, authentication: .token(.ephemeral()))
    }

    @Test func `a push is described as it would be sent, without a connection`() throws {
        let id = try APNsID("123e4567-e89b-12d3-a456-4266554400a0")
        let description = try client.describe(
            .alert(
                "Hi",
                custom: PushNotification.CustomData(["n": 1]),
                expiration: .attemptOnce,
                collapseID: CollapseID("c"),
                id: id
            ),
            to: DeviceToken(hex: "5D3A"),
            topic: "com.example.app"
        )
        #expect(
            description.fields.map { "\($0.name): \($0.value)" } == [
                ":method: POST", ":scheme: https", ":authority: api.push.apple.com", ":path: /3/device/5d3a",
                "apns-id: 123e4567-e89b-12d3-a456-4266554400a0", "apns-push-type: alert",
                "apns-topic: com.example.app", "apns-priority: 10", "apns-expiration: 0", "apns-collapse-id: c",
            ]
        )
        #expect(String(decoding: description.body, as: UTF8.self) == #"{"aps":{"alert":{"body":"Hi"}},"n":1}"#)
        #expect(
            description.parts.map { "\($0.pointer) \($0.byteCount)" } == ["/aps/alert 21", "/n 5"],
            "\(description.parts)"
        )
        #expect(description.bytesLeft == 4_096 - 37)
        #expect(description.findings.isEmpty)
    }

    @Test func `a description has the findings of the push`() throws {
        let payload = Array(#"{"aps":{"alert":"Hi","Badge":1}}"#.utf8)
        let description = try client.describe(
            .opaque(payload, pushType: .background, priority: .immediate),
            to: DeviceToken(hex: "5d3a"),
            topic: "com.example.app"
        )
        let rules = Set(description.findings.map(\.rule))
        #expect(rules.isSuperset(of: ["background-priority-immediate", "aps-key-unknown", "background-with-alert"]))
        #expect("\(description)".hasPrefix("background of \(payload.count) bytes\n"))
        #expect(!"\(description)".contains("5d3a"))
        #expect("\(description.findings)".contains("payload/aps/Badge: "))
    }

    @Test func `special characters are escaped in pointers`() throws {
        let description = try client.describe(
            .opaque(Array(#"{"aps":{"a/b":1},"c~d":2}"#.utf8), pushType: .alert),
            to: DeviceToken(hex: "5d3a"),
            topic: "com.example.app"
        )
        #expect(description.parts.map(\.pointer) == ["/aps/a~1b", "/c~0d"])
    }

    @Test func `a broadcast is described, too`() throws {
        let broadcast = try LiveActivityBroadcast(
            .update(["a": 1]),
            on: "YQ==",
            of: "com.example.app",
            timestamp: Date(timeIntervalSince1970: 7)
        )
        let description = client.describe(broadcast)
        #expect(description.path == "/4/broadcasts/apps/com.example.app")
        #expect(
            description.fields.map(\.name).suffix(5) == [
                "apns-request-id", "apns-channel-id", "apns-push-type", "apns-priority", "apns-expiration",
            ]
        )
        #expect(description.bodyLimit == 5_120)
    }

    @Test(arguments: [
        (PushClient.Channels.Request.create(storing: .mostRecent), "POST", "/1/apps/com.example.app/channels", nil),
        (.read("YQ=="), "GET", "/1/apps/com.example.app/channels", "YQ=="),
        (.delete("YQ=="), "DELETE", "/1/apps/com.example.app/channels", "YQ=="),
        (.list, "GET", "/1/apps/com.example.app/all-channels", nil),
    ])
    func `a request about channels is described for the host where they are managed`(
        request: PushClient.Channels.Request,
        method: String,
        path: String,
        channel: String?
    ) {
        let description = client.channels(of: "com.example.app").describe(request)
        let fields = Dictionary(uniqueKeysWithValues: description.fields.map { ($0.name, $0.value) })
        #expect(fields[":method"] == method)
        #expect(description.path == path)
        #expect(fields["apns-channel-id"] == channel)
        #expect(fields[":authority"] == "api-manage-broadcast.push.apple.com:2196")
        #expect(description.body.isEmpty == (method != "POST"))
        #expect(description.bytesLeft == nil)
    }
}

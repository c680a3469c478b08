// SPDX-License-Identifier: Apache-2.0

import MartletCore

/// Broadcasts and requests about channels.
extension ConformanceTests {
    static let broadcastFields: [String: String?] = [
        "apns-channel-id": "CHANNEL", "apns-push-type": "liveactivity", "apns-priority": "5", "apns-expiration": "0",
    ]

    private static func broadcast(
        _ name: String,
        _ reason: APNsReason?,
        path: String = broadcastPath,
        _ changes: [String: String?] = [:],
        moreFields: [(String, String)] = [],
        payload: String = #"{"aps":{"event":"update"}}"#
    ) -> Case {
        let fields = broadcastFields.merging(changes) { $1 }
        return Case(
            testDescription: "a broadcast with " + name,
            path: path,
            fields: fields,
            moreFields: moreFields,
            payload: payload,
            status: reason.map { $0.status ?? 0 } ?? 200,
            reason: reason
        )
    }

    /// `DuplicateHeaders` is an answer to pushes to devices only.
    private static let repeatedBroadcastFields: [Case] =
        [
            ("authorization", "bearer a.b.c", .invalidProviderToken), ("apns-channel-id", "YQ==", .badChannelID),
            ("apns-push-type", "liveactivity", .invalidPushType), ("apns-expiration", "0", .badExpirationDate),
            ("apns-priority", "5", .badPriority),
        ].map { (name: String, value: String, reason: APNsReason) in
            broadcast("\(name) twice", reason, [name: value], moreFields: [(name, value)])
        } + [
            broadcast(
                "a topic twice, which it does not need",
                nil,
                ["apns-topic": "a"],
                moreFields: [("apns-topic", "b")]
            )
        ]

    static let broadcasts: [Case] =
        repeatedBroadcastFields + [
            broadcast("everything", nil),
            broadcast("its type as on another page", nil, ["apns-push-type": "LiveActivity"]),
            broadcast("5120 bytes", nil, payload: payload(byteCount: 5_120)),
            broadcast("5121 bytes", .payloadTooLarge, payload: payload(byteCount: 5_121)),
            broadcast("no channel", .missingChannelID, ["apns-channel-id": nil]),
            broadcast("a channel that is no base64", .badChannelID, ["apns-channel-id": "%%"]),
            broadcast("a channel nobody made", .channelNotRegistered, ["apns-channel-id": "AAAA"]),
            broadcast("a channel without padding", .badChannelID, ["apns-channel-id": "abc"]),
            broadcast("a channel with padding inside", .badChannelID, ["apns-channel-id": "a=bc"]),
            broadcast("a channel of padding", .badChannelID, ["apns-channel-id": "===="]),
            broadcast("a channel with padding nobody made", .channelNotRegistered, ["apns-channel-id": "AA=="]),
            broadcast("an upper-case identifier", nil, ["apns-request-id": "123E4567-E89B-12D3-A456-4266554400A0"]),
            broadcast("no type", .missingPushType, ["apns-push-type": nil]),
            broadcast("another type", .invalidPushType, ["apns-push-type": "alert"]),
            broadcast("no priority", .badPriority, ["apns-priority": nil]),
            broadcast("priority 3", .badPriority, ["apns-priority": "3"]),
            broadcast("no expiration", .badExpirationDate, ["apns-expiration": nil]),
            broadcast(
                "an expiration that nothing is stored for",
                .badExpirationDate,
                ["apns-expiration": "1790003600"]
            ),
            broadcast("no payload", .payloadEmpty, payload: ""),
            broadcast("a list", .badRequestPayload, payload: "[]"),
            broadcast("an identifier that is none", .badMessageID, ["apns-request-id": "7"]),
            broadcast("an app that is no bundle identifier", .badPath, path: "/4/broadcasts/apps/com%20example"),
            broadcast("a suffix on its app", .topicDisallowed, path: broadcastPath + ".push-type.liveactivity"),
        ]

    private static func channel(
        _ name: String,
        _ answer: Int,
        _ reason: APNsReason? = nil,
        method: String = "POST",
        path: String = channelsPath,
        fields: [String: String?] = [:],
        payload: String = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
    ) -> Case {
        Case(
            testDescription: "channels: " + name,
            path: path,
            method: method,
            fields: fields,
            payload: method == "POST" ? payload : "",
            status: answer,
            reason: reason
        )
    }

    static let channels: [Case] = [
        channel("made", 201),
        channel("made to store", 201, payload: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#),
        channel("made without a policy", 400, .badRequestParams, payload: #"{"push-type":"LiveActivity"}"#),
        channel(
            "made with policy 2",
            400,
            .badRequestParams,
            payload: #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#
        ),
        channel("made without a type", 400, .missingPushType, payload: #"{"message-storage-policy":0}"#),
        channel(
            "made for alerts",
            400,
            .invalidPushType,
            payload: #"{"message-storage-policy":0,"push-type":"alert"}"#
        ),
        channel(
            "made with more",
            400,
            .badRequestParams,
            payload: #"{"message-storage-policy":0,"push-type":"LiveActivity","name":"x"}"#
        ),
        channel("made of nothing", 400, .badRequestPayload, payload: ""),
        channel("read", 200, method: "GET", fields: ["apns-channel-id": "CHANNEL"]),
        channel(
            "made for what is no bundle identifier",
            404,
            .badPath,
            path: "/1/apps/com..example/channels"
        ),
        channel("read without a name", 400, .missingChannelID, method: "GET"),
        channel("read by a wrong name", 400, .channelNotRegistered, method: "GET", fields: ["apns-channel-id": "AAAA"]),
        channel("deleted", 204, method: "DELETE", fields: ["apns-channel-id": "CHANNEL"]),
        channel("deleted without a name", 400, .missingChannelID, method: "DELETE"),
        channel("deleted by what is no name", 400, .badChannelID, method: "DELETE", fields: ["apns-channel-id": "%"]),
        channel("listed", 200, method: "GET", path: allChannelsPath),
        Case(
            testDescription: "channels: listed with a priority twice, which is not read",
            path: allChannelsPath,
            method: "GET",
            fields: ["apns-priority": "5"],
            moreFields: [("apns-priority", "5")],
            payload: ""
        ),
    ]
}

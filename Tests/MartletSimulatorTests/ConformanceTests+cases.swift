// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore

extension ConformanceTests {
    static let cases: [Case] =
        good + paths + methods + tokens + types + sizes + sizesByTopic + priorities + expirations + identifiers + topics
        + collapses
        + duplicates + payloads + devices + broadcasts + channels

    static let broadcastPath = "/4/broadcasts/apps/com.example.app"
    static let channelsPath = "/1/apps/com.example.app/channels"
    static let allChannelsPath = "/1/apps/com.example.app/all-channels"

    private static func refused(
        _ name: String,
        _ reason: APNsReason,
        path: String = "/3/device/5d3a6a1c8f9a42d6",
        method: String = "POST",
        fields: [String: String?] = [:],
        moreFields: [(String, String)] = [],
        payload: String = #"{"aps":{"alert":"Hello"}}"#
    ) -> Case {
        Case(
            testDescription: name,
            path: path,
            method: method,
            fields: fields,
            moreFields: moreFields,
            payload: payload,
            status: reason.status ?? 0,
            reason: reason
        )
    }

    private static func accepted(
        _ name: String,
        fields: [String: String?] = [:],
        payload: String = #"{"aps":{"alert":"Hello"}}"#
    ) -> Case {
        Case(testDescription: name, fields: fields, payload: payload)
    }

    /// A payload of exactly this many bytes.
    static func payload(byteCount: Int) -> String {
        let frame = #"{"aps":{"alert":""}}"#
        return #"{"aps":{"alert":""# + String(repeating: "x", count: byteCount - frame.utf8.count) + #""}}"#
    }

    private static let good = [
        accepted("a good push"), accepted("no type", fields: ["apns-push-type": nil]),
        accepted("an unknown field of another kind", fields: ["x-trace": "1"]),
    ]

    private static let paths =
        ([
            "/", "/3", "/3/devices/5d3a", "/2/device/5d3a", "/3/device/5d3a/", "/3/device/5d3a/more", "3/device/5d3a",
            "/4/broadcasts", "/4/broadcasts/apps", "/1/apps/com.example.app", "/1/apps/com.example.app/channel", "*",
            "/3/Device/5d3a", "//3/device/5d3a",
            "/4/broadcasts/apps/", "/4/broadcasts/apps/com.example.app/", "/1/apps//channels", "/1/apps//all-channels",
            "/1/apps/com.example.app/channels/", "/4/broadcasts/apps/com.example.app?x=1",
        ] as [String]).map { refused("the path \($0)", .badPath, path: $0, fields: broadcastFields) }

    private static let methods =
        (["GET", "PUT", "DELETE", "HEAD", "PATCH", "post"] as [String]).map {
            refused("\($0) to a device", .methodNotAllowed, method: $0)
        }
        + (["GET", "PUT", "DELETE"] as [String]).map {
            refused("\($0) of a broadcast", .badPath, path: broadcastPath, method: $0)
        }
        + (["PUT", "PATCH"] as [String]).map { refused("\($0) of channels", .badPath, path: channelsPath, method: $0) }
        + (["POST", "DELETE"] as [String]).map {
            refused("\($0) of all channels", .badPath, path: allChannelsPath, method: $0)
        }

    private static let tokens: [Case] = {
        let other = try? SigningKey.ephemeral(keyID: "KEY0000001", teamID: "TEAM000001")
        let unknown = try? SigningKey.ephemeral(keyID: "KEY0000002", teamID: "TEAM000001")
        let good = Bench.authorization()
        let parts = good.split(separator: ".").map(String.init)
        let bad: [(String, String)] = [
            ("no JWT", "bearer abc"), ("two parts", "bearer a.b"), ("four parts", good + ".x"),
            ("another scheme", "basic abc"),
            ("no scheme", String(good.dropFirst(7))), ("a signature of another key", Bench.authorization(of: other)),
            ("a key nobody knows", Bench.authorization(of: unknown)),
            ("a signature that is cut off", String(good.dropLast(8))),
            ("claims of another token", parts.count == 3 ? parts[0] + ".e30." + parts[2] : ""),
            ("a time 60:01 ahead", Bench.authorization(age: -3_601)),
        ]
        return bad.map { refused("as token \($0)", .invalidProviderToken, fields: ["authorization": $1]) } + [
            refused("no token", .missingProviderToken, fields: ["authorization": nil]),
            refused("an empty authorization", .missingProviderToken, fields: ["authorization": ""]),
            refused("a scheme without a token", .missingProviderToken, fields: ["authorization": "bearer"]),
            refused("a scheme and a space", .missingProviderToken, fields: ["authorization": "Bearer "]),
            refused(
                "no token for a broadcast",
                .missingProviderToken,
                path: broadcastPath,
                fields: ["authorization": nil]
            ),
            refused("no token for channels", .missingProviderToken, path: channelsPath, fields: ["authorization": nil]),
            accepted("a token 5:01 ahead", fields: ["authorization": Bench.authorization(age: -301)]),
            accepted("a token 60:00 ahead", fields: ["authorization": Bench.authorization(age: -3_600)]),
            accepted("a token of 59:59", fields: ["authorization": Bench.authorization(age: 3_599)]),
            accepted("a token of 60:00", fields: ["authorization": Bench.authorization(age: 3_600)]),
            refused(
                "a token of 60:01",
                .expiredProviderToken,
                fields: ["authorization": Bench.authorization(age: 3_601)]
            ),
            accepted("the scheme in capitals", fields: ["authorization": "BEARER " + good.dropFirst(7)]),
        ]
    }()

    private static func fields(of type: PushType, topic: String? = nil) -> [String: String?] {
        let app = type == .mdm ? "com.apple.mgmt.External.1b2c" : "com.example.app" + type.topicSuffix
        return [
            "apns-push-type": type.rawValue, "apns-topic": topic ?? app,
            "apns-priority": type == .background ? "5" : nil,
        ]
    }

    private static let types: [Case] =
        PushType.all.map { accepted("type \($0.rawValue)", fields: fields(of: $0)) }
        + PushType.all.filter { !$0.topicSuffix.isEmpty }.map {
            refused(
                "type \($0.rawValue) without its suffix",
                .topicDisallowed,
                fields: fields(of: $0, topic: "com.example.app")
            )
        }
        + [PushType.alert, .background].flatMap { type in
            ([".push-type.liveactivity", ".voip-ptt", ".location-query"] as [String]).map {
                refused(
                    "type \(type.rawValue) with \($0)",
                    .topicDisallowed,
                    fields: fields(of: type, topic: "com.example.app" + $0)
                )
            }
        }
        + [
            refused(
                "type mdm with the topic of an app",
                .topicDisallowed,
                fields: fields(of: .mdm, topic: "com.example.app")
            )
        ]
        + (["loud", "Alert", "", " alert", "live-activity", "LiveActivity"] as [String]).map {
            refused("the type \"\($0)\"", .invalidPushType, fields: ["apns-push-type": $0])
        }

    private static let sizes: [Case] = PushType.all.flatMap { type in
        let limit = type == .voip ? 5_120 : 4_096
        return [
            accepted(
                "\(limit) bytes of \(type.rawValue)",
                fields: fields(of: type),
                payload: payload(byteCount: limit)
            ),
            refused(
                "\(limit + 1) bytes of \(type.rawValue)",
                .payloadTooLarge,
                fields: fields(of: type),
                payload: payload(byteCount: limit + 1)
            ),
        ]
    }

    /// Without a push type the suffix of the topic decides.
    private static let sizesByTopic: [Case] = [
        accepted(
            "5120 bytes to a VoIP topic",
            fields: ["apns-push-type": nil, "apns-topic": "com.example.app.voip"],
            payload: payload(byteCount: 5_120)
        ),
        refused(
            "5121 bytes to a VoIP topic",
            .payloadTooLarge,
            fields: ["apns-push-type": nil, "apns-topic": "com.example.app.voip"],
            payload: payload(byteCount: 5_121)
        ),
        refused(
            "4097 bytes to a topic without a suffix",
            .payloadTooLarge,
            fields: ["apns-push-type": nil],
            payload: payload(byteCount: 4_097)
        ),
    ]

    private static let priorities: [Case] =
        (["10", "5", "1"] as [String]).map { accepted("priority \($0)", fields: ["apns-priority": $0]) }
        + (["0", "2", "7", "11", "-1", "05", "10.0", "ten", "", " 5", "99999999999999999999"] as [String]).map {
            refused("priority \"\($0)\"", .badPriority, fields: ["apns-priority": $0])
        } + [
            refused(
                "background with priority 10",
                .badPriority,
                fields: ["apns-push-type": "background", "apns-priority": "10"]
            ),
            accepted("background with priority 1", fields: ["apns-push-type": "background", "apns-priority": "1"]),
        ]

    private static let expirations: [Case] =
        (["0", "1", "1790000000", "9223372036854775807"] as [String]).map {
            accepted("expiration \($0)", fields: ["apns-expiration": $0])
        }
        + ([
            "-1", "+5", "+0", "-0", "1.5", "tomorrow", "", " 0", "9223372036854775808", "2026-05-12T18:31Z",
        ] as [String]).map {
            refused("expiration \"\($0)\"", .badExpirationDate, fields: ["apns-expiration": $0])
        }

    private static let identifiers: [Case] =
        [
            accepted("an identifier", fields: ["apns-id": "123e4567-e89b-12d3-a456-4266554400a0"]),
            accepted("a request identifier, which it does not need", fields: ["apns-request-id": "7"]),
            accepted("an upper-case identifier", fields: ["apns-id": "123E4567-E89B-12D3-A456-4266554400A0"]),
        ]
        + ([
            "42", "", "123E4567E89B12D3A4564266554400A0", "123e4567e89b12d3a4564266554400a0",
            "{123e4567-e89b-12d3-a456-4266554400a0}", "123e4567-e89b-12d3-a456-4266554400a",
            "123e4567-e89b-12d3-a456-4266554400a00", "123e4567-e89b-12d3-a4564-266554400a0",
            "123e4567-e89b-12d3-a456-4266554400ag", "123e4567-e89b-12d3-a456_4266554400a0",
        ] as [String]).map { refused("the identifier \"\($0)\"", .badMessageID, fields: ["apns-id": $0]) }

    private static let topics: [Case] =
        ([
            "com.example.app/foo", "com.example.app?", "com.example.app:443", ".", "-", "....", ".com.example",
            "com..example",
            "com.example.", "com.example.app,other", "com.example.%61pp",
        ] as [String]).map { refused("the topic \($0)", .badTopic, fields: ["apns-topic": $0]) }
        + (["com.example.app", "com.Example-2.app", "app", "web.com.example", "pass.com.example.card"] as [String]).map
    {
        accepted("the topic \($0)", fields: ["apns-topic": $0])
    }
        + moreTopics

    private static let moreTopics: [Case] = [
        refused(
            "a topic that is a suffix alone",
            .badTopic,
            fields: ["apns-push-type": "voip", "apns-topic": ".voip"]
        ),
        refused("no topic", .missingTopic, fields: ["apns-topic": nil]),
        refused("an empty topic", .missingTopic, fields: ["apns-topic": ""]),
        refused("a topic with a space", .badTopic, fields: ["apns-topic": "com.example app"]),
        refused("a topic beyond ASCII", .badTopic, fields: ["apns-topic": "com.example.äpp"]),
    ]

    private static let collapses: [Case] = [
        accepted("64 bytes of collapse id", fields: ["apns-collapse-id": String(repeating: "c", count: 64)]),
        accepted("16 birds as collapse id", fields: ["apns-collapse-id": String(repeating: "🐦", count: 16)]),
        refused(
            "65 bytes of collapse id",
            .badCollapseID,
            fields: ["apns-collapse-id": String(repeating: "c", count: 65)]
        ),
        refused(
            "17 birds as collapse id",
            .badCollapseID,
            fields: ["apns-collapse-id": String(repeating: "🐦", count: 17)]
        ),
        refused(
            "63 bytes and an umlaut as collapse id",
            .badCollapseID,
            fields: ["apns-collapse-id": String(repeating: "c", count: 63) + "ä"]
        ),
    ]

    private static let duplicates: [Case] = [
        ("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10"),
        ("apns-expiration", "0"),
        ("apns-id", "123e4567-e89b-12d3-a456-4266554400a0"), ("apns-collapse-id", "c"),
        ("authorization", "bearer a.b.c"),
    ].map { name, value in
        refused("\(name) twice", .duplicateHeaders, fields: [name: value], moreFields: [(name, value)])
    }

    private static let payloads: [Case] =
        [refused("no payload", .payloadEmpty, payload: "")]
        + ["{", "[]", "null", "1", #""text""#, "{}x", #"{"aps":}"#, #"{"a":"\u{1}"}"#, "hello", "\u{FEFF}{}"].map {
            refused("the payload \($0)", .badRequestPayload, payload: $0)
        } + [
            accepted("an empty object", payload: "{}"), accepted("white space around", payload: " {} \n"),
            accepted("half a surrogate pair", payload: #"{"aps":{"alert":"\ud83d"}}"#),
        ]

    private static let devices: [Case] = [
        refused("no device", .missingDeviceToken, path: "/3/device/"),
        refused("no device and no slash", .missingDeviceToken, path: "/3/device"),
        refused("513 bytes of device", .badDeviceToken, path: "/3/device/" + String(repeating: "5d", count: 513)),
        Case(testDescription: "512 bytes of device", path: "/3/device/" + String(repeating: "5d", count: 512)),
        refused("letters for a device", .badDeviceToken, path: "/3/device/martlet"),
        refused("half a byte of device", .badDeviceToken, path: "/3/device/5d3"),
        refused("a device with a question", .badDeviceToken, path: "/3/device/5d3a?x=1"),
        refused("a device of the other environment", .badDeviceToken, path: "/3/device/a1b2"),
        refused("a device of another app", .deviceTokenNotForTopic, path: "/3/device/0f1e"),
        refused("a device that has gone", .unregistered, path: "/3/device/dead"),
    ]
}

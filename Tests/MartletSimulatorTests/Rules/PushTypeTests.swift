// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import Testing

/// Every kind of push as it comes out at the other end, header by header.
@Suite(.timeLimit(.minutes(10))) struct PushTypeTests {
    /// The expected headers and payload of a push.
    struct Expectation: Sendable, CustomTestStringConvertible {
        var notification: PushNotification
        var type: String?
        var topic: String
        var priority: String?
        var expiration: String?
        var payload: String

        var testDescription: String { type ?? topic }

        init(
            _ notification: PushNotification,
            _ type: String?,
            _ topic: String,
            priority: String?,
            expiration: String? = nil,
            _ payload: String
        ) {
            self.notification = notification
            self.type = type
            self.topic = topic
            self.priority = priority
            self.expiration = expiration
            self.payload = payload
        }
    }

    private static func expectations() throws -> [Expectation] {
        let app = "com.example.app"
        let data = try PushNotification.CustomData(json: Array(#"{"n":1}"#.utf8))
        let state = ["minutesLeft": 5]
        return [
            Expectation(.alert("Hi"), "alert", app, priority: "10", #"{"aps":{"alert":{"body":"Hi"}}}"#),
            Expectation(
                .background(custom: data),
                "background",
                app,
                priority: "5",
                #"{"aps":{"content-available":1},"n":1}"#
            ),
            Expectation(.voip(data), "voip", app + ".voip", priority: "10", expiration: "0", #"{"n":1}"#),
            Expectation(
                .pushToTalk(data),
                "pushtotalk",
                app + ".voip-ptt",
                priority: "10",
                expiration: "0",
                #"{"n":1}"#
            ),
            Expectation(
                .pushToTalkServiceUpdate(data),
                "pushtotalk",
                app + ".voip-ptt",
                priority: "10",
                expiration: "0",
                #"{"aps":{"ptt-push-type":"service-update"},"n":1}"#
            ),
            Expectation(.complication(data), "complication", app + ".complication", priority: "10", #"{"n":1}"#),
            Expectation(.location(), "location", app + ".location-query", priority: "10", "{}"),
            Expectation(
                .fileProvider(domain: "home"),
                "fileprovider",
                app + ".pushkit.fileprovider",
                priority: "10",
                #"{"container-identifier":"NSFileProviderWorkingSetContainerItemIdentifier","domain":"home"}"#
            ),
            Expectation(
                .widgets(),
                "widgets",
                app + ".push-type.widgets",
                priority: "5",
                #"{"aps":{"content-changed":true}}"#
            ),
            Expectation(
                .controls(),
                "controls",
                app + ".push-type.controls",
                priority: "10",
                #"{"aps":{"content-changed":true}}"#
            ),
            Expectation(
                .accessory(
                    encryptedData: Array("encrypted".utf8),
                    sessionIdentifier: "session-1",
                    keyID: Array("key".utf8),
                    messageIndex: .max
                ),
                "accessory",
                app + ".push-type.accessory",
                priority: nil,
                #"{"aps":{"encryptedData":"ZW5jcnlwdGVk","sessionIdentifier":"session-1","keyID":"a2V5","#
                    + #""messageIndex":"18446744073709551615"}}"#
            ),
            Expectation(
                .mdm(pushMagic: "M-1"),
                "mdm",
                "com.apple.mgmt.External.1b2c",
                priority: "10",
                #"{"mdm":"M-1"}"#
            ),
            Expectation(.walletPass(), nil, app, priority: nil, "{}"),
            Expectation(
                .safari(title: "News", body: "Read", action: "Open", urlArguments: ["a", "b"]),
                nil,
                app,
                priority: nil,
                #"{"aps":{"alert":{"title":"News","body":"Read","action":"Open"},"url-args":["a","b"]}}"#
            ),
            Expectation(
                try .liveActivity(.update(state), timestamp: Date(timeIntervalSince1970: 7)),
                "liveactivity",
                app + ".push-type.liveactivity",
                priority: "5",
                #"{"aps":{"timestamp":7,"event":"update","content-state":{"minutesLeft":5}}}"#
            ),
            Expectation(
                try .liveActivity(
                    .end(dismissal: .immediate),
                    timestamp: Date(timeIntervalSince1970: 8),
                    priority: .immediate
                ),
                "liveactivity",
                app + ".push-type.liveactivity",
                priority: "10",
                #"{"aps":{"timestamp":8,"event":"end","dismissal-date":1}}"#
            ),
        ]
    }

    @Test func `a push of each type has the documented headers and is accepted`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
        for expected in try Self.expectations() {
            let topic: Topic = expected.type == "mdm" ? Topic(expected.topic) : "com.example.app"
            let token = expected.type == "liveactivity" ? "a1b2c3d4" : "5d3a6a1c"
            try await client.send(expected.notification, to: DeviceToken(hex: token), topic: topic)
            let push = try #require(await apns.pushes.last)
            #expect(push.headers.pushType == expected.type)
            #expect(push.headers.topic == expected.topic)
            #expect(push.headers.priority == expected.priority, "\(expected.testDescription)")
            #expect(push.headers.expiration == expected.expiration)
            #expect(String(decoding: push.payload, as: UTF8.self) == expected.payload)
            let rules = expected.type == "mdm" ? ["mdm-without-certificate"] : []
            #expect(push.findings.map(\.rule) == rules, "\(expected.testDescription): \(push.findings)")
        }
        let known = Set(PushType.all.map(\.rawValue))
        #expect(Set(await apns.pushes.compactMap(\.headers.pushType)) == known, "one of each")
        await client.close()
        await apns.stop()
    }

    @Test func `the timestamps of pushes to one activity increase`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
        let activity = try DeviceToken(hex: "ac71")
        for minutes in 0..<5 {
            try await client.send(.update(["minutesLeft": minutes]), toActivity: activity, topic: "com.example.app")
        }
        let times = try await apns.pushes.map {
            try #require(try JSONReader.read($0.payload)["aps"]?["timestamp"]?.integerValue)
        }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        await client.close()
        await apns.stop()
    }
}

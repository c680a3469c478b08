// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// Broadcasts and channels, through the client and as curl sends them.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ChannelTests {
    private let app: Topic = "com.example.app"

    /// A simulator with a client that talks to it.
    private struct Bench {
        let apns: SimulatedAPNs
        let client: PushClient

        init(checksBeforeSending: Bool = true) async throws {
            apns = try await SimulatedAPNs.start()
            var configuration = apns.clientConfiguration
            configuration.checksBeforeSending = checksBeforeSending
            client = try PushClient(
                await apns.endpoint,
                authentication: .token(.ephemeral()),
                configuration: configuration
            )
        }

        func stop() async {
            await client.close()
            await apns.stop()
        }
    }

    @Test func `the channel port serves requests about channels only`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(channelPort: 0, isEncrypted: false))
        let endpoint = await apns.endpoint
        let client = try PushClient(endpoint, authentication: .token(.ephemeral()))
        let channel = try await client.channels(of: app).create()
        #expect(try await client.channels(of: app).list() == [channel])
        let address = try #require(endpoint.channels)
        #expect(address.port != endpoint.port)
        let lost = try PushClient(
            APNsEndpoint(host: address.host, port: address.port, isEncrypted: false),
            authentication: .token(.ephemeral())
        )
        let error = await #expect(throws: APNsError.self) {
            try await lost.send(.alert("Hi"), to: DeviceToken(hex: "5d3a"), topic: app)
        }
        #expect(error?.reason == .badPath)
        await lost.close()
        await client.close()
        await apns.stop()
    }

    @Test func `a channel is created, read, listed and deleted`() async throws {
        let bench = try await Bench()
        let channels = bench.client.channels(of: app)
        #expect(try await channels.list().isEmpty)
        let quiet = try await channels.create()
        let stored = try await channels.create(storing: .mostRecent)
        #expect(try await channels.storage(of: quiet) == .nothing)
        #expect(try await channels.storage(of: stored) == .mostRecent)
        #expect(Set(try await channels.list()) == [quiet, stored])
        #expect(try await bench.client.channels(of: "com.example.other").list().isEmpty)
        try await channels.delete(quiet)
        try await channels.delete(quiet)
        #expect(try await channels.list() == [stored])
        let error = await #expect(throws: APNsError.self) { try await channels.storage(of: quiet) }
        #expect(error?.reason == .channelNotRegistered)
        #expect(await bench.apns.pushes.isEmpty, "requests about channels are no pushes")
        await bench.stop()
    }

    @Test func `a broadcast has the required headers and increasing timestamps`() async throws {
        let bench = try await Bench()
        let channel = try await bench.client.channels(of: app).create(storing: .mostRecent)
        for score in [3, 4] {
            try await bench.client.broadcast(
                .update(["score": score]),
                to: channel,
                topic: app,
                priority: .immediate,
                expiration: PushNotification.Expiration(secondsSince1970: 1_900_000_000)
            )
        }
        try await bench.client.broadcast(.end(dismissal: .immediate), to: channel, topic: app)
        let pushes = await bench.apns.pushes
        #expect(pushes.map(\.status) == [200, 200, 200])
        for push in pushes {
            #expect(push.json["apns-request-id"]?.stringValue == push.id && push.json["apns-id"] == nil)
            #expect(try ReceivedPush(record: push.record) == push, "an archive stores it")
            #expect(try ReceivedPush(record: push.json).id == push.id, "an export contains it")
        }
        #expect(pushes.allSatisfy { $0.channel == channel && $0.headers.pushType == "liveactivity" })
        #expect(pushes.allSatisfy { $0.headers.topic == nil && $0.headers.id == nil })
        #expect(pushes.map(\.headers.priority) == ["10", "10", "5"])
        #expect(pushes.map(\.priority) == [.immediate, .immediate, .powerAware])
        #expect(pushes.allSatisfy { $0.token == nil })
        #expect(pushes.map(\.headers.expiration) == ["1900000000", "1900000000", "0"])
        let times = try pushes.map { try JSONReader.read($0.payload)["aps"]?["timestamp"]?.integerValue ?? 0 }
        #expect(times == times.sorted() && Set(times).count == 3)
        await bench.stop()
    }

    @Test func `ten thousand channels can be created and listed, and no more`() async throws {
        let bench = try await Bench()
        let channels = bench.client.channels(of: app)
        try await withThrowingTaskGroup { group in
            for _ in 0..<PushLimits.channelCount { group.addTask { _ = try await channels.create() } }
            try await group.waitForAll()
        }
        #expect(Set(try await channels.list()).count == PushLimits.channelCount)
        let error = await #expect(throws: APNsError.self) { try await channels.create() }
        #expect(error?.reason == .cannotCreateChannelConfig)
        await bench.stop()
    }

    @Test func `a mistake has the same reason before sending and as an answer`() async throws {
        for checks in [true, false] {
            let bench = try await Bench(checksBeforeSending: checks)
            let channel = try await bench.client.channels(of: app).create()
            func reason(
                channel: ChannelID,
                app: Topic,
                payload: Int = 1,
                expiration: PushNotification.Expiration = .attemptOnce
            ) async
                -> APNsReason?
            {
                do {
                    let text = String(repeating: "x", count: payload)
                    let update = try LiveActivityUpdate.update(["text": text])
                    try await bench.client.broadcast(update, to: channel, topic: app, expiration: expiration)
                    return nil
                } catch {
                    return (error as? APNsError)?.reason
                }
            }
            #expect(await reason(channel: "not base64!", app: app) == .badChannelID)
            #expect(await reason(channel: "", app: app) == .missingChannelID)
            #expect(await reason(channel: channel, app: "com.example.app.push-type.liveactivity") == .topicDisallowed)
            #expect(await reason(channel: channel, app: app, payload: 5_200) == .payloadTooLarge)
            #expect(await reason(channel: channel, app: app, payload: 4_900) == nil)
            #expect(await reason(channel: "bm9uZQ==", app: app) == .channelNotRegistered)
            // Only APNs knows what the channel stores.
            let later = PushNotification.Expiration(secondsSince1970: 1_900_000_000)
            #expect(await reason(channel: channel, app: app, expiration: later) == .badExpirationDate)
            await bench.stop()
        }
    }

    /// Requests that no typed client sends.
    @Test(arguments: [
        ("POST", "/4/broadcasts/apps/com.example.app", [], "{}", "400", "MissingChannelId"),
        ("POST", "/4/broadcasts/apps/com.example.app", ["apns-channel-id: YQ=="], "{}", "400", "MissingPushType"),
        (
            "POST", "/4/broadcasts/apps/com.example.app", ["apns-channel-id: YQ==", "apns-push-type: alert"], "{}",
            "400", "InvalidPushType"
        ),
        (
            "POST", "/4/broadcasts/apps/com.example.app", ["apns-channel-id: YQ==", "apns-push-type: LiveActivity"],
            "{}", "400", "BadExpirationDate"
        ),
        ("GET", "/4/broadcasts/apps/com.example.app", [], "", "404", "BadPath"),
        ("PUT", "/1/apps/com.example.app/channels", [], "{}", "404", "BadPath"),
        ("POST", "/1/apps/com.example.app/channels", [], "[]", "400", "BadRequestPayload"),
        (
            "POST", "/1/apps/com.example.app/channels", [], #"{"push-type":"LiveActivity","color":1}"#, "400",
            "BadRequestParams"
        ),
        ("POST", "/1/apps/com.example.app/channels", [], #"{"message-storage-policy":0}"#, "400", "MissingPushType"),
        (
            "POST", "/1/apps/com.example.app/channels", [], #"{"message-storage-policy":0,"push-type":"alert"}"#,
            "400", "InvalidPushType"
        ),
        (
            "POST", "/1/apps/com.example.app/channels", [], #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#,
            "400", "BadRequestParams"
        ),
        ("GET", "/1/apps/com.example.app/channels", [], "", "400", "MissingChannelId"),
        ("DELETE", "/1/apps/com.example.app/channels", ["apns-channel-id: %"], "", "400", "BadChannelId"),
        ("GET", "/1/apps/com.example.app/all-channels", ["apns-request-id: 7"], "", "400", "BadMessageId"),
    ])
    func `a request has the status and reason of APNs`(
        method: String,
        path: String,
        fields: [String],
        body: String,
        status: String,
        reason: String
    ) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let token = try SigningKey.ephemeral().token(issuedAt: Date())
        let authorization = "authorization: bearer " + String(decoding: token, as: UTF8.self)
        let run = try await ProgramRun.curl(
            ["--http2-prior-knowledge", "--request", method, "--write-out", " %{http_code}"]
                + (fields + [authorization]).flatMap { ["-H", $0] } + (body.isEmpty ? [] : ["--data", body])
                + ["http://127.0.0.1:\(await apns.port)" + path]
        )
        #expect(run.text == #"{"reason":"\#(reason)"} \#(status)"#, "\(run.errorOutput)")
        await apns.stop()
    }
}

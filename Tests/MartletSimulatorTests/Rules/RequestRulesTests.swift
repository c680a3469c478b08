// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletServer
import MartletTransport
import TestSupport
import Testing

@testable import MartletSimulator

/// Findings and answers that depend on more than headers and payload of a push.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RequestRulesTests {
    /// Returns the response to curl with a provider token, including its header.
    private static func curl(
        _ path: String,
        port: UInt16,
        fields: [String],
        payload: String = #"{"aps":{"alert":"Hi"}}"#
    ) async throws -> String {
        let token = try SigningKey.ephemeral().token(issuedAt: .now)
        let authorization = "authorization: bearer " + String(decoding: token, as: UTF8.self)
        let run = try await ProgramRun.curl(
            ["--http2-prior-knowledge", "--include", "--data", payload]
                + (fields + [authorization]).flatMap { ["-H", $0] } + ["http://127.0.0.1:\(port)\(path)"]
        )
        return run.text
    }

    @Test func `a value in a header that may be a secret is not shown`() {
        #expect(RequestRules.compressed("gzip").message.hasPrefix("content-encoding is \"gzip\", and APNs"))
        #expect(RequestRules.compressed("mrt_short").message.hasPrefix("content-encoding is text of 9 characters ("))
        let method = RequestEvaluator.methodProblem("mrt_short", .device("5d3a"))
        #expect(method?.finding.message.contains("must be POST, not text of 9 characters (") == true)
    }

    private static let device = ["apns-topic: com.example.app", "apns-push-type: alert"]
    private static let broadcast = [
        "apns-channel-id: YQ==", "apns-push-type: liveactivity", "apns-priority: 5", "apns-expiration: 0",
    ]

    @Test(arguments: [
        ("/2/device/5d3a", device, "apns-id"), ("/4/broadcasts/apps/", broadcast, "apns-request-id"),
        ("/4/broadcasts/com.example.app", broadcast, "apns-request-id"),
        ("/1/apps/com.example.app/channel", [], "apns-request-id"), ("/1/apps//channels", [], "apns-request-id"),
    ])
    func `another path has one finding, and the identifier of its kind`(
        path: String,
        fields: [String],
        header: String
    ) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let id = "123e4567-e89b-12d3-a456-4266554400a0"
        let answer = try await Self.curl(path, port: port, fields: fields + ["\(header): \(id)"])
        #expect(answer.hasPrefix("HTTP/2 404 ") && answer.hasSuffix(#"{"reason":"BadPath"}"#), "\(answer)")
        #expect(answer.contains("\n\(header): \(id)\r\n"), "\(answer)")
        let other = header == "apns-id" ? "\napns-request-id:" : "\napns-id:"
        #expect(!answer.contains(other), "\(answer)")
        #expect(await apns.pushes.flatMap(\.findings).map(\.rule) == ["request-path-unknown"])
        await apns.stop()
    }

    @Test(arguments: [("/3/device/5d3a", device), ("/4/broadcasts/apps/com.example.app", broadcast), ("/x", [])])
    func `the port for channels names its paths`(path: String, fields: [String]) async throws {
        let configuration = SimulatedAPNs.Configuration(channelPort: 0, isEncrypted: false)
        let apns = try await SimulatedAPNs.start(configuration)
        let port = try #require(await apns.channelPort)
        let answer = try await Self.curl(path, port: port, fields: fields)
        #expect(answer.hasPrefix("HTTP/2 404 ") && answer.hasSuffix(#"{"reason":"BadPath"}"#), "\(answer)")
        #expect(answer.contains("\napns-request-id: ") && !answer.contains("\napns-id: "), "\(answer)")
        let findings = try #require(await apns.pushes.first).findings
        #expect(findings.map(\.rule) == ["request-path-unknown"] && findings.first?.place == .header(":path"))
        #expect(findings.first?.message.contains("/1/apps/…/all-channels") == true)
        #expect(findings.first?.message.contains("/3/device/") == false)
        await apns.stop()
    }

    @Test(arguments: [("gzip", true), ("zstd", true), ("identity", false), ("Identity", false)])
    func `a compressed payload has a finding`(encoding: String, isFound: Bool) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let fields = Self.device + ["content-encoding: \(encoding)"]
        let answer = try await Self.curl("/3/device/5d3a", port: port, fields: fields)
        #expect(answer.hasPrefix("HTTP/2 200 "), "\(answer)")
        let refused = try await Self.curl("/3/device/5d3a", port: port, fields: fields, payload: "\u{1F}compressed")
        #expect(refused.hasPrefix("HTTP/2 400 "), "\(refused)")
        let rules = await apns.pushes.map { $0.findings.map(\.rule) }
        let found = isFound ? ["payload-compressed"] : []
        #expect(rules == [found, ["payload-not-json"] + found])
        let messages = await apns.pushes.flatMap(\.findings).map(\.message).joined()
        #expect(messages.contains("does not decompress") == isFound)
        await apns.stop()
    }

    @Test(arguments: [(16, false), (38, false), (40, true), (50, true), (62, true), (64, false), (160, false)])
    func `a device token that may have been cut is found`(digitCount: Int, isFound: Bool) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let token = try DeviceToken(hex: String(repeating: "5d", count: digitCount / 2))
        _ = try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
        let findings = await apns.pushes.flatMap(\.findings)
        #expect(findings.map(\.rule) == (isFound ? ["device-token-short"] : []))
        if isFound { #expect(findings.first?.message.contains("has \(digitCount) hexadecimal digits") == true) }
        await client.close()
        await apns.stop()
    }

    @Test func `a compressed payload of a broadcast has a finding`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let channel = try await client.channels(of: "com.example.app").create()
        await client.close()
        let port = await apns.port
        let answer = try await Self.curl(
            "/4/broadcasts/apps/com.example.app",
            port: port,
            fields: [
                "apns-channel-id: \(channel)", "apns-push-type: liveactivity", "apns-priority: 5", "apns-expiration: 0",
                "content-encoding: gzip",
            ],
            payload: #"{"aps":{"timestamp":1,"event":"update","content-state":{"n":1}}}"#
        )
        #expect(answer.hasPrefix("HTTP/2 200 "), "\(answer)")
        #expect(await apns.pushes.map { $0.findings.map(\.rule) } == [["payload-compressed"]])
        await apns.stop()
    }

    @Test func `a start with an unknown channel has a finding`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let channel = try await client.channels(of: "com.example.app").create()
        await client.close()
        let port = await apns.port
        let fields = [
            "apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity", "apns-priority: 5",
        ]
        for name in [channel.rawValue, "bm9uZQ=="] {
            let start =
                #"{"aps":{"timestamp":1,"event":"start","content-state":{"n":1},"attributes-type":"A","#
                + #""attributes":{"id":1},"alert":{"title":"x","body":"y"},"input-push-channel":"\#(name)"}}"#
            let answer = try await Self.curl("/3/device/5d3a", port: port, fields: fields, payload: start)
            #expect(answer.hasPrefix("HTTP/2 200 "), "\(answer)")
        }
        #expect(await apns.pushes.map { $0.findings.map(\.rule) } == [[], ["activity-channel-unknown"]])
        await apns.stop()
    }

    /// A push to the topic of Live Activities is one, also without its type.
    @Test func `a Live Activity topic without a push type changes the activity`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let fields = ["apns-topic: com.example.app.push-type.liveactivity", "apns-priority: 5"]
        let payload = #"{"aps":{"timestamp":1,"event":"update"}}"#
        let answer = try await Self.curl("/3/device/5d3a", port: port, fields: fields, payload: payload)
        #expect(answer.hasPrefix("HTTP/2 200 "), "\(answer)")
        let push = try #require(await apns.pushes.first)
        #expect(push.findings.map(\.rule) == ["push-type-missing", "activity-state-missing"])
        #expect(push.deliveries.map(\.kind) == [.ignored])
        await apns.stop()
    }

    @Test(arguments: ["apns-push-type: alert", "apns-push-type: mdm", nil])
    func `a push to a topic for MDM needs a certificate, whatever its type`(type: String?) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let answer = try await Self.curl(
            "/3/device/5d3a",
            port: port,
            fields: ["apns-topic: com.apple.mgmt.External.1b2c"] + [type].compactMap(\.self),
            payload: #"{"mdm":"M-1"}"#
        )
        #expect(answer.hasPrefix("HTTP/2 200 "), "\(answer)")
        let rules = try #require(await apns.pushes.first).findings.map(\.rule)
        #expect(rules.contains("mdm-without-certificate") && !rules.contains("aps-missing"), "\(rules)")
        #expect(rules.contains("push-type-mismatch") == (type == "apns-push-type: alert"), "\(rules)")
        await apns.stop()
    }

    @Test func `a replacement character in valid UTF-8 has no separate byte count`() {
        let fields: HTTPFields = [":method": "POST", ":path": "/3/device/5d3a", "apns-collapse-id": "a\u{FFFD}"]
        #expect(APNsRequest(fields, body: []).headers.collapseIDByteCount == nil)
    }

    @Test func `the bytes of a collapse identifier are counted as they were sent`() async throws {
        for (count, isTooLong) in [(22, false), (64, false), (65, true)] {
            var fields: HTTPFields = [
                ":method": "POST", ":path": "/3/device/5d3a", "apns-topic": "com.example.app",
                "apns-push-type": "alert",
            ]
            fields.append("apns-collapse-id", count: count) { value in
                for offset in 0..<count { value.storeBytes(of: 0xFF, toByteOffset: offset, as: UInt8.self) }
            }
            let request = APNsRequest(fields, body: Array(#"{"aps":{"alert":"Hi"}}"#.utf8))
            let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
            let push = await apns.service.receive(composed: APNsRequest(composed: fields, request.body))
            #expect(push.status == (isTooLong ? 400 : 200) && push.headers.collapseIDByteCount == count)
            #expect(push.findings.map(\.rule) == [isTooLong ? "collapse-id-too-long" : "collapse-id-not-utf8"])
            if isTooLong { #expect(push.findings.first?.message.contains("found 65") == true) }
            #expect(try ReceivedPush(record: push.record).findings == push.findings)
            await apns.stop()
        }
    }
}

/// Findings about provider tokens while a fault has set the simulator's clock.
@Suite(.timeLimit(.minutes(10))) struct SkewedClockTests {
    private typealias Bench = ConformanceTests.Bench

    private static func test(age: Int64) -> ConformanceTests.Case {
        ConformanceTests.Case(testDescription: "", fields: ["authorization": Bench.authorization(age: age)])
    }

    @Test func `a refusal by a skewed clock names the fault`() throws {
        var bench = try Bench()
        bench.evaluator.clockSkew = 1_800_000
        bench.now += 1_800
        let old = bench.answer(to: Self.test(age: 2_400))
        #expect(old.reason == .expiredProviderToken)
        #expect(old.finding?.message.contains("70 minutes ago") == true)
        #expect(old.finding?.message.contains("a fault has set 1800 seconds ahead") == true, "\(old)")
        bench = try Bench()
        bench.evaluator.clockSkew = -7_200_000
        bench.now -= 7_200
        let early = bench.answer(to: Self.test(age: 0))
        #expect(early.reason == .invalidProviderToken)
        #expect(early.finding?.message.contains("a fault has set 7200 seconds back") == true, "\(early)")
        #expect(early.finding?.message.contains("the sender's clock is ahead") == false, "\(early)")
    }

    /// Age of the token, skew of the clock, and the rules about the age that an accepted push breaks.
    @Test(
        arguments: [
            (4_800, -1_800, []), (4_800, 0, ["provider-token-too-old"]), (0, -600, ["provider-token-ahead"]),
            (0, 600, []),
            (-600, 600, []), (-600, 0, ["provider-token-ahead"]),
        ] as [(Int64, Int64, [String])]
    )
    func `the age of a token is found by the clock that evaluated it`(age: Int64, skew: Int64, rules: [String]) {
        var traffic = TrafficRules()
        let now = ConformanceTests.now
        let result = traffic.check(
            TrafficRules.Push(
                time: now * 1_000,
                skew: skew * 1_000,
                connection: 1,
                earlierPushCount: 1,
                deviceToken: "5d3a",
                topic: "com.example.app",
                pushType: .alert,
                payload: [],
                providerToken: TrafficRules.SentToken(identity: 1, issuedAtSeconds: now - age)
            )
        )
        #expect(result.findings.map(\.rule) == rules, "\(result.findings.map(\.message))")
        for finding in result.findings { #expect(finding.message.contains("a fault has set") == (skew != 0)) }
    }

    @Test func `the interval between two tokens is measured without the skew`() throws {
        var bench = try Bench()
        let first = Self.test(age: 0)
        #expect(bench.answer(to: first).status == 200)
        bench.evaluator.clockSkew = 1_500_000
        bench.now += 1_560
        let early = bench.answer(to: Self.test(age: -1))
        #expect(early.reason == .tooManyProviderTokenUpdates)
        #expect(early.finding?.message.contains("60 seconds ago") == true, "\(early)")
        bench.now += 1_200
        #expect(bench.answer(to: Self.test(age: -2)).status == 200)
        bench.evaluator.clockSkew = 0
        bench.now -= 1_500
        let again = bench.answer(to: Self.test(age: -3))
        #expect(again.finding?.message.contains(" 0 seconds ago") == true, "\(again)")
    }

    @Test func `a push over the wire is evaluated by the skewed clock`() async throws {
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(
                isEncrypted: false,
                faults: [SimulatedAPNs.Fault(.skewClock(.seconds(7_200)), count: 1)]
            )
        )
        let client = try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: PushClient.Configuration(retry: .none)
        )
        _ = try? await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
        let push = try #require(await apns.pushes.first)
        #expect(push.reason == .expiredProviderToken)
        let finding = try #require(push.findings.first { $0.rule == "provider-token-too-old" })
        #expect(finding.message.contains("7200 seconds ahead"), "\(finding.message)")
        await client.close()
        await apns.stop()
    }
}

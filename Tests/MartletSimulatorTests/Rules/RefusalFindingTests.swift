// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import TestSupport
import Testing

@testable import MartletSimulator

/// The findings about the causes of refusals.
@Suite(.timeLimit(.minutes(10))) struct RefusalFindingTests {
    private typealias Bench = ConformanceTests.Bench

    /// A refused request, with its finding.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var authorization: String?
        var path = "/3/device/5d3a6a1c"
        var topic = "com.example.app"
        var rule: String
        var place = "authorization"
        /// Parts of the message.
        var parts: [String]
    }

    private static let unknown = try? SigningKey.ephemeral(keyID: "KEY0000002", teamID: "TEAM000001")
    private static let otherTeam = try? SigningKey.ephemeral(keyID: "KEY0000001", teamID: "TEAM000002")
    private static let impostor = try? SigningKey.ephemeral(keyID: "KEY0000001", teamID: "TEAM000001")

    /// A provider token whose claims have `iss` twice.
    private static let twice =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IktFWTAwMDAwMDEifQ.eyJpc3MiOiJBIiwiaWF0IjoxLCJpc3MiOiJCIn0.AA"

    static let cases = [
        Case(testDescription: "no token", rule: "provider-token-missing", parts: ["certificate"]),
        Case(testDescription: "no scheme", authorization: "abc", rule: "provider-token-malformed", parts: ["bearer"]),
        Case(
            testDescription: "one part",
            authorization: "bearer abc",
            rule: "provider-token-malformed",
            parts: ["three parts", "not 1"]
        ),
        Case(
            testDescription: "a header that is no JSON",
            authorization: "bearer YQ.YQ.YQ",
            rule: "provider-token-malformed",
            parts: ["header", "JSON"]
        ),
        Case(
            testDescription: "an unknown key",
            authorization: Bench.authorization(of: unknown),
            rule: "provider-token-key-unknown",
            parts: ["KEY0000002"]
        ),
        Case(
            testDescription: "another team",
            authorization: Bench.authorization(of: otherTeam),
            rule: "provider-token-team-wrong",
            parts: ["KEY0000001", "TEAM000001", "TEAM000002"]
        ),
        Case(
            testDescription: "another private key",
            authorization: Bench.authorization(of: impostor),
            rule: "provider-token-signature-wrong",
            parts: ["KEY0000001"]
        ),
        Case(
            testDescription: "an old token",
            authorization: Bench.authorization(age: 3_780),
            rule: "provider-token-too-old",
            parts: ["issued at 1789996220", "63 minutes ago"]
        ),
        Case(
            testDescription: "a token from the future",
            authorization: Bench.authorization(age: -4_000),
            rule: "provider-token-from-future",
            parts: ["issued at 1790004000", "4000 seconds"]
        ),
        Case(
            testDescription: "a key identifier in lower case",
            authorization: Bench.authorization(of: try? .ephemeral(keyID: "key0000001", teamID: "TEAM000001")),
            rule: "provider-token-identifier-malformed",
            parts: ["kid", "ten characters of A-Z and 0-9", "key0000001"]
        ),
        Case(
            testDescription: "a team identifier of nine characters",
            authorization: Bench.authorization(of: try? .ephemeral(keyID: "KEY0000009", teamID: "TEAM00001")),
            rule: "provider-token-identifier-malformed",
            parts: ["iss", "TEAM00001"]
        ),
        Case(
            testDescription: "a claim that comes twice",
            authorization: "bearer " + twice,
            rule: "provider-token-malformed",
            parts: ["claims", "\"iss\" only once"]
        ),
        Case(
            testDescription: "a device token of 513 bytes",
            authorization: Bench.authorization(),
            path: "/3/device/" + String(repeating: "5d", count: 513),
            rule: "device-token-malformed",
            place: ":path",
            parts: ["at most 512 bytes", "found 513", "; the simulator refuses the push"]
        ),
        Case(
            testDescription: "half a byte of device token",
            authorization: Bench.authorization(),
            path: "/3/device/5d3",
            rule: "device-token-malformed",
            place: ":path",
            parts: ["3 hexadecimal digits, an odd number"]
        ),
        Case(
            testDescription: "another path",
            authorization: Bench.authorization(),
            path: "/3/devices/5d3a",
            rule: "request-path-unknown",
            place: ":path",
            parts: ["/3/device/"]
        ),
        Case(
            testDescription: "a device of the other environment",
            authorization: Bench.authorization(),
            path: "/3/device/a1b2",
            rule: "device-token-of-other-environment",
            place: ":path",
            parts: ["production", "development"]
        ),
        Case(
            testDescription: "a device of another app",
            authorization: Bench.authorization(),
            path: "/3/device/0f1e",
            rule: "device-token-of-other-topic",
            place: ":path",
            parts: ["com.example.other", "com.example.app"]
        ),
        Case(
            testDescription: "a device that has gone",
            authorization: Bench.authorization(),
            path: "/3/device/dead",
            rule: "device-token-unregistered",
            place: ":path",
            parts: ["1780000000123"]
        ),
    ]

    @Test func `a stored push keeps the cause of its refusal`() throws {
        var push = ReceivedPush.sample()
        push.status = 410
        push.reason = .unregistered
        let place = PushLint.Place.header(":path")
        push.observations = [
            PushLint.Finding(.deviceTokenUnregistered, place, "the token is not valid", reason: .unregistered)
        ]
        let stored = try ReceivedPush(record: push.record)
        #expect(stored.observations == push.observations)
        #expect(stored.verdict == push.verdict && stored.verdict.parts.map(\.place) == [place])
    }

    @Test(arguments: cases) func `a refusal names its cause`(_ test: Case) throws {
        var bench = try Bench()
        let request = ConformanceTests.Case(
            testDescription: "",
            path: test.path,
            fields: ["authorization": test.authorization, "apns-topic": test.topic, "apns-push-type": "alert"]
        )
        // The second time the outcome of the first is used again.
        for answer in [bench.answer(to: request), bench.answer(to: request)] {
            let finding = try #require(answer.finding)
            #expect(finding.rule == test.rule && finding.severity == .error && finding.reason == answer.reason)
            #expect(finding.place.description == test.place)
            for part in test.parts { #expect(finding.message.contains(part), "\(finding.message)") }
            if let token = test.authorization?.split(separator: ".").last, token.count > 20 {
                #expect(!finding.message.contains(token), "the token is not repeated")
            }
        }
    }

    /// Fields of a broadcast that replace the good ones, the rule, its place and a part of the message.
    @Test(arguments: [
        ("apns-request-id", "7", "request-id-not-canonical", "must be a UUID"),
        ("apns-expiration", "1790003600", "broadcast-expiration-not-stored", "must be 0"),
    ])
    func `the header of a broadcast is named`(name: String, value: String, rule: String, part: String) throws {
        var bench = try Bench()
        var fields: [String: String?] = [
            "apns-channel-id": "CHANNEL", "apns-push-type": "liveactivity", "apns-priority": "5",
            "apns-expiration": "0",
        ]
        fields[name] = value
        let path = "/4/broadcasts/apps/com.example.app"
        let answer = bench.answer(to: ConformanceTests.Case(testDescription: "", path: path, fields: fields))
        let finding = try #require(answer.finding)
        #expect(finding.rule == rule && finding.place == .header(name) && finding.reason == answer.reason)
        #expect(finding.message.contains(part), "\(finding.message)")
    }

    @Test func `topics that a connection or a key does not permit are named`() throws {
        var bench = try Bench()
        let key = try SigningKey.ephemeral(keyID: "KEY0000003", teamID: "TEAM000001")
        try bench.evaluator.tokens.register(
            publicKeyPEM: key.publicKeyPEM(),
            keyID: key.keyID,
            teamID: key.teamID,
            scope: .topics(["com.example.other"], .development)
        )
        func finding(_ authorization: String) -> PushLint.Finding? {
            bench.answer(to: ConformanceTests.Case(testDescription: "", fields: ["authorization": authorization]))
                .finding
        }
        let outside = try #require(finding(Bench.authorization(of: key)))
        #expect(outside.rule == "topic-not-allowed" && outside.message.contains("com.example.app"))
        bench.connection = RequestEvaluator.ConnectionState()
        #expect(finding(Bench.authorization()) == nil)
        #expect(finding(Bench.authorization(of: key))?.rule == "provider-token-key-unrelated")
        bench.now += 60
        let early = try #require(finding(Bench.authorization()))
        #expect(early.rule == "provider-token-refreshed-early" && early.message.contains("60 seconds ago"))
    }

    @Test func `the inbox shows the cause, also after a restart`() async throws {
        let scratch = try ScratchDirectory()
        let configuration = SimulatedAPNs.Configuration(isEncrypted: false, dataFile: scratch.path + "/pushes.sqlite")
        let apns = try await SimulatedAPNs.start(configuration)
        let key = try SigningKey.ephemeral(keyID: "KEY0000001", teamID: "TEAM000001")
        try await apns.register(key)
        for (key, hex) in [(try SigningKey.ephemeral(), "5d3a6a1c"), (key, "5d3a000503")] {
            let client = try PushClient(await apns.endpoint, authentication: .token(key))
            _ = try? await client.send(.alert("Hi"), to: DeviceToken(hex: hex), topic: "com.example.app")
            await client.close()
        }
        await apns.stop()
        let rules = await apns.pushes.map { $0.findings.map(\.rule) }
        #expect(rules.first == ["provider-token-key-unknown"])
        #expect(rules.count > 1 && rules.dropFirst().allSatisfy { $0 == ["answered-by-fault"] })
        let again = try await SimulatedAPNs.start(configuration)
        #expect(await again.pushes.map { $0.findings.map(\.rule) } == rules)
        await again.stop()
    }

    /// A broadcast without an expiration breaks no rule about single pushes.
    @Test func `a refusal that no rule explains has the meaning of its reason`() {
        let finding = RefusalRules.other(.badExpirationDate)
        #expect(finding.rule == "push-refused" && finding.message.contains("expiration"))
        #expect(RefusalRules.other(APNsReason(rawValue: "New")).message.hasPrefix("New"))
    }
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import Testing

@testable import MartletSimulator

/// Rules about requests that depend on the earlier requests of a connection.
@Suite struct ConnectionRulesTests {
    private typealias Case = ConformanceTests.Case

    /// A evaluator for which several keys are registered, each with a scope, and one connection to it.
    private struct Bench {
        private var bench: ConformanceTests.Bench
        private var keys: [String: SigningKey] = [:]
        /// Signing twice makes two tokens.
        private var tokens: [String: String] = [:]

        init(_ relaxedRules: RelaxedRules = []) throws {
            bench = try ConformanceTests.Bench()
            bench.evaluator = RequestEvaluator(environment: .development, relaxedRules: relaxedRules)
        }

        mutating func register(_ name: String, team: String = "TEAM000001", _ scope: SimulatedAPNs.KeyScope = .team())
            throws
        {
            let key = try SigningKey.ephemeral(keyID: name, teamID: team)
            keys[name] = key
            try bench.evaluator.tokens.register(
                publicKeyPEM: key.publicKeyPEM(),
                keyID: name,
                teamID: team,
                scope: scope
            )
        }

        mutating func wait(_ seconds: Int64) { bench.now += seconds }

        /// Sends with a token that was issued this long after the beginning; nil when it was accepted.
        mutating func send(_ name: String, issuedAfter seconds: Int64 = 0, topic: String = "com.example.app")
            -> APNsReason?
        {
            let authorization =
                tokens["\(name) \(seconds)"] ?? ConformanceTests.Bench.authorization(age: -seconds, of: keys[name])
            tokens["\(name) \(seconds)"] = authorization
            return bench.answer(
                to: Case(testDescription: "", fields: ["authorization": authorization, "apns-topic": topic])
            ).reason
        }
    }

    @Test(arguments: [(1_199, false), (1_200, true), (1_201, true)] as [(Int64, Bool)])
    func `a token is replaced after twenty minutes at the earliest`(seconds: Int64, isLate: Bool) throws {
        let reason: APNsReason? = isLate ? nil : .tooManyProviderTokenUpdates
        var bench = try Bench()
        try bench.register("A")
        #expect(bench.send("A") == nil)
        bench.wait(seconds)
        #expect(bench.send("A", issuedAfter: seconds) == reason)
        #expect(bench.send("A") == (reason == nil ? .tooManyProviderTokenUpdates : nil), "the old one goes on")
        var lenient = try Bench(.frequentTokens)
        try lenient.register("A")
        #expect(lenient.send("A") == nil && lenient.send("A", issuedAfter: 1) == nil)
    }

    /// Apple counts tokens per connection, whichever key signed them.
    @Test func `a second key within twenty minutes is named as the cause`() throws {
        var bench = try ConformanceTests.Bench()
        let other = try SigningKey.ephemeral(keyID: "KEY0000002", teamID: "TEAM000001")
        try bench.evaluator.tokens.register(
            publicKeyPEM: other.publicKeyPEM(),
            keyID: other.keyID,
            teamID: other.teamID,
            scope: .team()
        )
        func message(_ authorization: String) -> String? {
            let answer = bench.answer(to: Case(testDescription: "", fields: ["authorization": authorization]))
            return answer.finding?.message
        }
        #expect(message(ConformanceTests.Bench.authorization()) == nil)
        let own = try #require(message(ConformanceTests.Bench.authorization(age: 1)))
        #expect(own.contains("use each token for 20 to 60 minutes"), "\(own)")
        #expect(own.contains("first used 0 seconds ago and issued 1 seconds after this one"), "\(own)")
        let text = try #require(message(ConformanceTests.Bench.authorization(of: other)))
        #expect(text.contains("KEY0000001") && text.contains("another key, KEY0000002"), "\(text)")
        #expect(!text.contains("minutes"), "\(text)")
    }

    @Test func `a token that is refused does not count as a replacement`() throws {
        var bench = try Bench()
        try bench.register("A")
        #expect(bench.send("A") == nil)
        #expect(bench.send("unknown") == .invalidProviderToken)
        #expect(bench.send("A") == nil)
    }

    @Test func `a connection belongs to the team of its first accepted push`() throws {
        var bench = try Bench(.frequentTokens)
        try bench.register("A")
        try bench.register("B", team: "TEAM000002")
        #expect(bench.send("A") == nil)
        #expect(bench.send("B") == .invalidProviderToken)
        var lenient = try Bench([.frequentTokens, .mixedKeys])
        try lenient.register("A")
        try lenient.register("B", team: "TEAM000002")
        #expect(lenient.send("A") == nil && lenient.send("B") == nil)
    }

    @Test func `a refused push does not bind the connection`() throws {
        var bench = try Bench(.frequentTokens)
        try bench.register("A")
        try bench.register("B", team: "TEAM000002")
        #expect(bench.send("A", topic: "") == .missingTopic)
        #expect(bench.send("B") == nil)
        #expect(bench.send("A") == .invalidProviderToken)
    }

    @Test func `a key of the other environment has its own reason`() throws {
        var bench = try Bench()
        try bench.register("P", .team(.production))
        try bench.register("T", .topics(["com.example.app"], .production))
        #expect(bench.send("P") == .badEnvironmentKeyIDInToken)
        #expect(bench.send("T") == .badEnvironmentKeyIDInToken)
    }

    /// Apple documents these two reasons for pushes to devices only.
    @Test(arguments: ["/4/broadcasts/apps/com.example.app", "/1/apps/com.example.app/channels"])
    func `a key of the other environment or an unrelated key is invalid for channels`(path: String) throws {
        var bench = try ConformanceTests.Bench()
        let production = try SigningKey.ephemeral(keyID: "KEY0000004", teamID: "TEAM000001")
        let other = try SigningKey.ephemeral(keyID: "KEY0000005", teamID: "TEAM000001")
        for (key, scope) in [
            (production, SimulatedAPNs.KeyScope.team(.production)), (other, .topics(["com.example.app"], .development)),
        ] {
            let pem = try key.publicKeyPEM()
            try bench.evaluator.tokens.register(publicKeyPEM: pem, keyID: key.keyID, teamID: key.teamID, scope: scope)
        }
        #expect(bench.answer(to: Case(testDescription: "")).status == 200)
        for (key, rule) in [
            (production, "provider-token-environment-wrong"), (other, "provider-token-key-unrelated"),
        ] {
            let fields = ["authorization": ConformanceTests.Bench.authorization(of: key)]
            let answer = bench.answer(to: Case(testDescription: "", path: path, fields: fields))
            #expect(answer.reason == .invalidProviderToken && answer.status == 403)
            #expect(answer.finding?.rule == rule && answer.finding?.reason == .invalidProviderToken)
        }
    }

    @Test func `a key for topics sends to them with any suffix, and to no other`() throws {
        var bench = try Bench()
        try bench.register("T", .topics(["com.example.app"], .development))
        #expect(bench.send("T") == nil)
        #expect(bench.send("T", topic: "com.example.application") == .topicDisallowed)
        #expect(bench.send("T", topic: "com.example.app.extension") == .topicDisallowed)
        for type in PushType.all {
            #expect(
                SimulatedAPNs.KeyScope.topics(["a"], .development).covers(topic: "a" + type.topicSuffix),
                "\(type.rawValue)"
            )
        }
        #expect(SimulatedAPNs.KeyScope.topics(["a"], .development).covers(topic: "a.push-type.accessory"))
        #expect(!SimulatedAPNs.KeyScope.topics(["a"], .development).covers(topic: "a.other"))
    }

    @Test func `team keys, and related keys for topics, may share a connection`() throws {
        let topics: Set<Topic> = ["com.example.app"]
        var bench = try Bench(.frequentTokens)
        try bench.register("A", .team(.development))
        try bench.register("B")
        try bench.register("T", .topics(topics, .development, relatedKeyIDs: ["R"]))
        try bench.register("R", .topics(topics, .development, relatedKeyIDs: ["T"]))
        try bench.register("S", .topics(topics, .development))
        var second = bench
        #expect(bench.send("A") == nil && bench.send("B") == nil)
        #expect(bench.send("T") == .unrelatedKeyIDInToken)
        #expect(second.send("T") == nil && second.send("R") == nil && second.send("T") == nil)
        #expect(second.send("S") == .unrelatedKeyIDInToken)
        #expect(second.send("A") == .unrelatedKeyIDInToken)
    }

    @Test func `keys are related when either of them names the other`() throws {
        let topics: Set<Topic> = ["com.example.app"]
        var bench = try Bench()
        try bench.register("T", .topics(topics, .development, relatedKeyIDs: ["R"]))
        try bench.register("R", .topics(topics, .development))
        #expect(bench.send("R") == nil && bench.send("T") == nil && bench.send("R") == nil)
    }

    @Test func `a change between related keys does not count as a token update`() throws {
        let topics: Set<Topic> = ["com.example.app"]
        var bench = try Bench()
        try bench.register("T", .topics(topics, .development, relatedKeyIDs: ["R"]))
        try bench.register("R", .topics(topics, .development))
        #expect(bench.send("T") == nil && bench.send("R") == nil)
        #expect(bench.send("T") == nil && bench.send("R") == nil)
        bench.wait(60)
        #expect(bench.send("T", issuedAfter: 60) == .tooManyProviderTokenUpdates, "each key has its own interval")
        #expect(bench.send("R", issuedAfter: 60) == .tooManyProviderTokenUpdates)
        bench.wait(1_140)
        #expect(bench.send("T", issuedAfter: 1_200) == nil && bench.send("R", issuedAfter: 1_200) == nil)
        #expect(bench.send("T") == .tooManyProviderTokenUpdates, "the old one")
    }

    @Test(arguments: [(1_199, .tooManyProviderTokenUpdates), (1_200, nil), (3_000, nil)] as [(Int64, APNsReason?)])
    func `a token issued twenty minutes after the other may follow it on a young connection`(
        seconds: Int64,
        reason: APNsReason?
    ) throws {
        var bench = try Bench()
        try bench.register("A")
        bench.wait(seconds)
        #expect(bench.send("A") == nil, "the connection is new")
        #expect(bench.send("A", issuedAfter: seconds) == reason)
    }

    @Test func `a refresh that relaxed rules allow is recorded as early`() throws {
        var bench = try ConformanceTests.Bench(.frequentTokens)
        for (age, isEarly) in [(600, false), (0, true), (1_800, true)] as [(Int64, Bool)] {
            let fields = ["authorization": ConformanceTests.Bench.authorization(age: age)]
            #expect(bench.answer(to: Case(testDescription: "", fields: fields)).status == 200)
            #expect((bench.connection.providerToken?.earlyReplacement != nil) == isEarly, "\(age)")
        }
    }

    /// A token may expire shortly after its first use on a connection.
    @Test func `a token that has expired is replaced at any time`() throws {
        var bench = try Bench()
        try bench.register("A")
        bench.wait(3_500)
        #expect(bench.send("A") == nil)
        bench.wait(101)
        #expect(bench.send("A") == .expiredProviderToken)
        #expect(bench.send("A", issuedAfter: 3_601) == nil, "the new one is in time")
        bench.wait(60)
        #expect(bench.send("A", issuedAfter: 3_661) == .tooManyProviderTokenUpdates, "the next one is early")
    }

    @Test func `a token that a fault expired is refused on every connection`() throws {
        var bench = try ConformanceTests.Bench()
        let first = Case(testDescription: "", fields: ["authorization": ConformanceTests.Bench.authorization()])
        let second = Case(testDescription: "", fields: ["authorization": ConformanceTests.Bench.authorization()])
        #expect(bench.answer(to: first).status == 200)
        bench.evaluator.expire(first.fields["authorization"] ?? nil)
        let answer = bench.answer(to: first)
        #expect(answer.reason == .expiredProviderToken && answer.finding?.message.contains("fault") == true)
        #expect(bench.answer(to: second).status == 200)
        #expect(bench.connection.providerToken?.earlyReplacement == nil)
        bench.connection = RequestEvaluator.ConnectionState()
        #expect(bench.answer(to: first).reason == .expiredProviderToken)
    }
}

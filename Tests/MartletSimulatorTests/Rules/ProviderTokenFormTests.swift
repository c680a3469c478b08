// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletTransport
import TestSupport
import Testing

@testable import MartletSimulator

/// Provider tokens in the forms that clients in daily use send.
@Suite(.timeLimit(.minutes(10))) struct ProviderTokenFormTests {
    private static let now = ConformanceTests.now
    private typealias Bench = ConformanceTests.Bench

    /// A form of token, and the rules that it breaks.
    struct Form: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var issuedAt: String
        var isDER = false
        var rules: [String]
    }

    static let forms = [
        Form(testDescription: "as documented", issuedAt: "\(now)", rules: []),
        Form(testDescription: "iat in a string", issuedAt: "\"\(now)\"", rules: ["provider-token-issued-at-text"]),
        Form(
            testDescription: "iat with a fraction",
            issuedAt: "\(now).5",
            rules: ["provider-token-issued-at-fraction"]
        ),
        Form(
            testDescription: "iat in a string with a fraction",
            issuedAt: "\"\(now).25\"",
            rules: ["provider-token-issued-at-text", "provider-token-issued-at-fraction"]
        ),
        Form(testDescription: "iat with an exponent", issuedAt: "179e7", rules: ["provider-token-issued-at-notation"]),
        Form(
            testDescription: "iat with an empty fraction",
            issuedAt: "\(now).0",
            rules: ["provider-token-issued-at-notation"]
        ),
        Form(testDescription: "DER", issuedAt: "\(now)", isDER: true, rules: ["provider-token-der-signature"]),
        Form(
            testDescription: "DER and iat in a string",
            issuedAt: "\"\(now)\"",
            isDER: true,
            rules: ["provider-token-issued-at-text", "provider-token-der-signature"]
        ),
    ]

    /// A token that a program of one's own would make; `sign` gives the signature of its first two parts.
    private static func authorization(
        issuedAt: String,
        sign: ([UInt8]) throws -> [UInt8]
    ) rethrows -> String {
        let header = JWTEncoding.base64URL(Array(#"{"alg":"ES256","kid":"KEY0000001","typ":"JWT"}"#.utf8))
        let input = header + "." + JWTEncoding.base64URL(Array(#"{"iss":"TEAM000001","iat":\#(issuedAt)}"#.utf8))
        return try "bearer " + input + "." + JWTEncoding.base64URL(sign(Array(input.utf8)))
    }

    @Test(arguments: forms, [true, false])
    func `a form in daily use is accepted, with a finding`(form: Form, isKeyRegistered: Bool) throws {
        let key = try ES256PrivateKey()
        var bench = try Bench()
        bench.evaluator.tokens = ProviderTokenVerifier()
        if isKeyRegistered {
            try bench.evaluator.tokens.register(
                publicKeyPEM: key.publicKeyPEM(),
                keyID: "KEY0000001",
                teamID: "TEAM000001",
                scope: .team()
            )
        }
        let authorization = try Self.authorization(issuedAt: form.issuedAt) { input in
            let signature = try key.sign(input)
            return form.isDER ? JWTEncoding.der(signature) : signature
        }
        let test = ConformanceTests.Case(testDescription: "", fields: ["authorization": authorization])
        #expect(bench.answer(to: test).status == 200)
        let token = try #require(bench.connection.providerToken)
        #expect(token.issuedAtSeconds == Self.now)
        let findings = token.deviations.map(ProviderTokenRules.finding)
        #expect(findings.map(\.rule) == form.rules)
        #expect(
            findings.allSatisfy { $0.severity == .warning && $0.reason == nil && $0.message.contains("APNs accepts") }
        )
    }

    /// The token of edamov/pushok (PHP), with its key or with another one.
    @Test(arguments: [true, false])
    func `a token of ES512 is accepted when its key is registered`(isOwnKey: Bool) async throws {
        let key = try ES256PrivateKey()
        let registered = try isOwnKey ? key : ES256PrivateKey()
        var bench = try Bench()
        bench.evaluator.tokens = ProviderTokenVerifier()
        try bench.evaluator.tokens.register(
            publicKeyPEM: registered.publicKeyPEM(),
            keyID: "KEY0000001",
            teamID: "TEAM000001",
            scope: .team()
        )
        let header = JWTEncoding.base64URL(Array(#"{"alg":"ES512","kid":"KEY0000001"}"#.utf8))
        let input = header + "." + JWTEncoding.base64URL(Array(#"{"iss":"TEAM000001","iat":\#(Self.now)}"#.utf8))
        let signature = try await JWTEncoding.es512(input, keyPEM: key.pem())
        let authorization = "bearer " + input + "." + JWTEncoding.base64URL(signature)
        let test = ConformanceTests.Case(testDescription: "", fields: ["authorization": authorization])
        let answer = bench.answer(to: test)
        guard isOwnKey else {
            #expect(answer.reason == .invalidProviderToken && answer.finding?.rule == "provider-token-signature-wrong")
            return
        }
        #expect(answer.status == 200, "\(answer)")
        let findings = try #require(bench.connection.providerToken).deviations.map(ProviderTokenRules.finding)
        #expect(findings.map(\.rule) == ["provider-token-es512-signature"])
        #expect(findings.first?.message.contains("Apple's documentation allows only ES256") == true, "\(findings)")
    }

    @Test(arguments: forms.filter(\.isDER)) func `a signature in DER by another key is refused`(form: Form) throws {
        var bench = try Bench()
        let authorization = try Self.authorization(issuedAt: form.issuedAt) {
            try JWTEncoding.der(ES256PrivateKey().sign($0))
        }
        let test = ConformanceTests.Case(testDescription: "", fields: ["authorization": authorization])
        let answer = bench.answer(to: test)
        #expect(answer.reason == .invalidProviderToken && answer.finding?.rule == "provider-token-signature-wrong")
    }

    /// The form of a signature is checked also while any key will do.
    @Test(arguments: [0, 1, 63, 65, 70, 72]) func `a signature of neither form is refused`(count: Int) throws {
        var bench = try Bench()
        bench.evaluator.tokens = ProviderTokenVerifier()
        let authorization = Self.authorization(issuedAt: "\(Self.now)") { _ in [UInt8](repeating: 7, count: count) }
        let test = ConformanceTests.Case(testDescription: "", fields: ["authorization": authorization])
        let answer = bench.answer(to: test)
        #expect(answer.reason == .invalidProviderToken)
        #expect(
            answer.finding?.message.contains("has \(count == 1 ? "1 byte" : "\(count) bytes");") == true,
            "\(answer)"
        )
    }

    /// No key makes such a signature, so it is refused also while any key will do.
    @Test func `a signature of zeros is refused`() throws {
        var bench = try Bench()
        bench.evaluator.tokens = ProviderTokenVerifier()
        let authorization = Self.authorization(issuedAt: "\(Self.now)") { _ in [UInt8](repeating: 0, count: 64) }
        let test = ConformanceTests.Case(testDescription: "", fields: ["authorization": authorization])
        let answer = bench.answer(to: test)
        #expect(answer.reason == .invalidProviderToken && answer.finding?.rule == "provider-token-signature-wrong")
        #expect(answer.finding?.message.contains("impossible") == true, "\(answer)")
    }

    /// APNs knows no key or team with another identifier; the user may have registered one with the simulator.
    @Test(arguments: [
        ("KEY000001", "TEAM000001", "kid"), ("KEY00000001", "TEAM000001", "kid"), ("KEY000000ä", "TEAM000001", "kid"),
        ("KEY0000001", "team000001", "iss"),
    ])
    func `identifiers have ten characters unless their key is registered`(
        keyID: String,
        teamID: String,
        field: String
    ) throws {
        let key = try SigningKey.ephemeral(keyID: keyID, teamID: teamID)
        var bench = try Bench()
        bench.evaluator.tokens = ProviderTokenVerifier()
        let fields = ["authorization": Bench.authorization(of: key)]
        let test = ConformanceTests.Case(testDescription: "", fields: fields)
        let answer = bench.answer(to: test)
        #expect(answer.reason == .invalidProviderToken)
        #expect(answer.finding?.rule == "provider-token-identifier-malformed")
        #expect(answer.finding?.message.hasPrefix(field) == true, "\(answer)")
        let pem = try key.publicKeyPEM()
        try bench.evaluator.tokens.register(publicKeyPEM: pem, keyID: keyID, teamID: teamID, scope: .team())
        #expect(bench.answer(to: test).status == 200)
    }

    @Test func `pushes and broadcasts show the unusual form and the age of their token`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let channel = try await client.channels(of: "com.example.app").create()
        await client.close()
        let key = try ES256PrivateKey()
        let issuedAt = WallClock.system.secondsSince1970() + 600
        let authorization = try Self.authorization(issuedAt: "\"\(issuedAt)\"") { try JWTEncoding.der(key.sign($0)) }
        let requests = [
            (
                "/3/device/5d3a6a1c", ["apns-topic: com.example.app", "apns-push-type: alert"],
                #"{"aps":{"alert":"Hi"}}"#
            ),
            (
                "/4/broadcasts/apps/com.example.app",
                [
                    "apns-channel-id: \(channel)", "apns-push-type: liveactivity", "apns-priority: 5",
                    "apns-expiration: 0",
                ],
                #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"n":1}}}"#
            ),
        ]
        for (path, fields, payload) in requests {
            let run = try await ProgramRun.curl(
                [
                    "--http2-prior-knowledge", "-H", "authorization: \(authorization)", "--data", payload,
                    "--write-out", "%{http_code}",
                ] + fields.flatMap { ["-H", $0] } + ["http://127.0.0.1:\(await apns.port)\(path)"]
            )
            #expect(run.text == "200", "\(run.errorOutput)")
            let findings = try #require(await apns.pushes.last).findings
            #expect(
                findings.map(\.rule) == [
                    "provider-token-issued-at-text", "provider-token-der-signature", "provider-token-ahead",
                ]
            )
            #expect(findings.allSatisfy { $0.place == .header("authorization") })
        }
        #expect(await apns.pushCount == 2)
        await apns.stop()
    }
}

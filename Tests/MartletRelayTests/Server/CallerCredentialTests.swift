// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Provider tokens and keys as credentials of callers.
@Suite(.timeLimit(.minutes(10))) struct CallerCredentialTests {
    @Test(arguments: [
        (Int64.min, APNsReason.expiredProviderToken), (.max, .invalidProviderToken), (-3_600, nil),
        (-3_601, .expiredProviderToken), (3_600, nil), (3_601, .invalidProviderToken),
    ])
    func `the age of a provider token is checked without overflow`(issuedAt: Int64, reason: APNsReason?) {
        let caller = Callers.Caller(name: "key", apps: [], scopes: [.send], tokenIssuedAt: issuedAt)
        #expect(caller.refusal(at: 0) == reason)
    }

    /// The claims are signed with the right key, so each number reaches the arithmetic.
    @Test func `no claim of a signed provider token traps`() throws {
        let key = try ES256PrivateKey()
        let signingKey = try SigningKey(pem: key.pem(), keyID: "KEY0000001", teamID: "TEAM000001")
        let app = RelayConfiguration.App(name: "orders", bundleIDs: ["com.example.orders"], key: signingKey)
        let callers = try Callers(RelayConfiguration(data: .file(""), apps: [app], listeners: [:]))
        var generator = SplitMix64(state: 7)
        var claims = [
            "-9223372036854775808", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e308",
            "-1e308", "1e309", "1e-400", "1.7976931348623157e308", "-1", "0", "-0", "0.5", "-0.5", "1e18", "1E19",
            "\"-9223372036854775808\"", "\"9223372036854775807\"", "\"1e308\"", "\"\"", "\" 1\"", "\"nan\"", "\"inf\"",
            "\"0x7fffffff\"", "null", "true", "[]", "{}", "[1]", "\"\\u0031\"",
        ]
        let pieces = ["9", "0", "1", "-", ".", "e", "E", "+", "99999999999999999999", "\"", " ", "922337203685477580"]
        for _ in 0..<500 {
            let count = Int.random(in: 1...6, using: &generator)
            claims.append((0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined())
        }
        for claim in claims {
            let form = ProviderTokenForm(issuedAt: claim, isDER: Bool.random(using: &generator))
            let token = try form.authorization(at: 0, keyID: "KEY0000001", teamID: "TEAM000001", key: key)
            guard let caller = callers.caller(token) else { continue }
            for now in [Int64.min, -1, 0, 1_790_000_000, .max] { _ = caller.refusal(at: now) }
            // Both ends of the number line are too far from the present.
            let isFar = abs(Double(caller.tokenIssuedAt ?? 0) - 1_790_000_000) > 3_600
            #expect(!isFar || caller.refusal(at: 1_790_000_000) != nil, "\(claim)")
        }
    }

    @Test func `an expired key is refused, and an expiry within 30 days is logged`() async throws {
        let lines = LogLines()
        let now = Date()
        let bench = try await RelayBench(log: lines.logger()) {
            for (name, days) in [("old", -1.0), ("short", 3.5), ("long", 100)] {
                guard let hash = try? RelayBench.hash(name) else { return }
                let expiry = now.addingTimeInterval(days * 86_400)
                $0.callers.append(
                    .init(name: name, hash: hash, expiresAt: expiry, apps: ["orders"], scopes: [.send, .read])
                )
            }
        }
        #expect(await bench.ask("GET", "/v1/status", key: "old").status == 401)
        #expect(await bench.ask("GET", "/v1/status", key: "short").status == 200)
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        let fields: HTTPFields = ["authorization": "bearer old", "apns-topic": "com.example.orders"]
        let answer = try await asker.answer("POST", "/3/device/5d3a", fields, body: #"{"aps":{"alert":"Hi"}}"#)
        #expect(answer.status == 403 && answer.body.contains("ExpiredProviderToken"))
        await asker.close()
        let warnings = lines.objects.filter { $0["msg"]?.stringValue?.hasPrefix("caller expire") ?? false }
        #expect(warnings.map { $0["msg"] } == ["caller expired", "caller expires soon"])
        #expect(warnings.map { $0["caller"] } == ["old", "short"] && warnings[1]["days"]?.integerValue == 3)
        let metrics = await bench.ask("GET", "/metrics").text
        let expiry = now.addingTimeInterval(3.5 * 86_400).secondsSince1970
        #expect(metrics.contains("caller_expiry_timestamp_seconds{caller=\"short\"} \(expiry)\n"))
        await bench.stop()
    }

    @Test func `a key that expires while the relay runs is logged, and its requests say so`() async throws {
        let lines = LogLines()
        let clock = TestClock()
        let expiry = Date(secondsSince1970: clock.now + 60)
        let hash = try RelayBench.hash("short")
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger()) {
            $0.callers.append(.init(name: "short", hash: hash, expiresAt: expiry, apps: ["orders"], scopes: [.read]))
        }
        #expect(await bench.ask("GET", "/v1/status", key: "short").status == 200)
        @Sendable func expired() -> [JSONValue?] {
            lines.objects.filter { $0["msg"] == "caller expired" }.map { $0["caller"] }
        }
        #expect(expired().isEmpty)
        clock.advance(by: 60)
        try await eventually("the expired key is logged") { !expired().isEmpty }
        let answer = await bench.ask("GET", "/v1/status", key: "short")
        #expect(answer.status == 401)
        #expect(answer.text.contains("the key of the caller short expired at 2026-"), "\(answer.text)")
        try await eventually("the rejected request is counted", in: bench.parts.server) {
            $0.counts.requests(of: "short", .rejected) == 1
        }
        #expect(await bench.parts.server.counts.rejectedCallers == 0)
        #expect(expired() == ["short"])
        // As at the start, a reload warns of what has expired.
        try await bench.relay.reload(await bench.relay.context.configuration)
        #expect(expired() == ["short", "short"])
        await bench.stop()
    }

    @Test(arguments: [
        (#""expires": "2027-02-30","#, "callers[0].expires must be a date or a time in UTC, such as 2027-01-31"),
        (#""expires": "2027-01-31T12:00:00+01:00","#, "callers[0].expires must be a date or a time in UTC"),
        (#""expires": "T","#, "callers[0].expires must be a date or a time in UTC"),
        (#""expires": 7,"#, "callers[0].expires must be a string"),
        (#""certificate-sha256": "ab","#, "callers[0].certificate-sha256 must be the 64 hexadecimal digits"),
        (#""certificate-subject": "CN=a","#, "has a certificate, which clients present only over TLS"),
        (#""password": "a","#, "callers[0].password is unknown"),
    ])
    func `a mistake in a caller's credentials names the rule`(member: String, message: String) throws {
        let file = try ConfigurationFile(
            ConfigurationFile.good(("\"apps\": [\"orders\"]", "\(member) \"apps\": [\"orders\"]"))
        )
        let error = #expect(throws: RelayError.self) { try RelayConfiguration(file: file.path) }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("2027-01-31", "2027-01-31T00:00:00.000Z"), ("2027-01-31T12:30:00Z", "2027-01-31T12:30:00.000Z"),
    ])
    func `the expiry of a key is a date or a time`(text: String, time: String) throws {
        let member = "\"expires\": \"\(text)\", \"apps\": [\"orders\"]"
        let file = try ConfigurationFile(ConfigurationFile.good(("\"apps\": [\"orders\"]", member)))
        let expiry = try #require(try RelayConfiguration(file: file.path).callers[0].expiresAt)
        #expect(Timestamp.text(expiry.millisecondsSince1970) == time)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The requests of clients in use, with their provider tokens and headers, sent to a simulator and to a relay.
///
/// They repeat the requests of clients that `make test` cannot install, by the sources of those.
@Suite(.timeLimit(.minutes(10))) struct ClientShapeTests {
    /// The requests of one client.
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var token = ProviderTokenForm()
        /// Whether the token is signed with ES512, by the key on the curve P-256.
        var isES512 = false
        var headers: [String: String]
        /// The seconds until `apns-expiration`; nil for a client that does not send it, or has it in ``headers``.
        var expiresIn: Int64?
        /// Whether the client sends `:authority`, or `host` in its place.
        var hasAuthority = true
        var payload = #"{"aps":{"alert":{"title":"Order","body":"Ready"},"badge":1,"sound":"default"}}"#
        /// The label of the metric about the token; nil when the token is as documented.
        var deviation: String?
    }

    private static let id = "123e4567-e89b-42d3-a456-426655440000"

    static let shapes = [
        Shape(
            testDescription: "sideshow/apns2 0.25 (Go)",
            token: ProviderTokenForm(header: #"{"alg":"ES256","kid":"KID"}"#, claims: #"{"iat":IAT,"iss":"TEAM"}"#),
            headers: [
                "content-type": "application/json; charset=utf-8", "accept-encoding": "gzip",
                "user-agent": "Go-http-client/2.0", "apns-push-type": "alert",
            ]
        ),
        Shape(
            testDescription: "Pushy 0.15 (Java)",
            token: ProviderTokenForm(header: #"{"alg":"ES256","typ":"JWT","kid":"KID"}"#, isDER: true),
            headers: ["apns-priority": "10"],
            expiresIn: 86_400,
            deviation: "der-signature"
        ),
        Shape(
            testDescription: "@parse/node-apn 7",
            token: ProviderTokenForm(
                header: #"{"alg":"ES256","typ":"JWT","kid":"KID"}"#,
                claims: #"{"iat":IAT,"iss":"TEAM"}"#
            ),
            headers: ["apns-priority": "10", "apns-push-type": "alert"]
        ),
        Shape(
            testDescription: "@mobile-surfaces/push 7",
            headers: [
                "content-type": "application/json", "apns-push-type": "liveactivity", "apns-priority": "5",
                "apns-id": id, "apns-topic": "com.example.orders.push-type.liveactivity",
            ],
            expiresIn: 3_600,
            payload: #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"stage":"ready"}}}"#
        ),
        Shape(
            testDescription: "APNSwift 6",
            token: ProviderTokenForm(
                header: "{\n    \"alg\": \"ES256\",\n    \"typ\": \"JWT\",\n    \"kid\": \"KID\"\n}",
                claims: "{\n    \"iss\": \"TEAM\",\n    \"iat\": IAT,\n    \"kid\": \"KID\"\n}",
                issuedAt: "\"NOW\""
            ),
            headers: [
                "content-type": "application/json", "user-agent": "APNS/swift-nio", "apns-push-type": "alert",
                "apns-expiration": "0", "apns-priority": "10", "apns-id": id,
            ],
            deviation: "text-iat"
        ),
        Shape(
            testDescription: "kalyke 1.5",
            token: ProviderTokenForm(issuedAt: "\"NOW\""),
            headers: [
                "accept": "*/*", "accept-encoding": "gzip, deflate", "content-type": "application/json",
                "user-agent": "python-httpx2/2.16.2 com.example.orders", "apns-push-type": "alert",
                "apns-priority": "10",
            ],
            expiresIn: 2_592_000,
            deviation: "text-iat"
        ),
        Shape(
            testDescription: "pyapns_client 2",
            token: ProviderTokenForm(issuedAt: "NOW.350445"),
            headers: [
                "accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": "python-httpx/0.28.1",
                "content-type": "application/json; charset=utf-8",
            ],
            deviation: "fractional-iat"
        ),
        Shape(
            testDescription: "apns2 0.7 (PyPI)",
            token: ProviderTokenForm(
                header: #"{"typ":"JWT","alg":"ES256","kid":"KID"}"#,
                issuedAt: "NOW.114197"
            ),
            headers: ["apns-push-type": "alert"],
            deviation: "fractional-iat"
        ),
        Shape(
            testDescription: "sygnal (aioapns 3.3)",
            headers: ["apns-id": id, "apns-priority": "10", "apns-push-type": "alert"],
            hasAuthority: false,
            payload: #"{"aps": {"alert": {"loc-key": "MSG_FROM_USER"}, "badge": 2}, "event_id": "$1"}"#
        ),
        Shape(
            testDescription: "edamov/pushok 0.18 (PHP)",
            token: ProviderTokenForm(header: #"{"alg":"ES512","kid":"KID"}"#),
            isES512: true,
            headers: ["content-type": "application/json", "apns-push-type": "alert", "apns-priority": "10"],
            deviation: "es512-signature"
        ),
        Shape(
            testDescription: "CleverTap apns-http2 4.0 (Java)",
            // The header has 34 bytes, so it is padded whatever the claims are.
            token: ProviderTokenForm(header: #"{"alg":"ES256","kid":"KID"}"#, isStandardBase64: true),
            headers: ["apns-push-type": "alert"],
            deviation: "padded-base64"
        ),
        Shape(
            testDescription: "an identifier in upper case, as aioapns sends",
            headers: ["apns-id": id.uppercased(), "apns-push-type": "alert"]
        ),
        Shape(
            testDescription: "iat in exponent form",
            token: ProviderTokenForm(issuedAt: "NOWe0"),
            headers: ["apns-push-type": "alert"],
            deviation: "iat-notation"
        ),
    ]

    private let bench: RelayBench
    private let key: ES256PrivateKey

    init() async throws {
        let key = try ES256PrivateKey()
        self.key = key
        let signingKey = try SigningKey(pem: key.pem(), keyID: "KEY0000001", teamID: "TEAM000001")
        bench = try await RelayBench { $0.apps[0].key = signingKey }
        try await bench.apple.register(signingKey)
    }

    private func authorization(_ shape: Shape, at now: Int64) async throws -> String {
        let (keyID, teamID) = ("KEY0000001", "TEAM000001")
        guard shape.isES512 else {
            return try shape.token.authorization(at: now, keyID: keyID, teamID: teamID, key: key)
        }
        return try await shape.token.es512Authorization(at: now, keyID: keyID, teamID: teamID, key: key)
    }

    private func fields(_ shape: Shape) async throws -> HTTPFields {
        let now = bench.parts.now / 1_000
        let token = try await authorization(shape, at: now)
        var fields: HTTPFields = ["authorization": token]
        if shape.headers["apns-topic"] == nil { fields.append("apns-topic", "com.example.orders") }
        if let seconds = shape.expiresIn { fields.append("apns-expiration", String(now + seconds)) }
        if !shape.hasAuthority { fields.append("host", "localhost") }
        for (name, value) in shape.headers.sorted(by: { $0.key < $1.key }) { fields.append(name, value) }
        return fields
    }

    @Test(arguments: shapes) func `a client is served by the simulator and by the relay`(shape: Shape) async throws {
        let port = try #require(await bench.relay.ports[.production])
        let fields = try await fields(shape)
        for port in [await bench.apple.port, port] {
            let asker = try HTTP2Asker(port: port, sendsAuthority: shape.hasAuthority)
            let answer = try await asker.answer("POST", "/3/device/5d3a6a1c8f9a42d6", fields, body: shape.payload)
            #expect(answer.status == 200, "\(answer)")
            let id = try #require(answer.fields["apns-id"])
            #expect(id == shape.headers["apns-id"] ?? id.lowercased())
            let refused = try await asker.answer("POST", "/3/device/notahextoken", fields, body: shape.payload)
            #expect(refused.status == 400 && refused.body.contains("BadDeviceToken"))
            #expect(refused.fields["apns-id"] != nil)
            await asker.close()
        }
        #expect(await bench.apple.pushes.map(\.status) == [200, 400, 200])
        let metrics = await bench.ask("GET", "/metrics").text
        for form in ["text-iat", "fractional-iat", "iat-notation", "der-signature", "es512-signature", "padded-base64"]
        {
            let count = form == shape.deviation ? 1 : 0
            #expect(metrics.contains("unusual_provider_tokens_total{form=\"\(form)\"} \(count)\n"), "\(form)")
        }
        await bench.stop()
    }
}

import APNs
import APNsClient
import Outbox
import Simulator
import TestSupport
import Testing
import Wire

@testable import Relay

/// The requests of clients in use, with their provider tokens and headers, sent to a simulator and to a relay.
///
/// They repeat the requests of clients that `make test` cannot install, by the sources of those.
@Suite(.timeLimit(.minutes(1))) struct ClientShapeTests {
    /// The requests of one client.
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var token = ProviderTokenForm()
        var headers: [String: String]
        var payload = #"{"aps":{"alert":{"title":"Order","body":"Ready"},"badge":1,"sound":"default"}}"#
        /// The label of the metric about the token; nil when the token is as documented.
        var deviation: String?
    }

    private static let id = "123e4567-e89b-42d3-a456-426655440000"

    static let shapes = [
        Shape(
            testDescription: "sideshow/apns2 (Go)",
            headers: [
                "content-type": "application/json; charset=utf-8", "accept-encoding": "gzip",
                "user-agent": "Go-http-client/2.0", "apns-push-type": "alert", "apns-priority": "10",
                "apns-expiration": "1900000000",
            ]
        ),
        Shape(
            testDescription: "Pushy (Java)",
            token: ProviderTokenForm(isDER: true),
            headers: [
                "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "1900000000", "apns-id": id,
            ],
            deviation: "der-signature"
        ),
        Shape(
            testDescription: "@parse/node-apn",
            headers: ["apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "0", "apns-id": id]
        ),
        Shape(
            testDescription: "@mobile-surfaces/push",
            headers: [
                "content-type": "application/json", "apns-push-type": "liveactivity", "apns-priority": "5",
                "apns-id": id,
                "apns-expiration": "1900000000", "apns-topic": "com.example.orders.push-type.liveactivity",
            ],
            payload: #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"stage":"ready"}}}"#
        ),
        Shape(
            testDescription: "APNSwift 6",
            token: ProviderTokenForm(issuedAt: "\"NOW\""),
            headers: [
                "content-type": "application/json", "user-agent": "APNS/swift-nio", "apns-push-type": "alert",
                "apns-expiration": "0", "apns-priority": "10", "apns-id": id.uppercased(),
            ],
            deviation: "text-iat"
        ),
        Shape(
            testDescription: "kalyke",
            token: ProviderTokenForm(issuedAt: "\"NOW\""),
            headers: [
                "accept": "*/*", "accept-encoding": "gzip, deflate", "content-type": "application/json",
                "user-agent": "python-httpx", "apns-push-type": "alert", "apns-expiration": "0",
                "apns-priority": "10",
            ],
            deviation: "text-iat"
        ),
        Shape(
            testDescription: "apns2 (PyPI)",
            token: ProviderTokenForm(issuedAt: "NOW.4823"),
            headers: ["apns-push-type": "alert"],
            deviation: "fractional-iat"
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

    private func fields(_ shape: Shape) throws -> HTTPFields {
        let now = bench.relay.now / 1_000
        let token = try shape.token.authorization(at: now, keyID: "KEY0000001", teamID: "TEAM000001", key: key)
        var fields: HTTPFields = ["authorization": token]
        if shape.headers["apns-topic"] == nil { fields.append("apns-topic", "com.example.orders") }
        for (name, value) in shape.headers.sorted(by: { $0.key < $1.key }) { fields.append(name, value) }
        return fields
    }

    @Test(arguments: shapes) func `a client is served by the simulator and by the relay`(shape: Shape) async throws {
        let port = try #require(await bench.relay.ports[.production])
        let fields = try fields(shape)
        for port in [await bench.apple.port, port] {
            let asker = try HTTP2Asker(port: port)
            let answer = try await asker.answer("POST", "/3/device/5d3a6a1c8f9a42d6", fields, body: shape.payload)
            #expect(answer.status == 200, "\(answer)")
            let id = try #require(answer.fields["apns-id"])
            #expect(id == shape.headers["apns-id"]?.lowercased() ?? id && id == id.lowercased())
            let refused = try await asker.answer("POST", "/3/device/notahextoken", fields, body: shape.payload)
            #expect(refused.status == 400 && refused.body.contains("BadDeviceToken"))
            #expect(refused.fields["apns-id"] != nil)
            await asker.close()
        }
        #expect(await bench.apple.pushes.map(\.status) == [200, 400, 200])
        let metrics = await bench.ask("GET", "/metrics").text
        for form in ["text-iat", "fractional-iat", "iat-notation", "der-signature"] {
            let count = form == shape.deviation ? 1 : 0
            #expect(metrics.contains("unusual_provider_tokens_total{form=\"\(form)\"} \(count)\n"), "\(form)")
        }
        await bench.stop()
    }
}

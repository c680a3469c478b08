// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Secrets in places where a client may put them by mistake, none of which the log and the metrics show.
@Suite(.timeLimit(.minutes(10))) struct SecretLogTests {
    private static let secrets = [
        "mrt_" + String(repeating: "k7", count: 16), "mtk_" + String(repeating: "s", count: 52),
        "mri_" + String(repeating: "q", count: 52), "whsec_" + String(repeating: "w9", count: 20),
        String(repeating: "5ec2e7", count: 10) + "dead", "eyJhbGciOiJFUzI1NiIsImtpZCI6IktFWSJ9",
        "-----BEGIN PRIVATE KEY-----MIGHAgEAMBMGByqGSM49", "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIB",
    ]

    /// Returns a provider token with a key identifier, a team and an algorithm, and an impossible signature.
    private static func providerToken(kid: String = "KEY0000001", team: String = "T", alg: String = "ES256") -> String {
        let header = JWTEncoding.base64URL(Array(#"{"alg":"\#(alg)","kid":"\#(kid)"}"#.utf8))
        let claims = JWTEncoding.base64URL(Array(#"{"iss":"\#(team)","iat":1790000000}"#.utf8))
        return "bearer \(header).\(claims).\(JWTEncoding.base64URL([UInt8](repeating: 1, count: 64)))"
    }

    /// The values of `authorization` with a secret.
    private static func authorizations(with secret: String) -> [String] {
        [
            secret, "bearer \(secret)", "Basic \(secret)", "bearer a.\(secret).b", providerToken(kid: secret),
            providerToken(team: secret), providerToken(alg: secret),
        ]
    }

    @Test(arguments: secrets) func `no line shows a secret sent over the APNs protocol`(secret: String) async throws {
        let lines = LogLines()
        let clock = TestClock()
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger())
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        let own = "bearer \(RelayBench.callerKey)"
        let device = "/3/device/5d3a6a1c"
        var requests: [(path: String, fields: HTTPFields)] = []
        for authorization in Self.authorizations(with: secret) {
            let fields: HTTPFields = ["authorization": authorization, "apns-topic": "com.example.orders"]
            requests.append((path: device, fields: fields))
        }
        for topic in [secret, secret + ".voip", "com.example." + secret] {
            requests.append((path: device, fields: ["authorization": own, "apns-topic": topic]))
        }
        for name in [
            "apns-id", "apns-collapse-id", "apns-push-type", "apns-priority", "apns-expiration", "apns-channel-id",
            "apns-request-id", "traceparent", "user-agent",
        ] {
            let fields: HTTPFields = ["authorization": own, "apns-topic": "com.example.orders", name: secret]
            requests.append((path: device, fields: fields))
        }
        let piece = secret.replacing(" ", with: "%20")
        for path in ["/3/device/\(piece)", "/4/broadcasts/apps/\(piece)", "/1/apps/\(piece)/channels", "/\(piece)"] {
            requests.append((path: path, fields: ["authorization": own, "apns-topic": "com.example.orders"]))
        }
        for request in requests {
            // Each line of a cause is logged, because enough time has passed since the one before.
            clock.advance(by: 60)
            _ = try await asker.answer("POST", request.path, request.fields, body: #"{"aps":{"alert":"Hi"}}"#)
        }
        // A topic with spaces is refused before its app is looked up.
        let namesTopic = lines.objects.contains { $0["cause"] == "topic of another app" }
        #expect(namesTopic || secret.contains(" "), "\(lines.all)")
        #expect(lines.objects.contains { $0["cause"] == "unknown key identifier" })
        await check(bench, lines, secret)
        await asker.close()
        await bench.stop()
    }

    @Test(arguments: secrets) func `no line shows a secret sent to the JSON API`(secret: String) async throws {
        let lines = LogLines()
        let clock = TestClock()
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger()) {
            for index in $0.callers.indices {
                $0.callers[index].scopes = Set(RelayConfiguration.Caller.Scope.allCases)
            }
        }
        for authorization in Self.authorizations(with: secret) {
            clock.advance(by: 60)
            _ = await bench.ask("GET", "/v1/status", key: nil, fields: ["authorization": authorization])
            _ = await bench.ask("GET", "/v1/installation", key: nil, fields: ["authorization": authorization])
        }
        let piece = secret.replacing(" ", with: "%20")
        for route in RelayAPI.routes where route.access != .anyone {
            for app in ["orders", piece] {
                var path = route.path.replacing("{app}", with: app)
                if let start = path.firstIndex(of: "{"), let end = path.lastIndex(of: "}") {
                    path.replaceSubrange(start...end, with: piece)
                }
                if route.path == "/v1/drain" || route.path == "/v1/events" { continue }
                clock.advance(by: 60)
                let body = #"{"user":"\#(secret)","to":"\#(secret)","app":"\#(secret)","ids":["\#(secret)"]}"#
                _ = await bench.ask(route.method, path, body)
                _ = await bench.ask(route.method, path + "?environment=\(piece)&bundle-id=\(piece)", body)
            }
        }
        for member in ["app", "id", "bundle-id", "collapse-id", "push-type", "priority", "environment", "channel"] {
            let body = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}},"\#(member)":"\#(secret)"}"#
            _ = await bench.ask("POST", "/v1/pushes", body, fields: ["idempotency-key": secret])
        }
        #expect(lines.objects.contains { $0["msg"] == "audit" })
        await check(bench, lines, secret)
        await bench.stop()
    }

    /// Expects that neither a line nor a metric has a secret.
    private func check(_ bench: RelayBench, _ lines: LogLines, _ secret: String) async {
        for line in lines.all where line.contains(secret) { Issue.record("\(line)") }
        let metrics = await bench.ask("GET", "/metrics").text
        #expect(!metrics.contains(secret))
    }
}

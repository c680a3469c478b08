// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of the HTTP proxies between a relay and the servers that it connects to.
@Suite(.timeLimit(.minutes(10))) struct RelayProxyTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func makeReport() throws -> WebhookReport {
        let dead = UnregisteredToken(
            cursor: 1,
            token: try DeviceToken(hex: "dead00ff"),
            environment: .production,
            topic: "com.example.orders",
            unregisteredAt: 1,
            reportedAt: 2,
            reason: "Unregistered"
        )
        return WebhookReport([dead], of: "orders", at: 5_000)
    }

    @Test func `pushes go through the proxy of the environment`() async throws {
        let proxy = try TunnelProxy()
        let bench = try await RelayBench {
            proxy.lead(to: $0.endpoints[.production]?.endpoint.port ?? 0)
            let apple = APNsEndpoint(host: "apns.example.com", port: 2_197, isEncrypted: false)
            $0.endpoints[.production] = LaneEndpoint(apple)
            $0.proxies = HTTPProxies(environment: ["HTTP_PROXY": "http://user:secret@127.0.0.1:\(proxy.port)"])
        }
        let client = try await bench.client()
        try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
        #expect(proxy.requests.first?.hasPrefix("CONNECT apns.example.com:2197 HTTP/1.1\r\n") == true)
        await client.close()
        await bench.stop()
        proxy.stop()
    }

    @Test func `the servers behind a proxy are listed without its password`() throws {
        let file = try ConfigurationFile()
        var overrides = RelayOverrides()
        overrides.proxies = HTTPProxies(environment: ["HTTPS_PROXY": "http://user:secret@proxy:3128"])
        overrides.openTelemetry = ["OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example.com"]
        var configuration = try RelayConfiguration(file: file.path, overrides: overrides)
        configuration.apps[0].webhook = try Webhook(url: "https://hooks.example.com/in", secret: Self.secret)
        let servers = try configuration.proxiedServers()
        #expect(
            servers.map(\.server) == ["api.push.apple.com:443", "hooks.example.com:443", "collector.example.com:443"]
        )
        #expect(servers.allSatisfy { $0.proxy == "proxy:3128" })
        var dumped = ""
        dump(configuration.proxies, to: &dumped)
        #expect(!dumped.contains("secret") && !dumped.contains("Basic"))
        #expect(try RelayConfiguration(file: file.path).proxiedServers().isEmpty)
    }

    @Test func `an error names the variable of an unsupported proxy`() throws {
        let file = try ConfigurationFile()
        var overrides = RelayOverrides()
        overrides.proxies = HTTPProxies(environment: ["HTTPS_PROXY": "socks5://user:secret@proxy:1080"])
        let wrong = overrides
        let error = #expect(throws: RelayError.self) { try RelayConfiguration(file: file.path, overrides: wrong) }
        #expect(error?.description.contains("HTTPS_PROXY must be the URL of an HTTP proxy") == true)
        #expect(error?.description.contains("secret") == false)
        overrides.proxies = HTTPProxies(
            environment: ["HTTPS_PROXY": "socks5://user:secret@proxy:1080", "NO_PROXY": "apple.com"]
        )
        #expect(try RelayConfiguration(file: file.path, overrides: overrides).proxiedServers().isEmpty)
    }

    @Test func `a report without TLS is sent to the proxy itself`() async throws {
        let calls = Calls()
        let proxy = try await HTTP1Listener(host: "127.0.0.1", port: 0) { await calls.record($0) }
        let proxies = HTTPProxies(environment: ["HTTP_PROXY": "http://user:secret@127.0.0.1:\(proxy.port)"])
        let webhook = try Webhook(
            url: "http://hooks.example.com/in?x=1",
            secret: Self.secret,
            allowsPrivateAddresses: true
        )
        let loop = try EventLoop()
        let report = try makeReport()
        try await report.send(to: webhook, through: proxies, on: loop)
        let requests = await calls.requests
        let request = try #require(requests.first)
        #expect(request.target == "/in?x=1" && request.fields["proxy-authorization"] == "Basic dXNlcjpzZWNyZXQ=")
        proxy.stop()
        loop.shutdown()
    }

    @Test func `a report goes through no proxy to a private address`() async throws {
        let proxy = try TunnelProxy()
        let proxies = HTTPProxies(environment: ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)"])
        let webhook = try Webhook(url: "https://10.0.0.5/in", secret: Self.secret)
        let loop = try EventLoop()
        let report = try makeReport()
        let error = await #expect(throws: RelayError.self) {
            try await report.send(to: webhook, through: proxies, on: loop)
        }
        #expect(error?.description == "the address 10.0.0.5 is not allowed" && proxy.requests.isEmpty)
        proxy.stop()
        loop.shutdown()
    }

    /// Accepts every call.
    private actor Calls {
        var requests: [HTTPRequest] = []

        func record(_ request: HTTPRequest) -> HTTP1Answer {
            requests.append(request)
            return .whole(HTTPResponse(status: 204))
        }
    }
}

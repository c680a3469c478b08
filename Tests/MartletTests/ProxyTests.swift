// SPDX-License-Identifier: Apache-2.0

import Martlet
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
    @Test func `a URL has the parts of a proxy`() throws {
        let proxy = try PushClient.Proxy(url: "http://user:p%40ss@proxy.example.com:3128")
        #expect(proxy == PushClient.Proxy(host: "proxy.example.com", port: 3_128, user: "user", password: "p@ss"))
        #expect("\(proxy)" == "Proxy(proxy.example.com:3128)")
    }

    @Test func `a URL of another kind is an error without the password`() {
        let error = #expect(throws: APNsError.self) { try PushClient.Proxy(url: "socks5://user:secret@proxy:1080") }
        #expect(error?.code == .invalid && error?.description.contains("secret") == false)
        #expect(error?.description.hasPrefix("proxy must be the URL of an HTTP proxy") == true, "\(error as Any)")
    }

    @Test func `the environment selects the proxy of an endpoint`() throws {
        let environment = [
            "HTTPS_PROXY": "http://secure:1", "HTTP_PROXY": "http://plain:2", "NO_PROXY": ".sandbox.push.apple.com",
        ]
        let (secure, plain) = (PushClient.Proxy(host: "secure", port: 1), PushClient.Proxy(host: "plain", port: 2))
        let relay = APNsEndpoint(host: "relay.example.com", port: 2_197, isEncrypted: false)
        #expect(try PushClient.Proxy.from(environment: environment, for: .production) == secure)
        #expect(try PushClient.Proxy.from(environment: environment, for: relay) == plain)
        #expect(try PushClient.Proxy.from(environment: environment, for: .development) == nil)
        #expect(try PushClient.Proxy.from(environment: [:], for: .production) == nil)
        #expect(try PushClient.Proxy.from(environment: environment, for: APNsEndpoint(host: "localhost")) == nil)
    }

    @Test func `a variable of another kind is named without the password`() {
        let error = #expect(throws: APNsError.self) {
            try PushClient.Proxy.from(environment: ["ALL_PROXY": "https://user:secret@proxy"], for: .production)
        }
        #expect(error?.code == .invalid && error?.description.contains("secret") == false)
        #expect(error?.description.hasPrefix("ALL_PROXY must be the URL") == true, "\(error as Any)")
    }
}

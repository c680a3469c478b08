// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite(.timeLimit(.minutes(10))) struct HTTPProxiesTests {
    /// Returns the host of the proxy for a server; nil for a direct connection.
    private func proxy(
        _ environment: [String: String],
        host: String = "api.push.apple.com",
        port: UInt16 = 443,
        isEncrypted: Bool = true
    ) throws -> String? {
        try HTTPProxies(environment: environment).proxy(for: host, port: port, isEncrypted: isEncrypted)?.host
    }

    @Test(
        arguments: [
            ([:], nil, nil), (["HTTPS_PROXY": "http://a"], "a", nil), (["https_proxy": "http://a"], "a", nil),
            (["HTTP_PROXY": "http://a"], nil, "a"), (["http_proxy": "http://a"], nil, "a"),
            (["ALL_PROXY": "http://a"], "a", "a"), (["all_proxy": "http://a"], "a", "a"),
            (["HTTPS_PROXY": "http://a", "HTTP_PROXY": "http://b", "ALL_PROXY": "http://c"], "a", "b"),
            (["HTTPS_PROXY": "http://a", "ALL_PROXY": "http://c"], "a", "c"),
            (["HTTPS_PROXY": "http://a", "https_proxy": "http://b"], "b", nil),
            (["HTTPS_PROXY": "", "ALL_PROXY": "http://c"], "c", "c"), (["HTTPS_PROXY": ""], nil, nil),
            (["HTTPS_PROXY": "http://a", "NO_PROXY": "*"], nil, nil),
        ] as [([String: String], String?, String?)]
    )
    func `the variable of the protocol precedes that of all`(
        environment: [String: String],
        encrypted: String?,
        cleartext: String?
    ) throws {
        #expect(try proxy(environment) == encrypted)
        #expect(try proxy(environment, isEncrypted: false) == cleartext)
    }

    @Test(arguments: [
        ("", "api.push.apple.com", true), ("*", "api.push.apple.com", false), ("a, *", "api.push.apple.com", false),
        ("apple.com", "api.push.apple.com", false), (".apple.com", "api.push.apple.com", false),
        ("*.apple.com", "api.push.apple.com", false), ("APPLE.com.", "api.push.Apple.com.", false),
        (".apple.com", "apple.com", false), ("pple.com", "apple.com", true), ("push", "api.push.apple.com", true),
        ("api.push.apple.com:443", "api.push.apple.com", false),
        ("api.push.apple.com:2197", "api.push.apple.com", true),
        ("example.com,apple.com", "api.push.apple.com", false), ("example.com apple.com", "apple.com", false),
        ("10.1.2.3", "10.1.2.3", false), ("10.1.2.3:443", "10.1.2.3", false), ("10.1.2.3:80", "10.1.2.3", true),
        ("10.0.0.0/8", "10.1.2.3", false), ("10.0.0.0/8", "11.1.2.3", true), ("10.1.2.0/23", "10.1.3.9", false),
        ("10.1.2.0/23", "10.1.4.1", true), ("0.0.0.0/0", "10.1.2.3", false), ("10.0.0.0/33", "10.1.2.3", true),
        ("10.0.0.0/x", "10.1.2.3", true), ("0.1", "10.0.0.1", true), ("10.0.0.0/8", "ten.example.com", true),
        ("fd00::1", "FD00:0::1", false), ("[fd00::1]:443", "fd00::1", false), ("[fd00::1]:80", "fd00::1", true),
        ("fd00::/8", "fd12::1", false), ("fd00::/8", "fe80::1", true), ("::/0", "10.1.2.3", true),
        ("!?,apple.com", "apple.com", false),
    ])
    func `NO_PROXY has names, addresses and networks`(list: String, host: String, isProxied: Bool) throws {
        for name in ["NO_PROXY", "no_proxy"] {
            #expect((try proxy(["HTTPS_PROXY": "http://a", name: list], host: host) != nil) == isProxied)
        }
    }

    @Test(arguments: ["localhost", "LOCALHOST.", "apns.localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    func `this machine is never reached through a proxy`(host: String) throws {
        #expect(try proxy(["ALL_PROXY": "http://a"], host: host) == nil)
        #expect(try proxy(["ALL_PROXY": "socks5://a"], host: host) == nil)
    }

    @Test(arguments: [
        (["HTTPS_PROXY": "socks5://u:secret@a"], "HTTPS_PROXY must be the URL of an HTTP proxy"),
        (["all_proxy": "https://u:secret@a"], "all_proxy must be the URL of an HTTP proxy"),
        (["https_proxy": "http://u:secret@a:x", "HTTPS_PROXY": "http://a"], "https_proxy must be"),
    ])
    func `an error names the variable and not the password`(environment: [String: String], message: String) throws {
        let error = #expect(throws: ProxyError.self) {
            try HTTPProxies(environment: environment).proxy(for: "api.push.apple.com", port: 443, isEncrypted: true)
        }
        #expect(error?.description.hasPrefix(message) == true, "\(error as Any)")
        #expect(error?.description.contains("secret") == false)
        let exempted = environment.merging(["NO_PROXY": "apple.com"]) { $1 }
        #expect(try proxy(exempted) == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite(.timeLimit(.minutes(10))) struct HTTPProxyTests {
    @Test(arguments: [
        ("http://proxy.example.com:3128", HTTPProxy(host: "proxy.example.com", port: 3_128)),
        ("HTTP://proxy.example.com:3128/", HTTPProxy(host: "proxy.example.com", port: 3_128)),
        ("proxy.example.com:3128", HTTPProxy(host: "proxy.example.com", port: 3_128)),
        ("http://proxy.example.com", HTTPProxy(host: "proxy.example.com", port: 80)),
        ("proxy", HTTPProxy(host: "proxy", port: 80)),
        ("http://10.1.2.3:8080", HTTPProxy(host: "10.1.2.3", port: 8_080)),
        ("http://[fd00::1]:8080", HTTPProxy(host: "fd00::1", port: 8_080)),
        ("[fd00::1]", HTTPProxy(host: "fd00::1", port: 80)),
        ("http://user@proxy:1", HTTPProxy(host: "proxy", port: 1, user: "user")),
        ("http://user:pass@proxy:1", HTTPProxy(host: "proxy", port: 1, user: "user", password: "pass")),
        ("user:pass@proxy:1", HTTPProxy(host: "proxy", port: 1, user: "user", password: "pass")),
        ("http://u%40x:p%3Aq%2F@proxy", HTTPProxy(host: "proxy", port: 80, user: "u@x", password: "p:q/")),
        ("http://user:a:b@c]%@proxy", HTTPProxy(host: "proxy", port: 80, user: "user", password: "a:b@c]%")),
    ])
    func `a URL has the parts of a proxy`(url: String, proxy: HTTPProxy) throws {
        #expect(try HTTPProxy(url: url) == proxy)
    }

    @Test(arguments: [
        ("https://user:secret@proxy:443", "(found https://)"), ("socks5://user:secret@proxy:1080", "(found socks5://)"),
        ("socks5h://proxy", "(found socks5h://)"), ("ftp://user:secret@proxy", "not shown"), ("", "not shown"),
        ("http://", "not shown"), ("http://user:secret@", "not shown"), ("http://user:secret@proxy:0", "not shown"),
        ("http://user:secret@proxy:65536", "not shown"), ("http://user:secret@proxy:port", "not shown"),
        ("http://user:secret@proxy:1/path", "not shown"), ("http://user:secret@fd00::1", "not shown"),
        ("http://user:secret@[fd00::1", "not shown"), ("http://user:secret@[fd00::1]1", "not shown"),
        ("http://user:secret@a\r\nx: y", "not shown"),
    ])
    func `a URL of another kind is an error without the password`(url: String, message: String) {
        let error = #expect(throws: ProxyError.self) { try HTTPProxy(url: url) }
        #expect(error?.description.hasPrefix("must be the URL of an HTTP proxy, such as http://") == true)
        #expect(error?.description.contains(message) == true, "\(error as Any)")
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `a proxy is printed without its password`() throws {
        let proxy = try HTTPProxy(url: "http://user:secret@[fd00::1]:3128")
        let authorization = try #require(proxy.authorization)
        var dumped = ""
        dump(proxy, to: &dumped)
        #expect("\(proxy)" == "[fd00::1]:3128" && String(reflecting: proxy) == "[fd00::1]:3128")
        #expect(!dumped.contains("secret") && !dumped.contains(authorization))
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite(.timeLimit(.minutes(10))) struct HostPortTests {
    @Test(
        arguments: [
            ("localhost:2197", "localhost", 2_197), ("localhost", "localhost", nil), ("10.0.0.5:0", "10.0.0.5", 0),
            ("[::1]:443", "::1", 443), ("[::1]", "::1", nil), ("::1", "::1", nil), ("fe80::1%lo", "fe80::1%lo", nil),
            ("push.example.com.:65535", "push.example.com.", 65_535),
        ] as [(String, String, UInt16?)]
    )
    func `a host has an optional port`(text: String, host: String, port: UInt16?) throws {
        #expect(try HostPort(text) == HostPort(host: host, port: port))
    }

    @Test(
        arguments: [
            ("", .host), (":1", .host), ("[::1", .host), ("a:1:2", .host), ("user@a", .host), ("a/b", .host),
            ("a b:1", .host),
            ("a:", .port), ("a:+1", .port), ("a:65536", .port), ("a:port", .port), ("[::1]1", .port),
        ] as [(String, HostPort.Fault)]
    )
    func `the part that is not valid is named`(text: String, fault: HostPort.Fault) {
        #expect(throws: fault) { try HostPort(text) }
    }

    @Test func `messages have brackets and no secret`() {
        let key = "mrt_abcdefghijklmnopqrstuvwxyz234567"
        #expect("\(HostPort(host: "::1", port: 443))" == "[::1]:443")
        #expect("\(HostPort(host: key, port: 1))" == "text of 36 characters (not shown, as it may be a secret):1")
        #expect("\(HTTPProxy(host: key, port: 1))" == "\(HostPort(host: key, port: 1))")
    }
}

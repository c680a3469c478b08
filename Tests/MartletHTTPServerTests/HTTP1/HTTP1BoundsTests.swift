// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletTransport

/// Requests at and beyond the bounds of a listener.
@Suite(.timeLimit(.minutes(10))) struct HTTP1BoundsTests {
    private func listener(limits: HTTP1Listener.Limits = HTTP1Listener.Limits()) async throws -> HTTP1Listener {
        try await HTTP1Listener(host: "127.0.0.1", port: 0, limits: limits) { request in
            .whole(HTTPResponse(status: 200, body: request.body))
        }
    }

    private func smallLimits() -> HTTP1Listener.Limits {
        var limits = HTTP1Listener.Limits()
        limits.bodyBytes = 1_000
        return limits
    }

    @Test func `a body of exactly the limit is accepted`() async throws {
        let listener = try await listener(limits: smallLimits())
        defer { listener.stop() }
        let body = String(repeating: "a", count: 1_000)
        let run = try await ProgramRun.curl(["-d", body, "http://127.0.0.1:\(listener.port)/"])
        #expect(run.text == body)
    }

    @Test func `a declared length over the limit is answered 413`() async throws {
        let listener = try await listener(limits: smallLimits())
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n")
        let answers = await RawHTTP1.answers(in: client.bytes())
        let answer = try #require(answers.first)
        #expect(answer.status == 413 && answer.fields["content-type"] == "application/problem+json")
        #expect(answer.body == #"{"status":413,"detail":"the body is longer than the 1000 bytes allowed here"}"#)
    }

    @Test func `curl with Expect 100-continue gets the 413`() async throws {
        let listener = try await listener(limits: smallLimits())
        defer { listener.stop() }
        let run = try await ProgramRun.curl([
            "-H", "Expect: 100-continue", "-o", "/dev/null", "--write-out", "%{http_code}",
            "-d", String(repeating: "a", count: 50_000), "http://127.0.0.1:\(listener.port)/",
        ])
        #expect(run.text == "413")
    }

    @Test func `a chunked body over the limit is answered 413`() async throws {
        let listener = try await listener(limits: smallLimits())
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        client.send("3e9\r\n\(String(repeating: "a", count: 1_001))\r\n0\r\n\r\n")
        #expect(await client.read().hasPrefix("HTTP/1.1 413"))
    }

    @Test func `a chunked body without an end is cut off`() async throws {
        let listener = try await listener(limits: smallLimits())
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<100 { client.send("3e8\r\n\(String(repeating: "a", count: 1_000))\r\n") }
        // The end of the connection is what is waited for; a listener that read on would never give it.
        #expect(!(await client.read()).hasPrefix("HTTP/1.1 200"))
        let run = try await ProgramRun.curl(["-d", "x", "http://127.0.0.1:\(listener.port)/"])
        #expect(run.text == "x")
    }

    @Test func `headers over the limit are refused, and others are served`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 100_000))\r\n\r\n")
        #expect(!(await client.read()).hasPrefix("HTTP/1.1 200"))
        let run = try await ProgramRun.curl(["-d", "x", "http://127.0.0.1:\(listener.port)/"])
        #expect(run.text == "x")
    }

    @Test(arguments: [
        "garbage\r\n\r\n", "\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `random input is not answered with 200, and other clients are served`(garbage: String) async throws {
        let listener = try await listener()
        defer { listener.stop() }
        do {
            let client = try RawClient(port: listener.port)
            client.send(garbage + "GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        }
        let run = try await ProgramRun.curl(["-d", "x", "http://127.0.0.1:\(listener.port)/"])
        #expect(run.text == "x")
    }

    @Test func `an idle connection is closed`() async throws {
        var limits = HTTP1Listener.Limits()
        limits.idleSeconds = 1
        let listener = try await listener(limits: limits)
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        #expect(await client.read() == "")
    }
}

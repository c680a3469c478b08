// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Clients of the HTTP interface that mean ill.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HostileHTTP1Tests {
    private static let head = "POST /api/v1/lint HTTP/1.1\r\nHost: localhost\r\n"

    /// The bytes to send, and the permitted status; nil if the connection may end without one.
    static let inputs: [(String, Int?, @Sendable () -> String)] = [
        ("a request line without end", 414, { "GET /" + String(repeating: "a", count: 1 << 20) }),
        ("a field without end", 431, { "GET / HTTP/1.1\r\nhost: " + String(repeating: "a", count: 1 << 20) }),
        ("fields without end", 431, { "GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 200_000) }),
        ("a body that is declared too long", 413, { head + "Content-Length: 99999999999\r\n\r\n" }),
        ("a body beyond all numbers", nil, { head + "Content-Length: 99999999999999999999999\r\n\r\n" }),
        ("a body of less than nothing", nil, { head + "Content-Length: -1\r\n\r\n" }),
        ("two lengths", nil, { head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}" }),
        (
            "a chunked body that is too long", nil,
            {
                let chunk = "10000\r\n" + String(repeating: "a", count: 0x10000) + "\r\n"
                return head + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 48)
            }
        ),
        ("a chunk of no length", nil, { head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n" }),
        ("a chunk of less than nothing", nil, { head + "Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n" }),
        (
            "a chunk beyond all numbers", nil,
            { head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n" }
        ),
        ("a chunk that is longer than it says", nil, { head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{}{}{}\r\n" }),
        (
            "a length of a chunk without end", nil,
            {
                head + "Transfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "a", count: 1 << 20)
            }
        ),
        (
            "chunks and a length", nil,
            {
                head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\n\r\n"
            }
        ),
        (
            "a query of many parameters", nil,
            {
                "GET /api/v1/pushes?" + String(repeating: "a=b&", count: 500) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
            }
        ),
        (
            "JSON nested without end", nil,
            {
                head + "Content-Length: 1000000\r\n\r\n" + String(repeating: "[", count: 1_000_000)
            }
        ),
    ]

    @Test(arguments: inputs, Witness.Target.allCases)
    func `a malformed request gets an error or a closed connection`(
        input: (name: String, status: Int?, text: @Sendable () -> String),
        target: Witness.Target
    ) async throws {
        let (_, status, text) = input
        let witness = try await Witness(of: target)
        let raw = try RawClient(port: witness.httpPort)
        async let received = raw.read(until: "\r\n\r\n")
        await raw.sendAll(Array(text().utf8))
        raw.finish()
        let answer = await received
        if let status {
            // A relay refuses the body of a caller without a key before it looks at its length.
            let expected = status == 413 && target == .relay ? 401 : status
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 \(expected)"), "\(answer.prefix(100))")
        }
        #expect(!answer.hasPrefix("HTTP/1.1 2"), "\(answer.prefix(100))")
        let alive = try await ProgramRun.curl(["http://localhost:\(witness.httpPort)/livez"])
        #expect(alive.text == "ok\n")
        try await witness.finish()
    }

    @Test(arguments: Witness.Target.allCases)
    func `a request that can be read in two ways is refused and ends its connection`(target: Witness.Target)
        async throws
    {
        let witness = try await Witness(of: target)
        for (text, status) in MalformedHTTP1.requests {
            let raw = try RawClient(port: witness.httpPort)
            raw.send(text)
            let answers = RawHTTP1.answers(in: await raw.bytes())
            #expect(answers.map(\.status) == [status], "\(text.debugDescription)")
        }
        try await witness.finish()
    }

    /// More connections than there are places, none of which ever ends its request.
    @Test(arguments: Witness.Target.allCases)
    func `clients with endless requests do not block others`(target: Witness.Target) async throws {
        let witness = try await Witness(of: target)
        var crowd: [RawClient] = []
        let parameters = "GET /?" + String(repeating: "a=b&", count: 10_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let beginnings = ["", "G", "GET / HTTP/1.1\r\n", Self.head + "Content-Length: 10\r\n\r\n{", parameters]
        for number in 0..<1_100 {
            let raw = try RawClient(port: witness.httpPort)
            raw.send(beginnings[number % beginnings.count])
            crowd.append(raw)
        }
        let alive = try await ProgramRun.curl(["http://localhost:\(witness.httpPort)/livez"])
        #expect(alive.text == "ok\n")
        crowd = []
        try await witness.finish(within: 96 << 20)
    }
}

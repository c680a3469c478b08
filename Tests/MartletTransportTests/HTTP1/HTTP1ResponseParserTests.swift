// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct HTTP1ResponseParserTests {
    private func state(_ text: String, isAll: Bool = false) -> HTTP1ResponseParser.State {
        var parser = HTTP1ResponseParser(longestBody: 100)
        return parser.state(of: Array(text.utf8), isAll: isAll)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", "HTTP/1.0 200 OK\r\n\r\nhello",
        "HTTP/1.1 200 \r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\nCONTENT-LENGTH:5\r\n\r\nhello",
    ])
    func `an answer is complete at its end and not before`(text: String) {
        let bytes = Array(text.utf8)
        var parser = HTTP1ResponseParser(longestBody: 100)
        for end in 0..<bytes.count - 2 {
            let state = parser.state(of: Array(bytes[..<end]), isAll: false)
            guard case .incomplete = state else {
                Issue.record("at \(end): \(state)")
                return
            }
        }
        for state in [state(text, isAll: true), parser.state(of: bytes, isAll: true)] {
            guard case .complete(let response) = state else {
                Issue.record("\(state)")
                return
            }
            #expect(response.status == 200 && response.body == Array("hello".utf8))
        }
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 101),
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7fffffffffffffff\r\n",
        "HTTP/1.1 " + String(repeating: "x", count: 20_000),
    ])
    func `a malformed or too long answer is invalid`(text: String) {
        guard case .invalid = state(text) else {
            Issue.record("\(state(text))")
            return
        }
    }

    @Test func `more than 16 KB of interim answers are invalid`() {
        let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        var parser = HTTP1ResponseParser(longestBody: 100)
        var bytes: [UInt8] = []
        for _ in 0..<1_000 {
            bytes += interim
            guard case .incomplete = parser.state(of: bytes, isAll: false) else { break }
        }
        #expect(bytes.count > 16_000 && bytes.count < 17_000)
        guard case .invalid = parser.state(of: bytes, isAll: false) else {
            Issue.record("\(parser.state(of: bytes, isAll: false))")
            return
        }
    }

    @Test(arguments: [
        "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\nxxxx",
        "HTTP/1.1 204 OK\r\ncontent-length: 99999999999\r\n\r\nx", "HTTP/1.1 103 \r\n\r\nHTTP/1.1 204 \r\n\r\nxxxx",
    ])
    func `an answer without its body is whole after its head`(text: String) {
        var parser = HTTP1ResponseParser(longestBody: 100, readsBody: false)
        guard case .complete(let response) = parser.state(of: Array(text.utf8), isAll: false) else {
            Issue.record("\(parser.state(of: Array(text.utf8), isAll: false))")
            return
        }
        #expect(response.status == 204 && response.body.isEmpty)
    }

    @Test func `fields, interim answers and bodies without end have their own errors`() {
        let field = String(repeating: "x: y\r\n", count: 3_000)
        let interim = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1_000)
        let cases: [(text: String, reason: HTTP1ResponseParser.Problem)] = [
            ("HTTP/1.1 200 OK\r\n" + field, .longHead), (interim, .interimResponses), ("SSH-2.0\r\n", .noResponse),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n", .longBody),
        ]
        for (text, expected) in cases {
            guard case .invalid(let reason) = state(text) else {
                Issue.record("\(expected): \(state(text))")
                continue
            }
            #expect(reason == expected)
        }
    }

    @Test func `a truncated answer is incomplete`() {
        guard case .incomplete = state("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel", isAll: true) else {
            Issue.record("half an answer is taken for one")
            return
        }
    }
}

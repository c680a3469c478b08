// SPDX-License-Identifier: Apache-2.0

import MartletCore
import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletTransport

@Suite struct HTTP1RequestParserTests {
    /// The events of bytes that arrive in pieces of a size, and the violation that ends them.
    private func events(
        _ text: String,
        pieces size: Int = .max
    ) -> (events: [HTTP1RequestParser.Event], violation: HTTP1Violation?) {
        events(Array(text.utf8), pieces: { size })
    }

    private func events(
        _ bytes: [UInt8],
        pieces size: () -> Int
    ) -> (events: [HTTP1RequestParser.Event], violation: HTTP1Violation?) {
        var parser = HTTP1RequestParser()
        var events: [HTTP1RequestParser.Event] = []
        var rest = bytes[...]
        do throws(HTTP1Violation) {
            while !rest.isEmpty {
                let piece = Array(rest.prefix(size()))
                rest = rest.dropFirst(piece.count)
                piece.withUnsafeBytes { parser.append($0) }
                while let event = try parser.next() { events.append(event) }
            }
        } catch {
            return (joined(events), error)
        }
        return (joined(events), nil)
    }

    /// The events, with pieces of one body put together.
    private func joined(_ events: [HTTP1RequestParser.Event]) -> [HTTP1RequestParser.Event] {
        events.reduce(into: []) { joined, event in
            if case .body(let more) = event, case .body(let bytes)? = joined.last {
                joined[joined.count - 1] = .body(bytes + more)
            } else {
                joined.append(event)
            }
        }
    }

    private func head(_ text: String) throws -> HTTP1RequestHead {
        guard case .head(let head)? = events(text).events.first else {
            throw HTTP1Violation(0, "\(String(describing: events(text).violation))")
        }
        return head
    }

    // MARK: Requests that are taken

    @Test func `a request is parsed into its line, fields and body`() throws {
        let text = "POST /a?b HTTP/1.1\r\nHost: h:1\r\nX-One:\t 1 \r\nContent-Length: 3\r\n\r\nabc"
        let (events, violation) = events(text)
        #expect(violation == nil)
        let head = try head(text)
        #expect(head.request.method == "POST" && head.request.target == "/a?b")
        #expect(head.request.fields[":authority"] == "h:1" && head.request.fields["x-one"] == "1")
        #expect(events == [.head(head), .body(Array("abc".utf8)), .end])
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true), ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, Close\r\n\r\n", false), ("GET / HTTP/1.0\r\n\r\n", false),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
    ])
    func `the version and the connection field decide about keep-alive`(text: String, keepsAlive: Bool) throws {
        #expect(try head(text).keepsAlive == keepsAlive)
    }

    @Test(arguments: [
        ("/", "/", "a"), ("*", "*", "a"), ("http://b:2/c?d", "/c?d", "b:2"), ("HTTP://b", "/", "b"),
        ("http://b?c", "/?c", "b"),
    ])
    func `a target is a path or absolute`(target: String, path: String, authority: String) throws {
        let head = try head("OPTIONS \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(head.request.target == path && head.request.fields[":authority"] == authority)
    }

    @Test func `chunks are joined, and extensions and trailer fields ignored`() throws {
        let text =
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
            + "3;name=value\r\nabc\r\n00A\r\n0123456789\r\n0\r\nX-Check: 1\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n"
        let (events, violation) = events(text)
        #expect(violation == nil && events.count == 5)
        #expect(events[1] == .body(Array("abc0123456789".utf8)))
        guard case .head(let next) = events[3] else { throw HTTP1Violation(0, "no second request") }
        #expect(next.request.target == "/next" && next.request.fields["x-check"] == nil)
    }

    @Test func `one empty line before a request is skipped`() {
        #expect(events("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").violation == nil)
    }

    // MARK: Requests that are refused

    @Test(arguments: MalformedHTTP1.requests) func `an ambiguous request is refused`(text: String, status: Int) {
        let (events, violation) = events(text)
        #expect(violation?.status == status, "\(events)")
        #expect(events.isEmpty, "nothing of it reaches a handler")
    }

    @Test(arguments: [
        "x\r\n", "-1\r\n", " 1\r\na\r\n", "1 \r\na\r\n", "0x1\r\na\r\n", "fffffffffffffffff\r\n", "\r\n", "1\na\r\n",
        "1\r\nab\r\n", "1\r\na\n", "1;\u{0}\r\na\r\n", "0\r\nX : 1\r\n\r\n", "0\r\n folded\r\n\r\n",
    ])
    func `ambiguous chunks are refused`(chunks: String) {
        let (events, violation) = events("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        #expect(violation?.status == 400)
        #expect(!events.contains(.end))
    }

    @Test func `lines, heads, numbers of fields and trailers have bounds`() {
        #expect(events("GET /" + String(repeating: "a", count: 17_000)).violation?.status == 414)
        #expect(events("GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 70_000)).violation?.status == 431)
        let many = String(repeating: "a: b\r\n", count: 129)
        #expect(events("GET / HTTP/1.1\r\n" + many).violation?.status == 431)
        let large = String(repeating: "a: " + String(repeating: "b", count: 1_000) + "\r\n", count: 66)
        #expect(events("GET / HTTP/1.1\r\n" + large).violation?.status == 431)
        let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        #expect(events(chunked + large).violation?.status == 431)
        #expect(events(chunked + many).violation?.status == 431)
    }

    @Test func `trailer fields do not count against the next request`() {
        let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        let trailer = String(repeating: "a: " + String(repeating: "b", count: 500) + "\r\n", count: 100)
        let next = "GET / HTTP/1.1\r\nHost: a\r\n" + trailer + "\r\n"
        let (events, violation) = events(chunked + trailer + "\r\n" + next)
        #expect(violation == nil && events.count { $0 == .end } == 2)
    }

    // MARK: Pieces and chance

    private static let samples = [
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n0123456789GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n3;x\r\nfgh\r\n0\r\nT: 1\r\n\r\n",
        "\r\nGET http://b/c HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\nx",
    ]

    @Test(arguments: samples) func `a message reads the same in pieces of any size`(text: String) {
        let whole = events(text)
        #expect(whole.violation == nil)
        for size in 1...40 {
            let pieces = events(text, pieces: size)
            #expect(pieces.events == whole.events && pieces.violation == nil, "pieces of \(size)")
        }
    }

    @Test func `changed messages have the same events in pieces`() {
        var random = SplitMix64(state: 7)
        for round in 0..<20_000 {
            var bytes = Array(Self.samples[round % Self.samples.count].utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert("\r\n :;,\0".utf8.randomElement(using: &random) ?? 0, at: index)
                }
            }
            let whole = events(bytes, pieces: { .max })
            let pieces = events(bytes, pieces: { Int.random(in: 1...20, using: &random) })
            // The events before a violation may be divided differently, but are the same.
            #expect(pieces.violation == whole.violation && pieces.events == whole.events)
        }
    }
}

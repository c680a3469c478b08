// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletTransport

/// Compressed responses, as curl and gzip read them.
@Suite(.timeLimit(.minutes(10))) struct CompressedResponseTests {
    private static let text = String(repeating: "an order is ready\n", count: 40_000)
    private static let page = PageFiles(PageFile.inbox)

    /// Serves a file of the inbox, and else bodies by their path: `/<size>/<type>`.
    private func listener() async throws -> HTTP1Listener {
        try await HTTP1Listener(host: "127.0.0.1", port: 0) { request in
            if let page = Self.page.answer(request) { return page }
            let parts = request.path.split(separator: "/", maxSplits: 1)
            guard parts.count == 2, let size = Int(parts[0]) else { return .text("?", status: 404) }
            return .text(String(Self.text.prefix(size)), type: String(parts[1]))
        }
    }

    /// A response with the names of its fields in lower case.
    private struct Answer {
        var fields: [String: String] = [:]
        var body: [UInt8]
        var status: String

        init(_ run: ProgramRun) throws {
            let end = try #require(run.output.firstRange(of: Array("\r\n\r\n".utf8)))
            let head = String(decoding: run.output[..<end.lowerBound], as: UTF8.self)
            let lines = head.split(separator: "\r\n")
            status = String(lines[0].split(separator: " ")[1])
            body = Array(run.output[end.upperBound...])
            for line in lines.dropFirst() {
                let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
                fields[parts[0].lowercased()] = String(parts[1])
            }
        }

        /// The body without its coding.
        var decoded: [UInt8] {
            get async throws {
                guard fields["content-encoding"] == "gzip" else { return body }
                let run = try await ProgramRun("gzip", ["--decompress", "--stdout"], input: body)
                #expect(run.status == 0, "\(run.errorOutput)")
                return run.output
            }
        }
    }

    private func get(_ listener: HTTP1Listener, _ path: String, _ more: String...) async throws -> Answer {
        try Answer(try await .curl(["--include", "http://127.0.0.1:\(listener.port)\(path)"] + more))
    }

    private static let gzip = "Accept-Encoding: gzip"

    @Test(arguments: [
        "application/json", "application/jsonl", "application/problem+json", "text/plain; charset=utf-8", "text/html",
        "text/css", "text/javascript",
    ])
    func `a long text is compressed for a client that accepts it`(type: String) async throws {
        let listener = try await listener()
        defer { listener.stop() }
        for size in [1_024, 5_000, 131_072, 131_073, 700_000] {
            let expected = Array(Self.text.utf8.prefix(size))
            let path = "/\(size)/\(type.replacing(" ", with: ""))"
            let coded = try await get(listener, path, "--header", Self.gzip)
            #expect(coded.fields["content-encoding"] == "gzip" && coded.fields["vary"] == "accept-encoding")
            #expect(coded.fields["content-length"] == "\(coded.body.count)" && coded.body.count < size)
            #expect(try await coded.decoded == expected)
            let plain = try await get(listener, path)
            #expect(plain.fields["content-encoding"] == nil && plain.fields["vary"] == "accept-encoding")
            #expect(plain.body == expected)
        }
    }

    @Test(arguments: ["/1023/application/json", "/9000/application/octet-stream", "/9000/image/png", "/x"])
    func `short bodies and other types are not compressed`(path: String) async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let answer = try await get(listener, path, "--header", Self.gzip)
        #expect(answer.fields["content-encoding"] == nil && answer.fields["vary"] == nil)
    }

    @Test func `HEAD has the fields of GET`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        for path in ["/", "/9000/application/json"] {
            for more in [["--header", Self.gzip], []] {
                let url = "http://127.0.0.1:\(listener.port)\(path)"
                let get = try Answer(try await .curl(["--include", url] + more))
                let head = try Answer(try await .curl(["--head", url] + more))
                #expect(head.fields.filter { $0.key != "date" } == get.fields.filter { $0.key != "date" })
                #expect(head.body.isEmpty && get.fields["content-length"] == "\(get.body.count)")
            }
        }
    }

    @Test func `streamed bodies are not compressed`() async throws {
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in
            let (pieces, writer) = AsyncStream.makeStream(of: [UInt8].self)
            for _ in 0..<3 { writer.yield(Array(Self.text.utf8.prefix(5_000))) }
            writer.finish()
            return .pieces(["content-type": "text/event-stream"], pieces)
        }
        defer { listener.stop() }
        let answer = try await get(listener, "/", "--header", Self.gzip)
        #expect(answer.fields["content-encoding"] == nil && answer.body.count == 15_003)
    }

    @Test func `each form of a file has its own entity tag`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let file = try #require(PageFile.inbox.first { $0.path == "/" })
        let plain = try await get(listener, "/")
        let coded = try await get(listener, "/", "--header", Self.gzip)
        #expect(plain.body == file.bytes && plain.fields["content-encoding"] == nil)
        #expect(try await coded.decoded == file.bytes && coded.body.count < file.bytes.count)
        #expect(plain.fields["vary"] == "accept-encoding" && coded.fields["vary"] == "accept-encoding")
        let (plainTag, codedTag) = (try #require(plain.fields["etag"]), try #require(coded.fields["etag"]))
        #expect(plainTag != codedTag)

        for (tags, more, status) in [
            (codedTag, [Self.gzip], "304"), (plainTag, [Self.gzip], "200"), (plainTag, [], "304"),
            (codedTag, [], "200"), ("\"a\", W/\(codedTag)", [Self.gzip], "304"), ("*", [], "304"), ("\"a\"", [], "200"),
        ] {
            let fields = (more + ["If-None-Match: \(tags)"]).flatMap { ["--header", $0] }
            let run = try await ProgramRun.curl(["--include", "http://127.0.0.1:\(listener.port)/"] + fields)
            let answer = try Answer(run)
            #expect(answer.status == status, "\(tags) \(more)")
            guard status == "304" else { continue }
            #expect(answer.body.isEmpty && answer.fields["content-encoding"] == nil)
            #expect(answer.fields["etag"] == (more.isEmpty ? plainTag : codedTag))
            #expect(answer.fields["vary"] == "accept-encoding" && answer.fields["cache-control"] == "no-cache")
        }
    }

    @Test func `curl decodes what it asked for`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        for file in PageFile.inbox + PageFile.relay where file.bytes.count > HTTPResponse.smallestCompressedBody {
            let answer = PageFiles([file]).answer(
                HTTPRequest(
                    method: "GET",
                    scheme: "http",
                    authority: "a",
                    target: file.path,
                    fields: ["accept-encoding": "gzip"]
                )
            )
            guard case .whole(let response)? = answer else {
                Issue.record("\(file.path) is not answered as a whole")
                continue
            }
            #expect(response.fields["content-encoding"] == "gzip", "\(file.path)")
        }
        let url = "http://127.0.0.1:\(listener.port)/700000/application/json"
        #expect(try await ProgramRun.curl(["--compressed", url]).text == Self.text.prefix(700_000))
    }

    @Test func `a body that does not become smaller stays as it is`() async throws {
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<5_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let response = HTTPResponse(status: 200, fields: ["content-type": "text/plain"], body: noise)
        let request = HTTPRequest(
            method: "GET",
            scheme: "http",
            authority: "a",
            target: "/",
            fields: ["accept-encoding": "gzip"]
        )
        let coded = await response.coded(for: request)
        #expect(coded.body == noise && coded.fields["content-encoding"] == nil)
        #expect(response.compressed == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletTransport

@Suite(.timeLimit(.minutes(10))) struct HTTP1ListenerTests {
    private func listener(
        limits: HTTP1Listener.Limits = HTTP1Listener.Limits(),
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse = echo
    ) async throws -> HTTP1Listener {
        try await HTTP1Listener(host: "127.0.0.1", port: 0, limits: limits) { .whole(await handler($0)) }
    }

    /// Answers with the received request.
    private static let echo: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
        HTTPResponse(status: 200, fields: ["x-target": request.target, "x-method": request.method], body: request.body)
    }

    @Test(arguments: [
        "GET /", "GET / HTTP/1.1\r\nHost: ", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n",
    ])
    func `a client that sends single bytes is closed in the end`(beginning: String) async throws {
        var limits = HTTP1Listener.Limits()
        limits.idleSeconds = 1
        limits.requestSeconds = 0
        let listener = try await listener(limits: limits)
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send(beginning)
        #expect(await client.drip(UInt8(ascii: "a")))
        #expect(await !client.read().hasPrefix("HTTP/1.1 2"))
    }

    // MARK: Requests

    @Test func `path and query arrive exactly as sent`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let target = "/a%2Fb/%41?x=%20y&z=1+2&x=%zz"
        let run = try await ProgramRun.curl(["-i", "http://127.0.0.1:\(listener.port)\(target)"])
        #expect(run.text.contains("x-target: \(target)\r\n"))
    }

    @Test func `pseudo fields are followed by all header fields, in order and in lower case`() async throws {
        let listener = try await listener { request in
            HTTPResponse(status: 200, body: Array(request.fields.map { "\($0.name)=\($0.value)\n" }.joined().utf8))
        }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send(
            "GET /p?q HTTP/1.1\r\nX-One: 1\r\nHost: there:80\r\nx-TWO: 2\r\nX-One: 3\r\nConnection: close\r\n\r\n"
        )
        let answer = await client.read()
        let body = answer.components(separatedBy: "\r\n\r\n").last
        #expect(
            body == """
                :method=GET
                :scheme=http
                :authority=there:80
                :path=/p?q
                x-one=1
                host=there:80
                x-two=2
                x-one=3
                connection=close

                """
        )
    }

    @Test(arguments: [0, 1, 1_000, 300_000, 1 << 20]) func `a body arrives complete`(size: Int) async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("body-\(UUID().uuidString)")
        try Data(body).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let run = try await ProgramRun.curl([
            "--data-binary", "@\(file.path)", "http://127.0.0.1:\(listener.port)/",
        ])
        // One comparison, because a difference of two megabytes would take hours to print.
        let isWhole = run.output == body
        #expect(run.status == 0 && isWhole)
    }

    @Test func `a chunked body arrives complete`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        client.send("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        #expect(await client.read().hasSuffix("\r\n\r\nabcde"))
    }

    @Test func `HEAD is answered like GET without the body`() async throws {
        let listener = try await listener { _ in HTTPResponse(status: 200, body: Array("12345".utf8)) }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answer = await client.read()
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.lowercased().contains("content-length: 5\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test func `one connection carries many requests`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let url = "http://127.0.0.1:\(listener.port)/"
        let run = try await ProgramRun.curl(["--write-out", "%{num_connects}\n", "-d", "a", url, "-d", "b", url, url])
        #expect(run.status == 0)
        let connects = run.text.split(separator: "\n").compactMap { $0.last.flatMap { Int(String($0)) } }
        #expect(connects.reduce(0, +) == 1)
    }

    @Test func `requests sent ahead are answered in order`() async throws {
        let listener = try await listener { HTTPResponse(status: 200, body: Array($0.target.utf8)) }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answer = await client.read()
        let first = try #require(answer.range(of: "\r\n\r\n/1"))
        let second = try #require(answer.range(of: "\r\n\r\n/2"))
        #expect(first.upperBound <= second.lowerBound)
    }

    @Test func `a hundred concurrent requests each get their own answer`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let port = listener.port
        let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<100 {
                group.addTask {
                    let client = try RawClient(port: port)
                    client.send("POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\n")
                    client.send(String(format: "%04d", number))
                    let answer = await client.read()
                    return (number, answer)
                }
            }
            return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        #expect(answers.count == 100)
        for (number, answer) in answers {
            #expect(answer.hasSuffix(String(format: "\r\n\r\n%04d", number)))
        }
    }

    // MARK: Handlers

    @Test func `a waiting handler does not delay another request`() async throws {
        let gate = Gate()
        let listener = try await listener { request in
            if request.target == "/slow" { await gate.wait() }
            return HTTPResponse(status: 200, body: Array(request.target.utf8))
        }
        defer { listener.stop() }
        let slow = try RawClient(port: listener.port)
        slow.send("GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let quick = try await ProgramRun.curl(["http://127.0.0.1:\(listener.port)/quick"])
        #expect(quick.text == "/quick")
        gate.open()
        #expect(await slow.read().hasSuffix("/slow"))
    }

    @Test func `an incomplete request does not delay another request`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let half = try RawClient(port: listener.port)
        half.send("POST /half HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nConnection: close\r\n\r\n12345")
        let whole = try await ProgramRun.curl(["-d", "x", "http://127.0.0.1:\(listener.port)/"])
        #expect(whole.text == "x")
        half.send("67890")
        #expect(await half.read().hasSuffix("1234567890"))
    }

    @Test func `a client that closes before its answer does not affect others`() async throws {
        let started = Gate()
        let gate = Gate()
        let listener = try await listener { request in
            if request.target == "/left" {
                started.open()
                await gate.wait()
            }
            return HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: 500_000))
        }
        defer { listener.stop() }
        do {
            let client = try RawClient(port: listener.port)
            client.send("GET /left HTTP/1.1\r\nHost: a\r\n\r\n")
            await started.wait()
        }
        gate.open()
        let run = try await ProgramRun.curl(["http://127.0.0.1:\(listener.port)/next"])
        #expect(run.output.count == 500_000)
    }

    @Test func `the handler of a client that closes is cancelled`() async throws {
        let started = Gate()
        let cancelled = Gate()
        let listener = try await listener { _ in
            await withTaskCancellationHandler {
                started.open()
                await cancelled.wait()
            } onCancel: {
                cancelled.open()
            }
            return HTTPResponse(status: 200)
        }
        defer { listener.stop() }
        do {
            let client = try RawClient(port: listener.port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await started.wait()
        }
        await cancelled.wait()
    }

    @Test func `a client that closed its writing side gets its answer`() async throws {
        let listener = try await listener()
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("GET /last HTTP/1.1\r\nHost: a\r\n\r\n")
        client.finish()
        #expect(await client.read().contains("x-target: /last"))
    }

    @Test func `waiting clients are not closed for others and get their answers`() async throws {
        var limits = HTTP1Listener.Limits()
        limits.connections = 50
        let gate = Gate()
        let waiting = AsyncStream.makeStream(of: Void.self)
        let listener = try await listener(limits: limits) { request in
            if request.target == "/wait" {
                waiting.continuation.yield()
                await gate.wait()
            }
            return HTTPResponse(status: 200, body: Array("answered".utf8))
        }
        defer { listener.stop() }
        var idle: [RawClient] = []
        for _ in 0..<20 { idle.append(try RawClient(port: listener.port)) }
        var clients: [RawClient] = []
        for _ in 0..<49 {
            let client = try RawClient(port: listener.port)
            client.send("GET /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            clients.append(client)
        }
        var count = 0
        for await _ in waiting.stream {
            count += 1
            if count == clients.count { break }
        }
        for _ in 0..<10 {
            let run = try await ProgramRun.curl(["http://127.0.0.1:\(listener.port)/"])
            #expect(run.text == "answered")
        }
        gate.open()
        for client in clients { #expect(await client.read().hasSuffix("answered")) }
        withExtendedLifetime(idle) {}
    }

    @Test func `a client in HTTP 1_0 gets pieces without chunks, and the end of the connection`() async throws {
        let (pieces, writer) = AsyncStream.makeStream(of: [UInt8].self)
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in .pieces([:], pieces) }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.0\r\n\r\n")
        writer.yield(Array("one".utf8))
        writer.finish()
        #expect(await client.read().hasSuffix("connection: close\r\n\r\none"))
    }

    @Test func `a request that stops half-way is answered 408`() async throws {
        var limits = HTTP1Listener.Limits()
        limits.idleSeconds = 1
        let listener = try await listener(limits: limits)
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
        #expect(await client.read().hasPrefix("HTTP/1.1 408"))
    }

    @Test func `answers have a date, and no connection fields of a handler`() async throws {
        let listener = try await listener { _ in
            HTTPResponse(status: 200, fields: ["connection": "upgrade", "transfer-encoding": "chunked"])
        }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answer = await client.read()
        #expect(answer.contains(" GMT\r\n") && answer.contains("\r\nconnection: close\r\n"))
        #expect(!answer.contains("upgrade") && !answer.contains("transfer-encoding"))
    }

    @Test(arguments: [
        (0, "a", "b"), (99, "a", "b"), (1_000, "a", "b"), (200, "a", "b\r\nset-cookie: c"), (200, "a b", "c"),
    ])
    func `a response that HTTP/1_1 cannot carry becomes a 500`(status: Int, name: String, value: String) async throws {
        let listener = try await listener { _ in
            var fields = HTTPFields()
            fields.append(name, value)
            return HTTPResponse(status: status, fields: fields)
        }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answer = await client.read()
        #expect(answer.hasPrefix("HTTP/1.1 500"))
        #expect(!answer.lowercased().contains("set-cookie"))
    }

    @Test func `a handler may name the length of its answer itself`() async throws {
        let listener = try await listener { _ in
            HTTPResponse(status: 200, fields: ["content-length": "2"], body: Array("ok".utf8))
        }
        defer { listener.stop() }
        let run = try await ProgramRun.curl(["http://127.0.0.1:\(listener.port)/"])
        #expect(run.text == "ok")
    }

    // MARK: Stopping

    @Test func `a stopped listener closes its connections and can be stopped again`() async throws {
        let listener = try await listener()
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        listener.stop()
        #expect(await client.isClosedByPeer())
        listener.stop()
    }

    @Test func `a released listener stops`() async throws {
        let client: RawClient
        do {
            let listener = try await listener()
            client = try RawClient(port: listener.port)
            withExtendedLifetime(listener) {}
        }
        #expect(await client.isClosedByPeer())
    }

    @Test func `a request whose handler still runs at the stop is cut off`() async throws {
        let started = Gate()
        let gate = Gate()
        let listener = try await listener { _ in
            started.open()
            await gate.wait()
            return HTTPResponse(status: 200)
        }
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await started.wait()
        listener.stop()
        let answer = await client.read()
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 503"))
        // The handler's own answer comes too late and is dropped.
        gate.open()
    }

    @Test func `stopping under load ends without a crash`() async throws {
        for _ in 0..<40 {
            let busy = Gate()
            let listener = try await listener { _ in
                busy.open()
                await Task.yield()
                return HTTPResponse(status: 200, body: Array("ok".utf8))
            }
            let port = listener.port
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        guard let client = try? RawClient(port: port) else { return }
                        client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 50))
                        _ = await client.read()
                    }
                }
                await busy.wait()
                listener.stop()
            }
        }
    }
}

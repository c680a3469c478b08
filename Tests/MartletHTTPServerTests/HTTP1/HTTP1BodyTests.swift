// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletTransport

/// Bodies that are read while they arrive.
@Suite(.timeLimit(.minutes(10))) struct HTTP1BodyTests {
    private func listener(_ handler: @escaping HTTP1Listener.Handler) async throws -> HTTP1Listener {
        try await HTTP1Listener(host: "127.0.0.1", port: 0, admission: { _ in .streamed(handler) })
    }

    private static let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// The number of bytes in a body; nil when it broke.
    private static func length(of body: HTTP1Body) async -> Int? {
        var count = 0
        do {
            for try await piece in body { count += piece.count }
            return count
        } catch {
            return nil
        }
    }

    @Test func `pieces are answered while others are still to come`() async throws {
        let listener = try await listener { _, body in
            let (pieces, writer) = AsyncStream.makeStream(of: [UInt8].self)
            Task {
                var iterator = body.makeAsyncIterator()
                while let piece = try? await iterator.next() { writer.yield(piece) }
                writer.finish()
            }
            return .pieces([:], pieces)
        }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send(Self.head)
        for word in ["one", "two", "three"] {
            client.send("\(String(word.utf8.count, radix: 16))\r\n\(word)\r\n")
            #expect(await client.read(until: word + "\r\n").hasSuffix(word + "\r\n"))
        }
        client.send("0\r\n\r\n")
        #expect(await client.read(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
    }

    @Test func `a long body and the next request are read`() async throws {
        let listener = try await listener { request, body in
            let count = await Self.length(of: body)
            return .whole(HTTPResponse(status: 200, body: Array("\(request.target) \(count ?? -1)".utf8)))
        }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        let count = 5_000_000
        async let answers = client.read()
        let head = "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n"
        await client.sendAll(Array(head.utf8) + [UInt8](repeating: 65, count: count))
        await client.sendAll(Array("GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
        let text = await answers
        #expect(text.contains("/1 \(count)") && text.hasSuffix("/2 0"))
    }

    @Test func `a body that the handler does not read is not received`() async throws {
        let gate = Gate()
        let started = Gate()
        let listener = try await listener { _, body in
            started.open()
            await gate.wait()
            let count = await Self.length(of: body)
            return .whole(HTTPResponse(status: 200, body: Array("\(count ?? -1)".utf8)))
        }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        let count = 30_000_000
        let isSent = Gate()
        async let upload: Void = {
            await client.sendAll(
                Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\nConnection: close\r\n\r\n".utf8)
                    + [UInt8](repeating: 65, count: count)
            )
            isSent.open()
        }()
        await started.wait()
        // Another client is served many times meanwhile, and the first one still has most of its body.
        for _ in 0..<20 {
            let other = try RawClient(port: listener.port)
            other.send("GARBAGE\r\n\r\n")
            #expect(await other.read().hasPrefix("HTTP/1.1 400"))
        }
        #expect(!isSent.isOpen)
        gate.open()
        await upload
        #expect(await client.read().hasSuffix("\(count)"))
    }

    @Test func `a truncated body is an error`() async throws {
        let ended = AsyncStream.makeStream(of: Int?.self)
        let listener = try await listener { _, body in
            ended.continuation.yield(await Self.length(of: body))
            return .whole(HTTPResponse(status: 200))
        }
        defer { listener.stop() }
        for end in ["", "zz\r\n", "3\r\nabcd\r\n"] {
            let client = try RawClient(port: listener.port)
            client.send(Self.head + "3\r\nabc\r\n" + end)
            client.finish()
            let length = await ended.stream.first { _ in true }
            #expect(length == .some(nil), "after \(end)")
        }
    }

    @Test func `an answer before the end of the body closes the connection`() async throws {
        let listener = try await listener { _, _ in .whole(HTTPResponse(status: 403)) }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send(Self.head + "3\r\nabc\r\n")
        let answer = await client.read()
        #expect(answer.hasPrefix("HTTP/1.1 403") && answer.contains("connection: close"))
    }

    @Test func `a request whose body makes no progress is closed`() async throws {
        var limits = HTTP1Listener.Limits()
        limits.idleSeconds = 1
        let listener = try await HTTP1Listener(
            host: "127.0.0.1",
            port: 0,
            limits: limits,
            admission: { _ in
                .streamed { _, body in
                    let count = await Self.length(of: body)
                    return .whole(HTTPResponse(status: 200, body: Array("\(count ?? -1)".utf8)))
                }
            }
        )
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send(Self.head + "3\r\nabc\r\n")
        #expect(await client.read() == "")
    }

    @Test func `connections with paused bodies make room for a new client`() async throws {
        var limits = HTTP1Listener.Limits()
        limits.connections = 2
        let waiting = AsyncStream.makeStream(of: Void.self)
        let listener = try await HTTP1Listener(
            host: "127.0.0.1",
            port: 0,
            limits: limits,
            admission: { request in
                guard request.method == "POST" else { return .whole { _, _ in .whole(HTTPResponse(status: 204)) } }
                return .streamed { _, body in
                    waiting.continuation.yield()
                    _ = await Self.length(of: body)
                    return .whole(HTTPResponse(status: 200))
                }
            }
        )
        defer { listener.stop() }
        var clients: [RawClient] = []
        for _ in 0..<2 {
            let client = try RawClient(port: listener.port)
            client.send(Self.head + "3\r\nabc\r\n")
            clients.append(client)
        }
        var count = 0
        for await _ in waiting.stream {
            count += 1
            if count == clients.count { break }
        }
        let health = try RawClient(port: listener.port)
        health.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(await health.read().hasPrefix("HTTP/1.1 204"))
        withExtendedLifetime(clients) {}
    }

    @Test func `an orderly stop answers open requests`() async throws {
        let started = Gate()
        let gate = Gate()
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in
            started.open()
            await gate.wait()
            return .whole(HTTPResponse(status: 200, body: Array("done".utf8)))
        }
        let idle = try RawClient(port: listener.port)
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await started.wait()
        async let closed: Void = listener.stop(within: .seconds(30))
        #expect(await idle.isClosedByPeer())
        gate.open()
        #expect(await client.read().hasSuffix("done"))
        await closed
    }
}

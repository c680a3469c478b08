// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletTransport

/// Answers whose body is written while it is sent.
@Suite(.timeLimit(.minutes(10))) struct HTTP1StreamTests {
    private func listener(_ pieces: AsyncStream<[UInt8]>) async throws -> HTTP1Listener {
        try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in .pieces(["content-type": "text/plain"], pieces) }
    }

    private func ask(_ listener: HTTP1Listener) throws -> RawClient {
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        return client
    }

    @Test func `pieces are sent as they come, and the body ends with them`() async throws {
        let (pieces, writer) = AsyncStream.makeStream(of: [UInt8].self)
        let listener = try await listener(pieces)
        defer { listener.stop() }
        let client = try ask(listener)
        writer.yield(Array("one".utf8))
        #expect(await client.read(until: "one").contains("content-type: text/plain"))
        writer.yield(Array("two".utf8))
        #expect(await client.read(until: "two").hasSuffix("two\r\n"))
        writer.finish()
        #expect(await client.read() == "0\r\n\r\n")
    }

    /// nginx holds back what it may buffer.
    @Test(arguments: [("text/event-stream", "3\r\n:\n\n\r\n"), ("application/x-ndjson", "")])
    func `proxies are asked to pass on pieces, and an event stream begins at once`(
        type: String,
        start: String
    ) async throws {
        let (pieces, writer) = AsyncStream.makeStream(of: [UInt8].self)
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in
            .pieces(["content-type": type], pieces)
        }
        defer { listener.stop() }
        let client = try ask(listener)
        let head = await client.read(until: "\r\n\r\n" + start)
        #expect(head.contains("x-accel-buffering: no\r\n") && head.hasSuffix("\r\n\r\n" + start), "\(head)")
        writer.finish()
        #expect(await client.read() == "0\r\n\r\n")
    }

    @Test func `pieces larger than the buffer arrive complete`() async throws {
        let (pieces, writer) = AsyncStream.makeStream(of: [UInt8].self)
        let listener = try await listener(pieces)
        defer { listener.stop() }
        let count = 3_000_000
        writer.yield([UInt8](repeating: UInt8(ascii: "a"), count: count))
        writer.finish()
        let text = try await ask(listener).read()
        #expect(text.utf8.count { $0 == UInt8(ascii: "a") } >= count)
    }

    @Test func `a client that does not read stops the writer until it closes`() async throws {
        let gate = Gate()
        let writers = AsyncStream.makeStream(of: AsyncStream<[UInt8]>.Continuation.self)
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in
            let (pieces, writer) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(4))
            writer.onTermination = { _ in gate.open() }
            writers.continuation.yield(writer)
            return .pieces([:], pieces)
        }
        defer { listener.stop() }
        var client: RawClient? = try ask(listener)
        let writer = try #require(await writers.stream.first { _ in true })
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
        // The buffers of the sockets are soon full; from then on pieces stay in the stream.
        var dropped = 0
        while dropped < 20 {
            if case .dropped = writer.yield(piece) { dropped += 1 }
            await Task.yield()
        }
        _ = client
        client = nil
        await gate.wait()
    }

    @Test func `a listener that stops ends its open responses`() async throws {
        let (pieces, writer) = AsyncStream.makeStream(of: [UInt8].self)
        let listener = try await listener(pieces)
        let client = try ask(listener)
        writer.yield(Array("one".utf8))
        _ = await client.read(until: "one")
        listener.stop()
        _ = await client.read()
        #expect(await client.isClosedByPeer())
        writer.yield(Array("two".utf8))
    }
}

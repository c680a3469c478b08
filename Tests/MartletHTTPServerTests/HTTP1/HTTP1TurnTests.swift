// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletTransport

/// Clients that send many requests without waiting for the responses.
@Suite(.timeLimit(.minutes(10))) struct HTTP1TurnTests {
    /// The paths of the requests in the order in which they were handled.
    private final class Paths: Sendable {
        private let paths = Mutex<[String]>([])

        var all: [String] { paths.withLock { $0 } }

        func add(_ path: String) {
            paths.withLock { $0.append(path) }
        }
    }

    private static func request(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

    @Test func `a request waits for no requests that others send at once`() async throws {
        let (count, requests) = (20, 100)
        let paths = Paths()
        let listener = try await HTTP1Listener(
            host: "127.0.0.1",
            port: 0,
            admission: { request in
                paths.add(request.path)
                return .answer(HTTPResponse(status: 204))
            }
        )
        defer { listener.stop() }
        var clients: [RawClient] = []
        for _ in 0...count {
            let client = try RawClient(port: listener.port)
            client.send(Self.request("/first"))
            _ = await client.read(until: "\r\n\r\n")
            clients.append(client)
        }
        // All requests have arrived when the loop goes on.
        let hasArrived = DispatchSemaphore(value: 0)
        listener.server.loop.execute { hasArrived.wait() }
        for client in clients.dropLast() {
            client.send(String(repeating: Self.request("/many"), count: requests))
        }
        clients[count].send(Self.request("/one"))
        hasArrived.signal()
        try await eventually("all requests are handled") { paths.all.count >= count * requests + count + 2 }
        let position = try #require(paths.all.firstIndex(of: "/one"))
        // Each of the others has had its first request, and two turns of further ones.
        #expect(position < 2 * count + 1 + 2 * HTTP1Server.pipelinedRequestsPerTurn)
        #expect(paths.all.count { $0 == "/many" } == count * requests)
    }

    @Test func `requests that are sent at once are answered in order`() async throws {
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { request in
            .whole(HTTPResponse(status: 200, body: Array("<\(request.path)>".utf8)))
        }
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send((0..<50).map { Self.request("/\($0)") }.joined())
        let answers = await client.read(until: "</49>")
        let bodies = answers.split(separator: "<").dropFirst().map { $0.prefix { $0 != ">" } }
        #expect(bodies.map(String.init) == (0..<50).map { "/\($0)" })
    }

    @Test func `requests are answered although their client sends no more`() async throws {
        let listener = try await HTTP1Listener(
            host: "127.0.0.1",
            port: 0,
            admission: { .answer(HTTPResponse(status: 200, body: Array("<\($0.path)>".utf8))) }
        )
        defer { listener.stop() }
        let client = try RawClient(port: listener.port)
        client.send((0..<50).map { Self.request("/\($0)") }.joined())
        client.finish()
        #expect(await client.read().hasSuffix("</49>"))
    }

    @Test func `a long body is sent completely to each client`() async throws {
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let response = HTTPResponse(status: 200, body: body)
        let listener = try await HTTP1Listener(
            host: "127.0.0.1",
            port: 0,
            admission: { _ in .answer(response) }
        )
        defer { listener.stop() }
        for _ in 0..<2 {
            let client = try RawClient(port: listener.port)
            client.send(Self.request("/") + Self.request("/").replacing("Host", with: "Connection: close\r\nHost"))
            let received = await client.bytes()
            #expect(received.count > 2 * body.count && received.suffix(body.count) == body[...])
        }
    }

    @Test func `the heads of all clients together have a bound`() async throws {
        let excess = Paths()
        var limits = HTTP1Listener.Limits()
        limits.totalHeldBytes = 400_000
        let listener = try await HTTP1Listener(
            host: "127.0.0.1",
            port: 0,
            limits: limits,
            admission: { _ in .answer(HTTPResponse(status: 204)) },
            onExcess: { excess.add("") }
        )
        defer { listener.stop() }
        let small = try RawClient(port: listener.port)
        small.send("GET / HTTP/1.1\r\n")
        var clients: [RawClient] = []
        for _ in 0..<5 {
            let client = try RawClient(port: listener.port)
            await client.sendAll(Array("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 50_000))".utf8))
            clients.append(client)
        }
        try await eventually("a connection is closed") { !excess.all.isEmpty }
        small.send("Host: a\r\n\r\n")
        #expect(await small.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
        withExtendedLifetime(clients) {}
    }

    /// A body that the buffers of the sockets do not take completely.
    private static let largeBody = [UInt8](repeating: UInt8(ascii: "x"), count: 8 << 20)

    @Test func `the unread responses of all clients together have a bound`() async throws {
        let excess = Paths()
        var limits = HTTP1Listener.Limits()
        limits.totalHeldBytes = 3 * Self.largeBody.count
        let listener = try await HTTP1Listener(
            host: "127.0.0.1",
            port: 0,
            limits: limits,
            admission: { .answer(HTTPResponse(status: 200, body: $0.path == "/" ? Self.largeBody : [])) },
            onExcess: { excess.add("") }
        )
        defer { listener.stop() }
        var clients: [RawClient] = []
        for _ in 0..<2 {
            let client = try RawClient(port: listener.port, receiveBuffer: 4_096)
            client.send(String(repeating: Self.request("/"), count: 10))
            clients.append(client)
        }
        try await eventually("a connection is closed") { !excess.all.isEmpty }
        let small = try RawClient(port: listener.port)
        small.send(Self.request("/small"))
        #expect(await small.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        withExtendedLifetime(clients) {}
    }

    @Test func `clients without credentials are closed before others`() async throws {
        let excess = Paths()
        var limits = HTTP1Listener.Limits()
        limits.totalHeldBytes = 5 * Self.largeBody.count
        let listener = try await HTTP1Listener(
            host: "127.0.0.1",
            port: 0,
            limits: limits,
            admission: { request in
                let count = request.path == "/known" ? 2 : 1
                let body = (0..<count).flatMap { _ in Self.largeBody }
                return .whole({ _, _ in .whole(HTTPResponse(status: 200, body: body)) }, isAuthenticated: count == 2)
            },
            onExcess: { excess.add("") }
        )
        defer { listener.stop() }
        let known = try RawClient(port: listener.port, receiveBuffer: 4_096)
        known.send(Self.request("/known"))
        let start = await known.bytes { !$0.isEmpty }
        #expect(!start.isEmpty)
        var clients: [RawClient] = []
        for _ in 0..<3 {
            let client = try RawClient(port: listener.port, receiveBuffer: 4_096)
            client.send(Self.request("/"))
            clients.append(client)
        }
        try await eventually("a connection is closed") { !excess.all.isEmpty }
        let rest = await known.bytes { $0.count > 3 * Self.largeBody.count / 2 }
        #expect(rest.count > 3 * Self.largeBody.count / 2)
        withExtendedLifetime(clients) {}
    }
}

@Suite struct HTTP1TurnsTests {
    private var turns = HTTP1Turns()

    @Test mutating func `a request waits if it has arrived with the one before it`() {
        let isFirst = turns.mayBegin(isAtStart: true, unread: 100)
        turns.answered()
        let restOfFirst = turns.mayBegin(isAtStart: false, unread: 100)
        let second = turns.mayBegin(isAtStart: true, unread: 100)
        #expect(isFirst && restOfFirst && !second && turns.isWaiting)
        let (taken, takenAgain) = (turns.take(), turns.take())
        let secondInTurn = turns.mayBegin(isAtStart: true, unread: 100)
        #expect(taken && !takenAgain && secondInTurn)
        turns.answered()
        let withoutInput = turns.mayBegin(isAtStart: true, unread: 0)
        let later = turns.mayBegin(isAtStart: true, unread: 100)
        #expect(withoutInput && later && !turns.isWaiting)
    }

    @Test mutating func `a client's few bytes do not count`() {
        let few = turns.count(HTTP1Turns.readAhead - 1)
        let many = turns.count(10_000)
        let more = turns.count(12_000)
        let none = turns.count(0)
        #expect(few == nil && many == 10_000 && more == 2_000 && none == -12_000)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Dispatch
import TestSupport
import Testing

@testable import MartletTransport

@Suite struct HTTP2ServerLoadTests {
    @Test func `connections share the octets of a turn`() {
        let load = HTTP2ServerLoad()
        #expect(load.share(in: 1) == HTTP2ServerLoad.octetsPerTurn)
        #expect(load.share(in: 1) == HTTP2ServerLoad.octetsPerTurn / 2)
        for _ in 0..<62 { _ = load.share(in: 1) }
        // The connections of the turn before are expected again.
        #expect(load.share(in: 2) == HTTP2ServerLoad.octetsPerTurn / 64)
        #expect(load.share(in: 3) == HTTP2ServerLoad.octetsPerTurn)
        for _ in 0..<5_000 { _ = load.share(in: 4) }
        #expect(load.share(in: 5) == HTTP2ServerLoad.leastOctets)
        // After idle turns, none is expected.
        #expect(load.share(in: 9) == HTTP2ServerLoad.octetsPerTurn)
    }

    @Test func `connections with short requests wait after the events of a turn`() {
        let load = HTTP2ServerLoad()
        #expect(load.share(in: 1) > 0)
        load.add(events: HTTP2ServerLoad.octetsPerTurn / HTTP2ServerLoad.octetsPerEvent - 1)
        #expect(load.share(in: 1) > 0)
        load.add(events: 1)
        #expect(load.share(in: 1) == 0)
        #expect(load.share(in: 2) == HTTP2ServerLoad.octetsPerTurn / 3)
    }

    @Test func `a turn has a limited number of steps of handshakes`() {
        let load = HTTP2ServerLoad()
        let steps = (0...HTTP2ServerLoad.handshakeStepsPerTurn).filter { _ in load.takeHandshakeStep(in: 1) }
        #expect(steps.count == HTTP2ServerLoad.handshakeStepsPerTurn)
        #expect(load.share(in: 1) == HTTP2ServerLoad.octetsPerTurn, "handshakes do not delay connections with requests")
        #expect(load.takeHandshakeStep(in: 2))
    }

    @Test func `handshakes of many clients are continued in several turns`() async throws {
        let clients = 40
        let loop = try EventLoop()
        let server = EchoServer(on: loop)
        let authority = try CertificateAuthority()
        let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
        let identity = TLSContext.Identity(
            certificateChainPEM: issued.certificatePEM,
            privateKeyPEM: issued.keyPEM
        )
        try await server.start(tls: .server(identity: identity))
        let port = await server.port
        var crowd: [RawClient] = []
        for _ in 0..<clients { crowd.append(try RawClient(port: port)) }
        try await eventually("all clients are accepted") { await server.acceptedCount == clients }
        // All input has arrived when the loop goes on.
        let hasArrived = DispatchSemaphore(value: 0)
        async let held: Void = server.hold(until: hasArrived)
        for raw in crowd { raw.send("no handshake\r\n") }
        hasArrived.signal()
        await held
        try await eventually("all handshakes fail") { await server.endings.count == clients }
        let turns = await server.endingsByTurn.values
        #expect(turns.allSatisfy { $0 <= HTTP2ServerLoad.handshakeStepsPerTurn }, "\(turns.sorted())")
        await server.close(grace: .zero)
        loop.shutdown()
    }

    @Test func `input of many clients is processed in several turns`() async throws {
        let (clients, requests) = (100, 40)
        let loop = try EventLoop()
        let server = EchoServer(on: loop)
        try await server.start()
        let port = await server.port
        // All input has arrived when the loop goes on.
        let hasArrived = DispatchSemaphore(value: 0)
        async let held: Void = server.hold(until: hasArrived)
        let padding = RawHTTP2.literal("a", String(repeating: "b", count: 600))
        let input = (0..<UInt32(requests)).flatMap {
            RawHTTP2.headers(RawHTTP2.root + padding, stream: 2 * $0 + 1)
        }
        var crowd: [RawClient] = []
        for _ in 0..<clients {
            let raw = try RawClient(port: port)
            raw.send(RawHTTP2.greeting + input)
            crowd.append(raw)
        }
        hasArrived.signal()
        await held
        try await eventually("all requests arrive") { await server.requests >= clients * requests }
        let turns = await server.requestsByTurn.values
        #expect(turns.allSatisfy { $0 < clients * requests / 2 }, "\(turns.sorted())")
        #expect(!crowd.isEmpty)
        await server.close(grace: .zero)
        loop.shutdown()
    }

    /// The message of a connection that is closed because it holds too much memory.
    private static let excess = "the client's incomplete requests and unread responses took too much memory"

    /// Starts a server whose timeouts no test reaches: on a busy machine input takes long.
    private func server(on loop: EventLoop) async throws -> EchoServer {
        let server = EchoServer(on: loop)
        let timeouts = HTTP2Timeouts(request: .seconds(3_600))
        try await server.start(HTTP2Listener.Configuration(tls: nil, limits: .test, timeouts: timeouts))
        return server
    }

    /// The beginning of requests that take about eight kilobytes each.
    private func incompleteRequests(_ count: UInt32) -> [UInt8] {
        let field = RawHTTP2.literal("a", String(repeating: "b", count: 7_000))
        return (0..<count).flatMap {
            RawHTTP2.headers(RawHTTP2.root + field, stream: 2 * $0 + 1, isLast: false)
        }
    }

    /// Completes the first request of a client, and expects its response.
    private func expectAnswer(to client: RawClient) async {
        client.send(RawHTTP2.frame(.data, flags: RawHTTP2.endsStream, stream: 1))
        let answer = await client.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .headers } }
        #expect(RawHTTP2.frames(in: answer).contains { $0.kind == .headers })
    }

    @Test func `incomplete requests of all clients together have a bound`() async throws {
        let loop = try EventLoop()
        let server = try await server(on: loop)
        let port = await server.port
        let small = try RawClient(port: port)
        small.send(RawHTTP2.greeting + RawHTTP2.headers(RawHTTP2.root, isLast: false))
        let large = try RawClient(port: port)
        await large.sendAll(RawHTTP2.greeting + incompleteRequests(990))
        try await eventually("both clients are connected") { await server.clientCount == 2 }
        await server.authenticateClients()
        let input = incompleteRequests(900)
        var crowd: [RawClient] = []
        // The requests end no turn with an event of their own, and are noticed nevertheless.
        for _ in 0..<HeldMemory.defaultLimit / 2 / (900 * 7_000) + 1 {
            let raw = try RawClient(port: port)
            await raw.sendAll(RawHTTP2.greeting + input)
            crowd.append(raw)
        }
        try await eventually("the server closes a connection") { await !server.endings.isEmpty }
        #expect(await server.endings.allSatisfy { $0 == Self.excess })
        // The connections with credentials go on, also the one that holds the most.
        await expectAnswer(to: small)
        await expectAnswer(to: large)
        #expect(!crowd.isEmpty)
        await server.close(grace: .zero)
        loop.shutdown()
    }

    @Test func `unread responses of all clients together have a bound`() async throws {
        let loop = try EventLoop()
        let server = try await server(on: loop)
        let port = await server.port
        // A window of zero for the streams, so that no response body can be sent.
        let closedWindow = RawHTTP2.preface + RawHTTP2.frame(.settings, [0, 4, 0, 0, 0, 0])
        let input = closedWindow + RawHTTP2.requests(900, from: 1)
        var crowd: [RawClient] = []
        for _ in 0..<HeldMemory.defaultLimit / 2 / (900 * 1_024) + 1 {
            let raw = try RawClient(port: port)
            await raw.sendAll(input)
            crowd.append(raw)
        }
        try await eventually("the server closes a connection") { await !server.endings.isEmpty }
        #expect(await server.endings.allSatisfy { $0 == Self.excess })
        #expect(!crowd.isEmpty)
        await server.close(grace: .zero)
        loop.shutdown()
    }
}

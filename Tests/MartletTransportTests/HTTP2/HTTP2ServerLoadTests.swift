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

    @Test func `incomplete requests of all clients together have a bound`() async throws {
        let loop = try EventLoop()
        let server = EchoServer(on: loop)
        // On a busy machine the input takes longer than the timeout of a request.
        let timeouts = HTTP2Timeouts(request: .seconds(3_600))
        try await server.start(HTTP2Listener.Configuration(tls: nil, limits: .test, timeouts: timeouts))
        let port = await server.port
        let field = RawHTTP2.literal("a", String(repeating: "b", count: 7_000))
        let input = (0..<900 as Range<UInt32>).flatMap {
            RawHTTP2.headers(RawHTTP2.root + field, stream: 2 * $0 + 1, isLast: false)
        }
        let small = try RawClient(port: port)
        small.send(RawHTTP2.greeting + RawHTTP2.headers(RawHTTP2.root, isLast: false))
        var crowd: [RawClient] = []
        for _ in 0..<HTTP2ServerLoad.incompleteBytesLimit / (900 * 7_000) + 1 {
            let raw = try RawClient(port: port)
            await raw.sendAll(RawHTTP2.greeting + input)
            crowd.append(raw)
        }
        try await eventually("the server closes a connection") { await !server.endings.isEmpty }
        // A second one is closed when the input of all clients has arrived.
        let endings = await server.endings
        #expect(Set(endings) == ["the client's incomplete requests took too much memory"] && endings.count <= 2)
        // The others go on.
        small.send(RawHTTP2.frame(.data, flags: RawHTTP2.endsStream, stream: 1))
        let answer = await small.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .headers } }
        #expect(RawHTTP2.frames(in: answer).contains { $0.kind == .headers })
        #expect(!crowd.isEmpty)
        await server.close(grace: .zero)
        loop.shutdown()
    }
}

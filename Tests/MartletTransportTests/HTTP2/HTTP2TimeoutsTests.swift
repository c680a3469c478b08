// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import MartletTransport

/// Timeouts of a server for its clients.
@Suite(.timeLimit(.minutes(10))) struct HTTP2TimeoutsTests {
    // MARK: Decisions

    private func seconds(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }

    @Test func `a client without SETTINGS is overdue despite other input`() {
        var monitor = HTTP2IdleMonitor(HTTP2Timeouts(), at: seconds(5))
        monitor.receivedInput(at: seconds(34))
        #expect(monitor.overdue(at: seconds(34)) == nil)
        #expect(monitor.overdue(at: seconds(35)) == .handshake)
        monitor.receivedSettings()
        #expect(monitor.overdue(at: seconds(35)) == nil)
    }

    @Test func `any input restarts the idle timeout`() {
        var monitor = HTTP2IdleMonitor(HTTP2Timeouts(idle: .seconds(60)), at: .zero)
        monitor.receivedSettings()
        monitor.receivedInput(at: seconds(30))
        #expect(monitor.overdue(at: seconds(89)) == nil)
        #expect(monitor.overdue(at: seconds(90)) == .idle)
    }

    @Test func `the output timeout counts from the first stall`() {
        var monitor = HTTP2IdleMonitor(HTTP2Timeouts(), at: .zero)
        monitor.receivedSettings()
        monitor.outputStalled(at: seconds(10))
        monitor.outputStalled(at: seconds(35))
        monitor.receivedInput(at: seconds(39))
        #expect(monitor.overdue(at: seconds(39)) == nil)
        #expect(monitor.overdue(at: seconds(40)) == .output)
        monitor.outputResumed()
        #expect(monitor.overdue(at: seconds(40)) == nil)
        monitor.outputStalled(at: seconds(41))
        #expect(monitor.overdue(at: seconds(70)) == nil)
        #expect(monitor.overdue(at: seconds(71)) == .output)
    }

    // MARK: Idle servers

    /// Waits until the listener's check for late clients, which runs each second, has stopped for want of clients; on
    /// the real clock, and without waking the server's loop.
    private func waitUntilIdle(on loop: EventLoop) async {
        await withCheckedContinuation { result in
            loop.execute { loop.schedule(after: .milliseconds(1_200)) { result.resume() } }
        }
    }

    @Test func `the first TLS client of an idle server is served`() async throws {
        let scope = try LoopScope()
        let server = EchoServer(on: scope.loop)
        let authority = try CertificateAuthority()
        let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
        let identity = TLSContext.Identity(
            certificateChainPEM: issued.certificatePEM,
            privateKeyPEM: issued.keyPEM
        )
        try await server.start(
            HTTP2Listener.Configuration(
                tls: TLSContext.server(identity: identity),
                limits: .test,
                timeouts: HTTP2Timeouts(handshake: .milliseconds(500))
            )
        )
        // Asking for it later would wake the loop.
        let port = await server.port
        let other = try LoopScope()
        await waitUntilIdle(on: other.loop)
        let client = TestClient(on: other.loop)
        try await client.open(
            host: "localhost",
            port: port,
            tls: TLSContext.client(authorities: authority.certificatePEM())
        )
        #expect(try await client.get("/first").body == Array("/first".utf8))
        await client.close()
        await server.close()
    }

    @Test func `the first client of an idle server without TLS is served`()
        async throws
    {
        let scope = try LoopScope()
        let server = EchoServer(on: scope.loop)
        try await server.start(
            HTTP2Listener.Configuration(
                tls: nil,
                limits: .test,
                timeouts: HTTP2Timeouts(handshake: .milliseconds(500))
            )
        )
        let port = await server.port
        let other = try LoopScope()
        await waitUntilIdle(on: other.loop)
        let client = try RawClient(port: port)
        // The server accepts the connection and sends its SETTINGS in one turn; the greeting comes in another.
        _ = await client.bytes { !$0.isEmpty }
        client.send(RawHTTP2.greeting + RawHTTP2.headers(RawHTTP2.root))
        let received = await client.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .headers } }
        #expect(RawHTTP2.frames(in: received).contains { $0.kind == .headers })
        await server.close()
    }

    // MARK: Connections

    /// A server on a clock that the test moves.
    private struct Bench {
        let clock = ManualClock()
        let loop: EventLoop
        let server: EchoServer

        init(tls: Bool = false, configure: (inout HTTP2Listener.Configuration) -> Void = { _ in }) async throws {
            loop = try EventLoop(clock: clock)
            server = EchoServer(on: loop)
            var configuration = HTTP2Listener.Configuration(tls: tls ? try Bench.tls() : nil, limits: .test)
            configure(&configuration)
            try await server.start(configuration)
        }

        private static func tls() throws -> TLSContext {
            let issued = try CertificateAuthority().issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
            return try TLSContext.server(
                identity: TLSContext.Identity(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
            )
        }

        func client(_ bytes: [UInt8], receiveBuffer: Int32? = nil) async throws -> RawClient {
            let client = try RawClient(port: await server.port, receiveBuffer: receiveBuffer)
            client.send(bytes)
            return client
        }

        /// Moves the clock step by step until the body is through, but not beyond a limit; returns the distance.
        func advance<Value: Sendable>(
            by step: Duration = .seconds(1),
            upTo limit: Duration = .seconds(86_400),
            until body: @escaping @Sendable () async -> Value
        ) async -> (Value, Duration) {
            let isDone = Atomic(false)
            async let result = {
                let value = await body()
                isDone.store(true, ordering: .relaxed)
                return value
            }()
            while !isDone.load(ordering: .relaxed), clock.now.duration(since: .zero) < limit {
                await clock.advance(by: step)
            }
            return (await result, clock.now.duration(since: .zero))
        }

        func close() async {
            _ = await advance { await server.close(grace: .zero) }
            loop.shutdown()
        }
    }

    @Test(
        arguments: [
            (false, []), (true, []), (true, [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3]),
            (false, Array(RawHTTP2.preface.prefix(10))), (false, RawHTTP2.preface),
            (false, RawHTTP2.preface + [0, 0, 0, 4, 0, 0]),
        ] as [(Bool, [UInt8])]
    )
    func `an incomplete handshake is ended after half a minute`(tls: Bool, bytes: [UInt8]) async throws {
        let bench = try await Bench(tls: tls)
        let client = try await bench.client(bytes)
        let (received, time) = await bench.advance { await client.bytes() }
        #expect(time >= .seconds(30))
        // In the clear the server speaks first.
        #expect(received.isEmpty == tls)
        let ending = await bench.server.endings.first ?? ""
        #expect(ending.contains(tls ? "TLS handshake" : "HTTP/2 preface"), "\(ending)")
        await bench.close()
    }

    @Test(arguments: [
        RawHTTP2.headers(RawHTTP2.request, isLast: false),
        RawHTTP2.headers(RawHTTP2.request, isLast: false) + RawHTTP2.frame(.data, stream: 1, [1, 2, 3]),
        RawHTTP2.frame(.headers, stream: 1, RawHTTP2.request),
    ])
    func `an incomplete request is reset, and its connection stays open`(beginning: [UInt8]) async throws {
        let bench = try await Bench()
        let ping = RawHTTP2.frame(.ping, [UInt8](repeating: 0, count: 8))
        let client = try await bench.client(RawHTTP2.greeting + ping + beginning)
        // The clock stands until the server has read the request.
        _ = await client.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .ping } }
        // Much later, the server would give up the connection, too, which answers no PING.
        let (received, time) = await bench.advance(upTo: .seconds(35)) {
            await client.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .resetStream } }
        }
        #expect(time >= .seconds(30))
        let reset = RawHTTP2.frames(in: received).first { $0.kind == .resetStream }
        #expect(reset?.stream == 1 && reset?.payload == RawHTTP2.bigEndian(HTTP2ErrorCode.cancel.rawValue))
        guard beginning[4] & RawHTTP2.endsFields != 0 else { return await bench.close() }
        client.send(RawHTTP2.headers(RawHTTP2.root, stream: 3))
        let answer = await client.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .headers && $0.stream == 3 } }
        #expect(!answer.isEmpty)
        await bench.close()
    }

    @Test func `a client that is silent for an hour gets a GOAWAY`() async throws {
        let bench = try await Bench()
        let client = try await bench.client(RawHTTP2.greeting + RawHTTP2.headers(RawHTTP2.root))
        _ = await client.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .data } }
        await bench.clock.advance(by: .seconds(3_500))
        client.send(RawHTTP2.frame(.ping, [UInt8](repeating: 0, count: 8)))
        _ = await client.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .ping } }
        let (received, time) = await bench.advance(by: .seconds(30)) { await client.bytes() }
        #expect(time >= .seconds(7_100), "a PING is a sign of life")
        #expect(RawHTTP2.frames(in: received).contains { $0.kind == .goAway })
        await bench.close()
    }

    @Test func `a client that does not read is closed after thirty seconds`() async throws {
        let bench = try await Bench()
        let client = try await bench.client(RawHTTP2.greeting, receiveBuffer: 4_096)
        var stream: UInt32 = 1
        let isStalled = await client.stall {
            defer { stream += 8_000 }
            return RawHTTP2.requests(4_000, from: stream)
        } turn: {
            await bench.clock.advance(by: .zero)
        }
        #expect(isStalled)
        await bench.clock.advance(by: .seconds(29))
        #expect(await bench.server.clientCount == 1)
        // The server may still have input to read, a part in each turn, before its own output stalls.
        while await bench.server.clientCount == 1 { await bench.clock.advance(by: .seconds(1)) }
        #expect(await bench.server.endings == ["the client did not read its output in time"])
        await bench.close()
    }

    @Test func `an answer without a window is reset, and its connection stays open`() async throws {
        let bench = try await Bench()
        let noWindow = RawHTTP2.frame(.settings, [0, 4, 0, 0, 0, 0])
        let request =
            RawHTTP2.headers(RawHTTP2.request, isLast: false)
            + RawHTTP2.frame(.data, flags: RawHTTP2.endsStream, stream: 1, [1, 2, 3])
        let client = try await bench.client(RawHTTP2.greeting + noWindow + request)
        let (received, time) = await bench.advance {
            await client.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .resetStream } }
        }
        #expect(time >= .seconds(30))
        let frames = RawHTTP2.frames(in: received)
        #expect(frames.contains { $0.kind == .headers } && !frames.contains { $0.kind == .data })
        #expect(await bench.server.clientCount == 1)
        await bench.close()
    }

    @Test func `a client beyond the limit replaces the one that was idle longest`() async throws {
        let bench = try await Bench { $0.connections = 2 }
        let first = try await bench.client(RawHTTP2.greeting)
        _ = await first.bytes { RawHTTP2.isGreeting($0) }
        await bench.clock.advance(by: .seconds(1))
        let second = try await bench.client(RawHTTP2.greeting)
        _ = await second.bytes { RawHTTP2.isGreeting($0) }
        await bench.clock.advance(by: .seconds(1))
        first.send(RawHTTP2.frame(.ping, [UInt8](repeating: 0, count: 8)))
        _ = await first.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .ping } }
        let third = try await bench.client(RawHTTP2.greeting)
        #expect(await !third.bytes { !$0.isEmpty }.isEmpty)
        #expect(RawHTTP2.frames(in: await second.bytes()).contains { $0.kind == .goAway })
        #expect(!first.hasNews)
        await bench.close()
    }

    /// Requests that the server cannot answer, and an answer for which the client leaves no room.
    @Test(arguments: [
        RawHTTP2.headers(RawHTTP2.request, isLast: false),
        RawHTTP2.headers(RawHTTP2.request, isLast: false) + RawHTTP2.frame(.data, stream: 1, [1, 2, 3]),
        RawHTTP2.frame(.headers, stream: 1, RawHTTP2.request),
        RawHTTP2.frame(.settings, [0, 4, 0, 0, 0, 0]) + RawHTTP2.headers(RawHTTP2.request),
    ])
    func `a stalled client makes room for the next one`(
        beginning: [UInt8]
    ) async throws {
        let bench = try await Bench { $0.connections = 1 }
        let first = try await bench.client(RawHTTP2.greeting + beginning)
        _ = await first.bytes { RawHTTP2.isGreeting($0) }
        let second = try await bench.client(RawHTTP2.greeting)
        #expect(await !second.bytes { !$0.isEmpty }.isEmpty)
        let goAway = RawHTTP2.frames(in: await first.bytes()).first { $0.kind == .goAway }
        let isReported = beginning.starts(with: RawHTTP2.frame(.settings, [0, 4, 0, 0, 0, 0]))
        #expect(goAway?.payload.prefix(4) == RawHTTP2.bigEndian(isReported ? 1 : 0)[...])
        await bench.close()
    }

    @Test func `a new client waits for connections with requests in progress`() async throws {
        let bench = try await Bench { $0.connections = 1 }
        await bench.server.holdAnswers()
        let first = try await bench.client(RawHTTP2.greeting + RawHTTP2.headers(RawHTTP2.request))
        _ = await first.bytes { RawHTTP2.isGreeting($0) }
        let second = try await bench.client(RawHTTP2.greeting)
        first.send(RawHTTP2.frame(.ping, [UInt8](repeating: 0, count: 8)))
        _ = await first.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .ping } }
        #expect(!second.hasNews)
        first.finish()
        #expect(await !second.bytes { !$0.isEmpty }.isEmpty)
        await bench.close()
    }
}

// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletTransport

@Suite(.timeLimit(.minutes(10))) struct HTTP2ConnectionTests {
    /// A server and a client on one loop.
    private struct Pair {
        let loop: EventLoop
        let server: EchoServer
        let client: TestClient

        init(clock: ManualClock? = nil) throws {
            loop = try EventLoop(clock: clock)
            server = EchoServer(on: loop)
            client = TestClient(on: loop)
        }

        func connect(tls: Bool = false, limits: HTTP2Limits = .test) async throws {
            if tls {
                let authority = try CertificateAuthority()
                let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
                let identity = TLSContext.Identity(
                    certificateChainPEM: issued.certificatePEM,
                    privateKeyPEM: issued.keyPEM
                )
                try await server.start(tls: .server(identity: identity), limits: limits)
                let trust = try TLSContext.client(authorities: authority.certificatePEM())
                try await client.open(host: "localhost", port: server.port, tls: trust)
            } else {
                try await server.start(limits: limits)
                try await client.open(port: server.port)
            }
            await server.waitForClient()
        }

        func close() async {
            await client.close()
            await server.close()
            loop.shutdown()
        }
    }

    @Test(arguments: [false, true]) func `a request is answered, in the clear and over TLS`(tls: Bool) async throws {
        let pair = try Pair()
        try await pair.connect(tls: tls)
        let response = try await pair.client.get("/hello", body: [1, 2, 3])
        #expect(response.status == 200)
        #expect(response.body == Array("/hello".utf8))
        #expect(response.fields["received"] == "3")
        await pair.close()
    }

    @Test(arguments: [false, true]) func `concurrent requests each get their own answer`(tls: Bool) async throws {
        let pair = try Pair()
        try await pair.connect(tls: tls)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let body = [UInt8](repeating: 7, count: number * 50)
                    let response = try await pair.client.get("/\(number)", body: body)
                    return response.body == Array("/\(number)".utf8) && response.fields["received"] == "\(number * 50)"
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(await pair.server.requests == 100)
        await pair.close()
    }

    @Test func `a body larger than every window and buffer arrives`() async throws {
        let pair = try Pair()
        try await pair.connect(
            tls: true,
            limits: HTTP2Limits(concurrentStreams: 100, bodyBytes: 10_000_000, fieldBytes: 8_000)
        )
        let response = try await pair.client.get("/large", body: [UInt8](repeating: 1, count: 5_000_000))
        #expect(response.fields["received"] == "5000000")
        await pair.close()
    }

    @Test func `a body over the limit is truncated, and the connection stays open`() async throws {
        let pair = try Pair()
        try await pair.connect()
        let response = try await pair.client.get("/much", body: [UInt8](repeating: 1, count: 200_000))
        #expect(response.fields["too-long"] == "true")
        #expect(response.fields["received"] == "10000")
        #expect(try await pair.client.get("/next").status == 200)
        await pair.close()
    }

    @Test func `fields over the limit are answered with status 431`() async throws {
        let pair = try Pair()
        try await pair.connect()
        let refusal = try await pair.client.get("/x", fields: ["long": String(repeating: "x", count: 9_000)])
        #expect(refusal.status == 431)
        #expect(await pair.server.requests == 0)
        #expect(try await pair.client.get("/next").status == 200)
        await pair.close()
    }

    @Test func `a PING is answered`() async throws {
        let pair = try Pair()
        try await pair.connect()
        await pair.client.ping()
        await pair.client.wait { $0.pongs == 1 }
        await pair.close()
    }

    @Test func `a server can change its stream limit`() async throws {
        let pair = try Pair()
        try await pair.connect(limits: HTTP2Limits(concurrentStreams: 1, bodyBytes: 1_000, fieldBytes: 8_000))
        await pair.client.wait { $0.settingsCount == 1 }
        #expect(await pair.client.peerConcurrentStreams == 1)
        await pair.server.allow(concurrentStreams: 1_000)
        await pair.client.wait { $0.settingsCount == 2 }
        #expect(await pair.client.peerConcurrentStreams == 1_000)
        await pair.close()
    }

    @Test func `a GOAWAY has its debug data, and the connection closes`()
        async throws
    {
        let pair = try Pair()
        try await pair.connect()
        _ = try await pair.client.get("/one")
        await pair.server.goAway(#"{"reason":"Shutdown"}"#)
        await pair.client.wait { $0.closedBy != nil }
        let goAway = try #require(await pair.client.goAways.first)
        #expect(goAway.debugData == Array(#"{"reason":"Shutdown"}"#.utf8))
        #expect(goAway.lastStreamID == 1)
        #expect(goAway.errorCode == .noError)
        await pair.close()
    }

    @Test func `requests that a GOAWAY excludes do not reach the handler`() async throws {
        let pair = try Pair()
        try await pair.connect()
        await pair.server.leaveAtNextRequest()
        // More than comes in with one read, so that some come after the decision and before the frame has gone.
        let answered = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    do {
                        let fields: HTTPFields = ["long": String(repeating: "x", count: 7_000)]
                        return try await pair.client.get("/\(number)", fields: fields).status == 200
                    } catch let failure as StreamFailure {
                        #expect(failure.isUnprocessed)
                        return false
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answered < 100)
        #expect(await pair.server.requests == answered)
        await pair.close()
    }

    @Test func `the event caughtUp comes last although the client aborts`() async throws {
        let pair = try Pair()
        try await pair.connect()
        await pair.client.abortAtGoAway()
        await pair.server.leaveAtNextRequest()
        _ = try await pair.client.get("/")
        await pair.client.wait { $0.closedBy != nil }
        #expect(await pair.client.recordedEvents.suffix(2) == ["ended", "caught up"])
        await pair.close()
    }

    @Test(arguments: [false, true]) func `a GOAWAY is received although writing fails`(tls: Bool)
        async throws
    {
        let loop = try EventLoop()
        let client = TestClient(on: loop)
        let server = try ResettingServer(tls: tls)
        async let accepted: Void = server.accept()
        try await client.open(host: "localhost", port: server.port, tls: server.trust)
        try await accepted
        let failure = await #expect(throws: StreamFailure.self) {
            try await client.get("/late") { server.reset() }
        }
        #expect(failure?.isUnprocessed == true, "\(String(describing: failure))")
        #expect(await client.goAways.map(\.lastStreamID) == [0])
        await client.close()
        loop.shutdown()
    }

    @Test(arguments: [false, true], [false, true])
    func `each concurrent request ends once when the server closes`(
        tls: Bool,
        withReset: Bool
    ) async throws {
        let pair = try Pair()
        try await pair.connect(tls: tls)
        // Far more than a record each, so that the first go out, and fail to, while the last are handed in. A process
        // that writes twice to a closed peer is ended by a signal, unless the signal is blocked.
        let ends = await pair.client.send(300, of: [UInt8](repeating: 7, count: 9_000)) {
            pair.server.assumeIsolated { if withReset { $0.abort() } else { $0.cut() } }
        }
        #expect(ends == [Int](repeating: 1, count: 300))
        await pair.close()
    }

    @Test func `a connection that the server closes refuses requests`() async throws {
        let pair = try Pair()
        try await pair.connect()
        await pair.server.cut()
        await pair.client.wait { $0.closedBy != nil }
        #expect(await pair.client.closedBy?.kind == .closedByPeer)
        await #expect(throws: TransportError.self) { try await pair.client.get("/late") }
        await pair.close()
    }

    @Test func `a server closes after its grace period`() async throws {
        let clock = ManualClock()
        let pair = try Pair(clock: clock)
        try await pair.connect()
        async let closed: Void = pair.server.close(grace: .seconds(3))
        await pair.client.wait { $0.goAways.count == 1 }
        await clock.advance(by: .seconds(3))
        await closed
        await pair.close()
    }

    // MARK: Peers that are not as they should be

    @Test func `an unused port refuses the connection`() async throws {
        let pair = try Pair()
        try await pair.server.start()
        let port = await pair.server.port
        await pair.server.close()
        let error = await #expect(throws: TransportError.self) { try await pair.client.open(port: port) }
        #expect(error?.kind == .connectionRefused)
        #expect(error?.description.contains("refused") == true)
        pair.loop.shutdown()
    }

    @Test func `the error for a name that does not resolve has the name`() async throws {
        let pair = try Pair()
        let error = await #expect(throws: TransportError.self) {
            try await pair.client.open(host: "no-such-host.invalid", port: 443)
        }
        #expect(error?.kind == .nameNotResolved)
        #expect(error?.description.contains("no-such-host.invalid") == true)
        pair.loop.shutdown()
    }

    @Test func `a certificate of an unknown authority is not trusted`() async throws {
        let pair = try Pair()
        let authority = try CertificateAuthority()
        let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
        let identity = TLSContext.Identity(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
        try await pair.server.start(tls: .server(identity: identity))
        let port = await pair.server.port
        let error = await #expect(throws: TransportError.self) {
            try await pair.client.open(host: "localhost", port: port, tls: .client())
        }
        #expect(error?.kind == .certificateRejected)
        await pair.close()
    }

    @Test func `a certificate for another name is not trusted`() async throws {
        let pair = try Pair()
        let authority = try CertificateAuthority()
        let issued = try authority.issueServerCertificate(dnsNames: ["api.push.apple.com"], ipAddresses: [])
        let identity = TLSContext.Identity(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
        try await pair.server.start(tls: .server(identity: identity))
        let port = await pair.server.port
        for host in ["localhost", "127.0.0.1"] {
            let error = await #expect(throws: TransportError.self) {
                try await pair.client.open(
                    host: host,
                    port: port,
                    tls: .client(authorities: authority.certificatePEM())
                )
            }
            #expect(error?.kind == .certificateRejected)
        }
        await pair.close()
    }

    @Test(arguments: [(-1, true), (10, false)])
    func `a client certificate that has expired ends the handshake`(days: Int, isRefused: Bool) async throws {
        let pair = try Pair()
        let authority = try CertificateAuthority()
        let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
        let identity = TLSContext.Identity(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
        try await pair.server.start(tls: .server(identity: identity, asksForCertificates: true))
        let key = try PrivateKey()
        let certificate = try Certificate(
            subject: "client",
            issuer: nil,
            key: key,
            signedBy: key,
            days: days,
            extensions: []
        )
        let own = try TLSContext.Identity(certificateChainPEM: certificate.pem(), privateKeyPEM: key.pem())
        let trust = try TLSContext.client(authorities: authority.certificatePEM(), identity: own)
        // With TLS 1.3 the client has finished the handshake before the server looks at the certificate.
        try? await pair.client.open(host: "localhost", port: pair.server.port, tls: trust)
        if isRefused {
            await pair.client.wait { $0.closedBy != nil }
            #expect(await pair.client.closedBy?.kind == .certificateRejected)
            #expect(await pair.server.clientCount == 0)
        } else {
            #expect(try await pair.client.get("/").status == 200)
        }
        await pair.close()
    }

    @Test func `a connection to a silent server fails after the timeout`() async throws {
        let clock = ManualClock()
        let pair = try Pair(clock: clock)
        let silent = try SilentServer()
        let opening = Task {
            try await pair.client.open(port: silent.port, tls: .client(), timeout: .seconds(5))
        }
        await silent.waitForClient()
        await clock.advance(by: .seconds(5))
        let error = await #expect(throws: TransportError.self) { try await opening.value }
        #expect(error?.kind == .timedOut)
        pair.loop.shutdown()
    }

    @Test func `TLS with a server without TLS fails with an error about TLS`() async throws {
        let pair = try Pair()
        try await pair.server.start()
        let port = await pair.server.port
        let error = await #expect(throws: TransportError.self) {
            try await pair.client.open(port: port, tls: .client())
        }
        #expect(error?.kind == .tlsFailed)
        await pair.close()
    }

    @Test(arguments: [
        [UInt8](repeating: 0xFF, count: 1_000), Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), [0],
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [
            0, 0, 8, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        ],
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1],
    ]) func `bytes that are not HTTP/2 do not affect other clients`(garbage: [UInt8]) async throws {
        let pair = try Pair()
        try await pair.connect()
        let client = try RawClient(port: await pair.server.port)
        client.send(garbage)
        _ = await client.isClosedByPeer()
        #expect(try await pair.client.get("/still-here").status == 200)
        await pair.close()
    }

    @Test func `a listener cannot use the address of another one`() async throws {
        let pair = try Pair()
        try await pair.server.start()
        let port = await pair.server.port
        let scope = try LoopScope()
        let error = await #expect(throws: TransportError.self) {
            try await scope.run { loop in
                let limits = HTTP2Listener.Configuration(tls: nil, limits: .test)
                _ = try HTTP2Listener(host: "127.0.0.1", port: port, configuration: limits, on: loop) { _, _ in }
            }
        }
        #expect(error?.kind == .cannotListen)
        await pair.close()
    }
}

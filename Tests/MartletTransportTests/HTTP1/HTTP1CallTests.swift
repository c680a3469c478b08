// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletTransport

@Suite(.timeLimit(.minutes(10))) struct HTTP1CallTests {
    @Test func `an answer in one record is complete on an open connection`() async throws {
        let loop = try EventLoop()
        let server = try ResettingServer(tls: true)
        let call = HTTP1Call(host: "localhost", port: server.port, tls: server.trust)
        async let accepted: Void = server.accept()
        async let response = call.send("GET", "/", within: .seconds(10), on: loop)
        try await accepted
        server.send(
            Array("HTTP/1.1 200 OK\r\ncontent-length: 12000\r\n\r\n".utf8) + [UInt8](repeating: 7, count: 12_000)
        )
        #expect(try await response.body.count == 12_000)
        server.reset()
        loop.shutdown()
    }

    @Test func `a server with TLS is called through a tunnel`() async throws {
        let loop = try EventLoop()
        let server = try ResettingServer(tls: true)
        let proxy = try TunnelProxy(to: server.port)
        var call = HTTP1Call(host: "localhost", port: 8_443, tls: server.trust)
        call.proxy = HTTPProxy(host: "127.0.0.1", port: proxy.port, user: "user", password: "secret")
        let tunnelled = call
        async let accepted: Void = server.accept()
        async let response = tunnelled.send("GET", "/", within: .seconds(120), on: loop)
        try await accepted
        server.send(Array("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".utf8))
        #expect(try await response.status == 200)
        let head = try #require(proxy.requests.first)
        #expect(head.hasPrefix("CONNECT localhost:8443 HTTP/1.1\r\n"))
        #expect(head.contains("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n"))
        server.reset()
        proxy.stop()
        loop.shutdown()
    }

    @Test func `a proxy that closes a tunnel fails the call`() async throws {
        let loop = try EventLoop()
        let nowhere = try SilentServer.unusedPort()
        let proxy = try TunnelProxy(to: nowhere.port)
        var call = HTTP1Call(host: "hooks.example.com", port: 443, tls: try .http1Client(authorities: nil))
        call.proxy = HTTPProxy(host: "127.0.0.1", port: proxy.port)
        let tunnelled = call
        let error = await #expect(throws: TransportError.self) {
            try await tunnelled.send("GET", "/", within: .seconds(10), on: loop)
        }
        #expect(error?.kind == .closedByPeer && error?.description.contains("the proxy 127.0.0.1") == true)
        proxy.stop()
        loop.shutdown()
    }

    @Test func `with a proxy, an address that is not allowed is refused`() async throws {
        let loop = try EventLoop()
        let proxy = try TunnelProxy()
        var call = HTTP1Call(host: "10.0.0.5", port: 443, tls: nil) { $0.isPublic }
        call.proxy = HTTPProxy(host: "127.0.0.1", port: proxy.port)
        let refused = call
        let error = await #expect(throws: TransportError.self) {
            try await refused.send("GET", "/", within: .seconds(10), on: loop)
        }
        #expect(error?.description == "the address 10.0.0.5 is not allowed" && proxy.requests.isEmpty)
        proxy.stop()
        loop.shutdown()
    }
}

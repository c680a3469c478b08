// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import MartletTransport

@Suite(.timeLimit(.minutes(10))) struct EndpointDialerTests {
    /// Dials a host through a proxy, which answers the request for a tunnel.
    ///
    /// - Returns: The error; nil when the tunnel is established.
    private func error(ofProxyAnswering answer: String) async throws -> TransportError? {
        let scope = try LoopScope()
        let loop = scope.loop
        let server = try ResettingServer(tls: false)
        let proxy = HTTPProxy(host: "127.0.0.1", port: server.port)
        let endpoint = HTTP2Connection.Endpoint(host: "api.example.com", port: 443, tls: nil, proxy: proxy)
        async let result: TransportError? = withCheckedContinuation { continuation in
            loop.execute {
                let dialer = EndpointDialer(endpoint, timeout: .seconds(30), on: loop)
                dialer.start { result in
                    // The handler keeps the dialer alive until it is called.
                    _ = dialer
                    switch result {
                    case .success: continuation.resume(returning: nil)
                    case .failure(let error): continuation.resume(returning: error)
                    }
                }
            }
        }
        try await server.accept()
        server.send(Array(answer.utf8))
        return await result
    }

    @Test func `a tunnel through a proxy is a connection to the server`() async throws {
        #expect(try await error(ofProxyAnswering: "HTTP/1.1 200 Connection established\r\n\r\n") == nil)
    }

    @Test func `bytes after the response of a proxy are the server's`() async throws {
        let scope = try LoopScope()
        let loop = scope.loop
        let server = try SilentServer()
        server.answerOnce(with: Array("HTTP/1.1 200 OK\r\nvia: 1.1 proxy\r\n\r\nfirst bytes".utf8))
        let proxy = HTTPProxy(host: "127.0.0.1", port: server.port)
        let endpoint = HTTP2Connection.Endpoint(host: "api.example.com", port: 443, tls: nil, proxy: proxy)
        let text = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
            loop.execute {
                let dialer = EndpointDialer(endpoint, timeout: .seconds(30), on: loop)
                dialer.start { result in
                    // The handler keeps the dialer alive until it is called.
                    _ = dialer
                    var bytes = [UInt8](repeating: 0, count: 64)
                    let socket = try? result.get()
                    let count = socket.map { recv($0.value.descriptor, &bytes, 64, 0) } ?? -1
                    continuation.resume(returning: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
                }
            }
        }
        #expect(text == "first bytes")
    }

    @Test func `a proxy that refuses the tunnel is named`() async throws {
        let error = try #require(
            try await error(ofProxyAnswering: "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        )
        #expect(error.kind == .connectionRefused)
        #expect(error.description.contains("answered HTTP/1.1 407"))
    }
}

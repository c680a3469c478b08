// SPDX-License-Identifier: Apache-2.0

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
}

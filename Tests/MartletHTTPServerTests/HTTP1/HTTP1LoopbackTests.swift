// SPDX-License-Identifier: Apache-2.0

import MartletTransport
import TestSupport
import Testing

@testable import MartletHTTPServer

/// The name `localhost` as the address of a listener.
@Suite(.enabled(if: Loopback.hasIPv6), .timeLimit(.minutes(10))) struct HTTP1LoopbackTests {
    private func listener(_ host: String, port: UInt16 = 0) throws -> HTTP1Listener {
        try HTTP1Listener(host: host, port: port) { _ in .whole(HTTPResponse(status: 200)) }
    }

    @Test func `localhost is served at both loopback addresses`() async throws {
        let listener = try listener("localhost")
        defer { listener.stop() }
        for host in ["127.0.0.1", "[::1]"] {
            let run = try await ProgramRun.curl(["--write-out", "%{http_code}", "http://\(host):\(listener.port)/"])
            #expect(run.text == "200", "\(host)")
        }
    }

    @Test func `a port that is taken at one loopback address is an error`() throws {
        let first = try listener("::1")
        defer { first.stop() }
        let error = #expect(throws: TransportError.self) { try listener("localhost", port: first.port) }
        #expect(error?.kind == .cannotListen && error?.description.contains("[::1]:\(first.port)") == true)
    }
}

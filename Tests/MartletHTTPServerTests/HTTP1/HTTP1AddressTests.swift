// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletTransport

/// The addresses and ports of listeners.
@Suite(.timeLimit(.minutes(10))) struct HTTP1AddressTests {
    private func listener(_ host: String = "127.0.0.1", port: UInt16 = 0) async throws -> HTTP1Listener {
        try await HTTP1Listener(host: host, port: port) { _ in .whole(HTTPResponse(status: 200)) }
    }

    @Test func `the error for a port in use has advice`() async throws {
        let first = try await listener()
        defer { first.stop() }
        let error = await #expect(throws: TransportError.self) { try await listener(port: first.port) }
        #expect(error?.kind == .cannotListen)
        #expect(error?.description.contains("127.0.0.1:\(first.port)") == true)
        #expect(error?.description.contains("address already in use") == true)
        #expect(error?.description.contains("choose another port") == true)
    }

    @Test(arguments: ["nowhere", "", "256.0.0.1", "127.0.0.1:80"])
    func `a host that is no address is an error`(host: String) async {
        let error = await #expect(throws: TransportError.self) { try await listener(host) }
        #expect(error?.kind == .cannotListen)
    }

    @Test func `an address of another machine is an error`() async {
        let error = await #expect(throws: TransportError.self) { try await listener("192.0.2.1") }
        #expect(error?.kind == .addressNotAvailable)
    }

    @Test func `a socket that cannot be watched is an error`() async throws {
        let server = try HTTP1Server(
            host: "127.0.0.1",
            port: 0,
            limits: HTTP1Listener.Limits(),
            admission: { _ in .answer(HTTPResponse(status: 200)) },
            onFull: {},
            onExcess: {}
        )
        try await server.start()
        // The loop watches a socket only once.
        let error = await #expect(throws: TransportError.self) { try await server.start() }
        #expect(error?.kind == .system)
        await server.stop()
    }

    @Test func `two listeners on port 0 get ports of their own`() async throws {
        let first = try await listener()
        let second = try await listener()
        #expect(first.port != 0)
        #expect(second.port != 0)
        #expect(first.port != second.port)
    }

    @Test(.enabled(if: Loopback.hasIPv6), arguments: [("::1", ["[::1]"]), ("localhost", ["127.0.0.1", "[::1]"])])
    func `a host is served at its addresses`(host: String, addresses: [String]) async throws {
        let listener = try await listener(host)
        defer { listener.stop() }
        for address in addresses {
            let url = "http://\(address):\(listener.port)/"
            let run = try await ProgramRun.curl(["--write-out", "%{http_code}", url])
            #expect(run.text == "200", "\(address)")
        }
    }

    @Test(.enabled(if: Loopback.hasIPv6))
    func `a port that is taken at one loopback address is an error`() async throws {
        let first = try await listener("::1")
        defer { first.stop() }
        let error = await #expect(throws: TransportError.self) { try await listener("localhost", port: first.port) }
        #expect(error?.kind == .cannotListen && error?.description.contains("[::1]:\(first.port)") == true)
    }
}

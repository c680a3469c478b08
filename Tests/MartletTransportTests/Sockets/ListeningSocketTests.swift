// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import MartletTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct ListeningSocketTests {
    @Test(.enabled(if: Loopback.hasIPv6)) func `localhost is not served at one of its addresses alone`() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            var held = await OpenDescriptors.exhaust(limit: 64)
            for free in 0..<2 {
                let error = #expect(throws: TransportError.self) {
                    try ListeningSocket<Int>(host: "localhost", port: 0, limit: 1, on: loop)
                }
                #expect(error?.kind == .system && error?.description.contains("too many open files") == true)
                #expect(OpenDescriptors.count(below: 64) == 64 - free)
                close(held.removeLast())
            }
            let socket = try ListeningSocket<Int>(host: "localhost", port: 0, limit: 1, on: loop)
            #expect(socket.port != 0)
            loop.shutdown()
        }
    }

    @Test func `a flood of clients is accepted in several turns of the loop`() async throws {
        let accepted = try await LoopScope().acceptedInFirstTurn(of: 40)
        #expect(accepted == 4)
    }
}

extension LoopScope {
    /// Returns how many of the clients that wait are accepted before the loop turns to other work.
    fileprivate func acceptedInFirstTurn(of count: Int) async throws -> Int {
        let socket = try ListeningSocket<Int>(host: "127.0.0.1", port: 0, limit: count, on: loop)
        defer { socket.stop() }
        let clients = try (0..<count).map { _ in try RawClient(port: socket.port) }
        defer { withExtendedLifetime(clients) {} }
        let inFirstTurn = Mutex<Int?>(nil)
        var served = 0
        try socket.start(
            ListeningSocket.Connections(
                count: { served },
                idle: { [] },
                isIdle: { _ in false },
                close: { _ in },
                onFull: {},
                serve: { [loop] _, _ in
                    if served == 0 { loop.atEndOfTurn { inFirstTurn.withLock { $0 = served } } }
                    served += 1
                }
            )
        )
        try await eventually("a client is accepted") { inFirstTurn.withLock { $0 } != nil }
        return inFirstTurn.withLock { $0 } ?? 0
    }
}

// SPDX-License-Identifier: Apache-2.0

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
}

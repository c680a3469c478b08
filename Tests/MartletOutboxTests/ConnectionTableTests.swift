// SPDX-License-Identifier: Apache-2.0

import MartletTransport
import TestSupport
import Testing

@testable import MartletOutbox

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct ConnectionTableTests {
    @Test func `a table without descriptors for both loops keeps none`() async {
        await #expect(processExitsWith: .success) {
            // The first loop of a process opens descriptors that stay open.
            let first = try EventLoop()
            var held = await OpenDescriptors.exhaust(limit: 64)
            // A loop needs eight free descriptors and keeps two or more, so nine are too few for both.
            for free in 0..<10 {
                let error = #expect(throws: TransportError.self) { try ConnectionTable() }
                #expect(error?.kind == .system)
                try await eventually("the descriptors are closed") { OpenDescriptors.count(below: 64) == 64 - free }
                close(held.removeLast())
            }
            for descriptor in held { close(descriptor) }
            _ = try ConnectionTable()
            first.shutdown()
        }
    }
}

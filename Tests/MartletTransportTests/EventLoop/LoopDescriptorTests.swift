// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct LoopDescriptorTests {
    @Test func `a loop without free descriptors is an error and leaks none`() async {
        await #expect(processExitsWith: .success) {
            var held = await OpenDescriptors.exhaust(limit: 64)
            for free in 0..<8 {
                let error = #expect(throws: TransportError.self) { try EventLoop() }
                #expect(error?.kind == .system)
                #expect(error?.description.contains("too many open files; raise the process's limit") == true)
                #expect(OpenDescriptors.count(below: 64) == 64 - free)
                close(held.removeLast())
            }
            try EventLoop().shutdown()
        }
    }
}

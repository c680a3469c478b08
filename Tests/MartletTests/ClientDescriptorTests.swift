// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct ClientDescriptorTests {
    @Test func `a client without free descriptors is a typed error with advice`() async {
        await #expect(processExitsWith: .success) {
            let server = APNsEndpoint(host: "localhost", port: 2197, isEncrypted: false)
            let authentication = try PushClient.Authentication.token(.ephemeral())
            var held = await OpenDescriptors.exhaust(limit: 64)
            for free in 0..<8 {
                let error = #expect(throws: APNsError.self) {
                    try PushClient(server, authentication: authentication)
                }
                #expect(error?.code == .system && error?.outcome == .neverSent && error?.advice == .sendLater)
                #expect(error?.description.contains("ulimit -n") == true)
                #expect(OpenDescriptors.count(below: 64) == 64 - free)
                close(held.removeLast())
            }
            try await PushClient(server, authentication: authentication).close()
        }
    }
}

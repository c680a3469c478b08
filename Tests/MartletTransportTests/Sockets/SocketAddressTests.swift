// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct SocketAddressTests {
    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
        ("0.0.0.0", false), ("::", false), ("::ffff:10.0.0.1", false), ("::127.0.0.1", false), ("fe80::1", false),
    ])
    func `loopback addresses are those of 127.0.0.0/8, also mapped to IPv6, and ::1`(host: String, isLoopback: Bool)
        throws
    {
        #expect(try #require(SocketAddress(literal: host, port: 0)).isLoopback == isLoopback)
    }
}

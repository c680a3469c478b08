// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct HTTP2StreamLimitTests {
    private var limit = HTTP2StreamLimit()

    @Test mutating func `a lower limit applies from its acknowledgement on`() {
        limit.sent(10)
        #expect(limit.latest == 10 && limit.current == 1_000)
        limit.acknowledge()
        #expect(limit.current == 10)
    }

    @Test mutating func `the highest of the limits that a client may follow applies`() {
        limit.sent(10)
        limit.acknowledge()
        limit.sent(50)
        limit.sent(20)
        #expect(limit.current == 50)
        limit.acknowledge()
        #expect(limit.current == 50)
        limit.acknowledge()
        #expect(limit.current == 20)
    }

    @Test mutating func `SETTINGS without a limit and acknowledgements without SETTINGS change nothing`() {
        limit.acknowledge()
        limit.sent(10)
        limit.sent()
        limit.acknowledge()
        limit.acknowledge()
        limit.acknowledge()
        #expect(limit.latest == 10 && limit.current == 10)
    }

    @Test mutating func `a client without acknowledgements is overdue`() {
        for _ in 0..<2_000 { limit.sent(1) }
        #expect(!limit.isOverdue)
        limit.sent(1)
        #expect(limit.isOverdue)
        limit.acknowledge()
        #expect(!limit.isOverdue)
    }

    @Test func `the real identifier replaces the placeholder in SETTINGS frames only`() {
        let entries: [UInt8] = [0xFA, 3, 0, 0, 0, 7, 0, 4, 0, 0, 0xFA, 3]
        for (type, identifier) in [(4, [0, 3]), (0, [0xFA, 3])] as [(UInt8, [UInt8])] {
            var output: [UInt8] = [1, 2, 0, 0, 12, type, 0, 0, 0, 0, 0] + entries
            HTTP2StreamLimit.writeIdentifier(into: &output, from: 2)
            #expect(Array(output[11...]) == identifier + entries[2...])
        }
    }
}

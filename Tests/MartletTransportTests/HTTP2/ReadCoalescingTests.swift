// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct ReadCoalescingTests {
    @Test func `few streams are served one answer at a time`() {
        var coalescing = ReadCoalescing()
        #expect(coalescing.openStreams(1) == nil)
        #expect(coalescing.openStreams(ReadCoalescing.streamThreshold - 1) == nil)
        #expect(!coalescing.isActive)
    }

    @Test func `many streams wait for a part of their answers, in powers of two`() {
        var coalescing = ReadCoalescing()
        #expect(coalescing.openStreams(900) == 8_192)
        #expect(coalescing.isActive)
        #expect(coalescing.openStreams(890) == nil)
        #expect(coalescing.openStreams(830) == nil)
        #expect(coalescing.openStreams(500) == 4_096)
        #expect(coalescing.openStreams(100_000) == ReadCoalescing.byteLimit)
        #expect(coalescing.openStreams(3) == 1)
        #expect(!coalescing.isActive)
    }

    @Test(arguments: 1...2_000) func `the mark does not exceed the size of the expected answers`(count: Int) {
        var coalescing = ReadCoalescing()
        _ = coalescing.openStreams(count)
        // The least an answer takes is a HEADERS frame with one indexed field: 9 + 1 bytes.
        #expect(coalescing.mark <= max(1, count * 10))
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

/// Tests of the report about an outbox that has reached its limit.
@Suite struct FullQueueTests {
    @Test func `refusals are counted by caller until there are none for a while`() {
        var queue = FullQueue()
        #expect(queue.current(at: 0) == nil && !queue.isRefusing(at: 0))
        let first = queue.refuse(5, from: "billing", at: 1_000)
        #expect(first?.since == 1_000 && first?.total == 5)
        let second = queue.refuse(7, from: "news", at: 9_000)
        #expect(second == nil, "lines are logged at growing intervals")
        let third = queue.refuse(1, from: "billing", at: 11_000)
        #expect(third?.total == 13 && third?.busiestCaller == "news" && third?.since == 1_000)
        #expect(queue.isRefusing(at: 11_999) && !queue.isRefusing(at: 12_000))
        #expect(queue.current(at: 20_999)?.refused == ["billing": 6, "news": 7])
        #expect(queue.current(at: 21_000) == nil)
        let next = queue.refuse(2, from: "billing", at: 30_000)
        #expect(next?.since == 30_000 && next?.total == 2)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

/// Tests of the report about an outbox that has reached its limit.
@Suite struct FullQueueTests {
    @Test func `refusals are counted by caller until a time without any`() {
        var queue = FullQueue()
        #expect(queue.current(at: 0) == nil && !queue.isRefusing(at: 0))
        queue.refuse(0, from: "billing", at: 500)
        queue.refuse(5, from: "billing", at: 1_000)
        queue.refuse(7, from: "news", at: 9_000)
        queue.refuse(1, from: "billing", at: 11_000)
        let period = queue.current(at: 11_000)
        #expect(period?.total == 13 && period?.busiestCaller == "news" && period?.since == 1_000)
        #expect(queue.isRefusing(at: 11_999) && !queue.isRefusing(at: 12_000))
        #expect(queue.current(at: 20_999)?.refused == ["billing": 6, "news": 7])
        #expect(queue.current(at: 21_000) == nil)
        queue.refuse(2, from: "billing", at: 30_000)
        #expect(queue.current(at: 30_000)?.since == 30_000 && queue.current(at: 30_000)?.total == 2)
    }

    @Test func `a full queue is logged at growing intervals`() {
        var (queue, observations) = (FullQueue(), StatusObservations(startedAt: 0, version: "1"))
        let none = observations.takeFullQueue(queue, at: 0)
        #expect(none == nil)
        queue.refuse(5, from: "billing", at: 1_000)
        let lines = [1_000, 1_250, 10_999, 11_000].map { (time: Int64) in
            queue.refuse(1, from: "billing", at: time)
            return observations.takeFullQueue(queue, at: time)?.total
        }
        #expect(lines == [6, nil, nil, 9])
    }
}

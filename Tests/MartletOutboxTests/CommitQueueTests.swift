// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletOutbox

struct CommitQueueTests {
    @Test func `pushes come in before the later ones of many results`() {
        var queue = CommitQueue<String>()
        for number in 1...6 { queue.add("result \(number)", results: 100) }
        queue.add("push", results: 0)
        #expect(queue.takeNext() == ["result 1", "result 2", "push"])
        #expect(queue.takeNext() == ["result 3", "result 4"])
        #expect(!queue.isEmpty)
        #expect(queue.takeNext() == ["result 5", "result 6"])
        #expect(queue.isEmpty)
        #expect(queue.takeNext().isEmpty)
    }

    @Test func `the results of one call are committed together and in order`() {
        var queue = CommitQueue<String>()
        queue.add("first", results: 100)
        queue.add("large", results: Settlement.limit + 1)
        queue.add("small", results: 1)
        #expect(queue.takeNext() == ["first"])
        #expect(queue.takeNext() == ["large"])
        #expect(queue.takeNext() == ["small"])
    }
}

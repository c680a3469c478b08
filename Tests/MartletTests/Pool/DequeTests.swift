// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Martlet

@Suite struct DequeTests {
    @Test func `elements leave in the order in which they were added`() {
        var queue = Deque<Int>()
        var expected: [Int] = []
        var next = 0
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            if Bool.random(using: &generator) || expected.isEmpty {
                queue.append(next)
                expected.append(next)
                next += 1
            } else {
                #expect(queue.popFirst() == expected.removeFirst())
            }
            #expect(queue.count == expected.count)
        }
        #expect(queue.all == expected)
        queue.removeAll { _ in true }
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
    }
}

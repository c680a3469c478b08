// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletTransport
import Testing

@testable import Martlet

@Suite struct PushQueueTests {
    private var table = PushTable()
    private var queue = PushQueue()

    private mutating func insert(_ phase: PushState.Phase) -> PushKey {
        let key = table.insert(PushState(APNsID(randomBits: (0, 0)), SendLimits()))
        table[key].move(to: phase, at: .zero)
        return key
    }

    private mutating func enqueue() -> PushKey {
        let key = insert(.waiting)
        queue.append(key)
        return key
    }

    private mutating func settle(_ key: PushKey) {
        let phase = table[key].phase
        _ = table.settle(key, nil, at: .zero)
        queue.settled(in: phase, of: table)
    }

    @Test mutating func `pushes leave in order, except one that was added in front`() {
        let (a, b) = (enqueue(), enqueue())
        let front = insert(.waiting)
        queue.prepend(front)
        #expect(queue.readyCount == 3 && queue.waiting(in: table) == [front, a, b])
        let order = [queue.popFirst(in: table), queue.popFirst(in: table), queue.popFirst(in: table)]
        #expect(order == [front, a, b] && queue.isEmpty)
        let last = queue.popFirst(in: table)
        #expect(last == nil)
    }

    @Test mutating func `settled pushes are skipped`() {
        let keys = (0..<4).map { _ in enqueue() }
        settle(keys[0])
        settle(keys[2])
        #expect(queue.readyCount == 2 && queue.waiting(in: table) == [keys[1], keys[3]])
        let first = queue.first(in: table)
        #expect(first == keys[1] && queue.readyCount == 2)
        let order = [queue.popFirst(in: table), queue.popFirst(in: table)]
        #expect(order == [keys[1], keys[3]] && queue.isEmpty && queue.readyCount == 0)
    }

    @Test mutating func `many settled pushes are removed without being reached`() {
        let first = enqueue()
        let keys = (0..<3_000).map { _ in enqueue() }
        for key in keys { settle(key) }
        #expect(queue.readyCount == 1 && queue.waiting(in: table) == [first])
        let next = [queue.popFirst(in: table), queue.popFirst(in: table)]
        #expect(next == [first, nil] && queue.readyCount == 0)
    }

    @Test mutating func `held pushes are returned at their time and counted until then`() {
        let (soon, later) = (MonotonicTime(nanoseconds: 1), MonotonicTime(nanoseconds: 2))
        let (delayed, backingOff) = (insert(.delayed), insert(.backingOff))
        let cancelled = insert(.delayed)
        queue.hold(delayed, until: later, isDelayed: true)
        queue.hold(backingOff, until: soon, isDelayed: false)
        queue.hold(cancelled, until: soon, isDelayed: true)
        #expect(queue.delayedCount == 2 && queue.nextDue == soon && queue.readyCount == 0)
        settle(cancelled)
        #expect(queue.delayedCount == 1)
        let early = [queue.removeDue(by: soon, in: table), queue.removeDue(by: soon, in: table)]
        #expect(early == [backingOff, nil] && queue.nextDue == later && queue.delayedCount == 1)
        let last = queue.removeDue(by: later, in: table)
        #expect(last == delayed && queue.delayedCount == 0 && queue.nextDue == .never)
    }
}

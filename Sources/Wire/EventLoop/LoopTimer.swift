/// One action at one time on an event loop; use it only there.
package final class LoopTimer {
    let deadline: MonotonicTime
    private var action: (() -> Void)?

    init(deadline: MonotonicTime, action: @escaping () -> Void) {
        self.deadline = deadline
        self.action = action
    }

    /// Makes sure that the action does not run; does nothing when it has run.
    package func cancel() {
        action = nil
    }

    func fire() {
        action.take()?()
    }
}

/// The timers of one loop: a binary heap with the earliest deadline first.
struct TimerQueue {
    private var heap: [LoopTimer] = []

    var earliestDeadline: MonotonicTime? { heap.first?.deadline }

    mutating func add(_ timer: LoopTimer) {
        heap.append(timer)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes out the earliest timer when its deadline has come.
    mutating func removeDue(by now: MonotonicTime) -> LoopTimer? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            siftDown()
        }
        return first
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].deadline < heap[earliest].deadline { earliest = child }
            }
            guard earliest != parent else { return }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }
}

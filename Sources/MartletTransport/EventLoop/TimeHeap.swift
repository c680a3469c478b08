// SPDX-License-Identifier: Apache-2.0

/// A binary heap of elements ordered by due time, the earliest first.
package struct TimeHeap<Element> {
    private var entries: [(due: MonotonicTime, element: Element)] = []

    /// Creates an empty heap.
    package init() {}

    /// The due time of the earliest element; nil when the heap is empty.
    package var earliest: MonotonicTime? { entries.first?.due }

    package mutating func insert(_ element: Element, due: MonotonicTime) {
        entries.append((due, element))
        var child = entries.count - 1
        while child > 0, entries[child].due < entries[(child - 1) / 2].due {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes and returns the earliest element when it is due; returns nil otherwise.
    package mutating func removeDue(by now: MonotonicTime) -> Element? {
        guard let first = entries.first, first.due <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            siftDown()
        }
        return first.element
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].due < entries[earliest].due { earliest = child }
            }
            guard earliest != parent else { return }
            entries.swapAt(parent, earliest)
            parent = earliest
        }
    }
}

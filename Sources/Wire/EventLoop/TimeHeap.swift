/// Things that are due at a time, the earliest first: a binary heap.
package struct TimeHeap<Element> {
    private var entries: [(due: MonotonicTime, element: Element)] = []

    /// A heap with nothing in it.
    package init() {}

    /// When the first of them is due.
    package var earliest: MonotonicTime? { entries.first?.due }

    /// All of them, in no order.
    package var all: [Element] { entries.map(\.element) }

    /// Adds an element.
    package mutating func insert(_ element: Element, due: MonotonicTime) {
        entries.append((due, element))
        var child = entries.count - 1
        while child > 0, entries[child].due < entries[(child - 1) / 2].due {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes out the earliest element when its time has come.
    package mutating func removeDue(by now: MonotonicTime) -> Element? {
        guard let first = entries.first, first.due <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            siftDown()
        }
        return first.element
    }

    /// Takes out all of them.
    package mutating func removeAll() -> [Element] {
        defer { entries = [] }
        return all
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

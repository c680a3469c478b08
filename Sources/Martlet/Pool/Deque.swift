// SPDX-License-Identifier: Apache-2.0

/// A queue with constant amortized cost at both ends.
struct Deque<Element> {
    private var slots: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == slots.count }

    var count: Int { slots.count - head }

    var first: Element? { isEmpty ? nil : slots[head] }

    mutating func append(_ element: Element) {
        slots.append(element)
    }

    mutating func prepend(_ element: Element) {
        if head == 0 {
            // Doubles the capacity at the front, so that inserting many elements has the same amortized cost as
            // appending them.
            let capacity = max(16, slots.count)
            slots.insert(contentsOf: repeatElement(nil, count: capacity), at: 0)
            head = capacity
        }
        head -= 1
        slots[head] = element
    }

    mutating func popFirst() -> Element? {
        guard head < slots.count else { return nil }
        defer { compact() }
        head += 1
        return slots[head - 1].take()
    }

    var all: [Element] { slots[head...].compactMap(\.self) }

    /// Removes the elements for which the closure returns true.
    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        slots = slots[head...].filter { $0.map { !isUnwanted($0) } ?? false }
        head = 0
    }

    private mutating func compact() {
        if head == slots.count {
            slots.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 1_024, head * 2 > slots.count {
            slots.removeFirst(head)
            head = 0
        }
    }
}

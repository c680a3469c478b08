// SPDX-License-Identifier: Apache-2.0

/// A batcher that collects work while a batch is being processed, so that many statements share one commit.
struct StatementBatcher<Element> {
    private var elements: [Element] = []
    private var isRunning = false

    /// Adds an element; returns true when no batch is being processed and the caller must start one.
    mutating func add(_ element: Element) -> Bool {
        elements.append(element)
        return !isRunning && elements.count == 1
    }

    /// Returns the next batch and marks it as being processed; nil when no work waits.
    mutating func next() -> [Element]? {
        isRunning = !elements.isEmpty
        guard isRunning else { return nil }
        defer { elements = [] }
        return elements
    }
}

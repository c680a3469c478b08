// SPDX-License-Identifier: Apache-2.0

/// A dictionary with a limited number of values, which removes the value that was set least recently to make room.
struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        /// The number of the last time that the value was set, which distinguishes it from older positions in `order`.
        var number: Int
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    /// The keys in the order in which values were set, from ``start`` on; those that were set again are there twice.
    private var order: [(key: Key, number: Int)] = []
    private var start = 0
    private var lastNumber = 0

    /// Creates an empty dictionary.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// The number of values.
    var count: Int { entries.count }

    /// The value for a key; nil when it was never set, or was removed.
    subscript(key: Key) -> Value? { entries[key]?.value }

    /// Sets the value for a key; returns the value that it replaces, nil for none.
    @discardableResult
    mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
        lastNumber &+= 1
        let replaced = entries.updateValue(Entry(value: value, number: lastNumber), forKey: key)
        order.append((key, lastNumber))
        while entries.count > capacity { removeFirstPosition() }
        // Positions of values that were set again are at most as many as values.
        if order.count - start > 2 * capacity {
            order = order[start...].filter { entries[$0.key]?.number == $0.number }
            start = 0
        }
        return replaced?.value
    }

    /// Removes the value for a key.
    mutating func removeValue(forKey key: Key) {
        entries[key] = nil
    }

    /// Removes the values whose keys match a condition.
    mutating func removeValues(where matches: (Key) -> Bool) {
        entries = entries.filter { !matches($0.key) }
    }

    /// Removes the values that were set least recently, as long as they match a condition.
    mutating func removeOldest(while isOld: (Value) -> Bool) {
        while start < order.count {
            let (key, number) = order[start]
            if let entry = entries[key], entry.number == number, !isOld(entry.value) { return }
            removeFirstPosition()
        }
    }

    private mutating func removeFirstPosition() {
        let (key, number) = order[start]
        if entries[key]?.number == number { entries[key] = nil }
        start += 1
        guard start > capacity || start == order.count else { return }
        order.removeFirst(start)
        start = 0
    }
}

/// Provider tokens that a fault has declared expired, by the hash of the value of `authorization`.
typealias ExpiredTokens = RecentValues<Int, Bool>

extension ExpiredTokens {
    /// Returns whether a value of `authorization` has been declared expired.
    func contains(_ authorization: String) -> Bool { count > 0 && self[authorization.hashValue] != nil }
}

// SPDX-License-Identifier: Apache-2.0

/// The values that were stored last, by the numbers of what they belong to.
///
/// They are in memory only: after a restart, and when very many numbers are in use, a value is missing.
struct RecentValues<Value: Sendable>: Sendable {
    /// The number of values after which the older ones are dropped; at most twice as many are kept.
    private let limit: Int
    private var recent: [Int64: Value] = [:]
    private var older: [Int64: Value] = [:]

    /// Creates values without entries.
    init(limit: Int = 50_000) {
        self.limit = limit
    }

    /// Returns the value of a number; nil if it is not known.
    subscript(number: Int64) -> Value? { recent[number] ?? older[number] }

    /// Stores values.
    mutating func store(_ values: [Int64: Value]) {
        for (number, value) in values {
            older[number] = nil
            recent[number] = value
        }
        guard recent.count >= limit else { return }
        older = recent
        recent = [:]
    }
}

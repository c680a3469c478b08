// SPDX-License-Identifier: Apache-2.0

/// A counter with a value for each caller.
///
/// Only names from the configuration are used, so a metric with the name as a label has a bounded size.
struct CallerCounter: Sendable {
    /// The name for unknown clients, and for callers that are not configured any more.
    static let other = "other"

    private var counts: [String: Int] = [:]

    /// The sum over all callers.
    var total: Int { counts.values.reduce(0, +) }

    func count(of caller: String) -> Int { counts[caller] ?? 0 }

    mutating func add(_ count: Int, for caller: String) {
        guard count > 0 else { return }
        counts[caller, default: 0] += count
    }

    /// Adds the counts of callers that are not configured any more to those of ``other``.
    mutating func forget(except names: Set<String>) {
        for name in counts.keys where !names.contains(name) && name != CallerCounter.other {
            counts[CallerCounter.other, default: 0] += counts.removeValue(forKey: name) ?? 0
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The changes that wait for a commit of the file: pushes that come in, and results of claimed pushes.
struct CommitQueue<Change> {
    private var waiting: [(change: Change, results: Int)] = []

    var isEmpty: Bool { waiting.isEmpty }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - results: The number of its results; 0 for pushes that come in.
    mutating func add(_ change: Change, results: Int) {
        waiting.append((change, results))
    }

    /// Removes the changes of the next commit: all pushes that come in, and results up to ``Settlement/limit``, at
    /// least those of one change.
    mutating func takeNext() -> [Change] {
        var next: [Change] = []
        var later: [(change: Change, results: Int)] = []
        var results = 0
        for entry in waiting {
            let fits = results == 0 || results + entry.results <= Settlement.limit
            guard entry.results == 0 || later.isEmpty && fits else {
                later.append(entry)
                continue
            }
            results += entry.results
            next.append(entry.change)
        }
        waiting = later
        return next
    }
}

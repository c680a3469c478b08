// SPDX-License-Identifier: Apache-2.0

/// A problem that lasts until an operator fixes its cause.
struct LastingProblem: Sendable, Hashable {
    /// The time of the first error, in milliseconds since 1970.
    let since: Int64
    let error: String

    /// Creates the problem after another error; `earlier` is the problem before, nil for none.
    init(after earlier: LastingProblem?, _ error: String, at now: Int64) {
        since = earlier?.since ?? now
        self.error = error
    }

    /// Creates a problem that began at a time.
    init(since: Int64, _ error: String) {
        self.since = since
        self.error = error
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Waits that double with each failure, up to a limit, in milliseconds.
struct Backoff: Sendable {
    /// The wait after the first failure.
    var first: Int64
    /// The longest wait.
    var longest: Int64

    /// Returns the wait after a failure that follows a number of others.
    func wait(after earlier: Int) -> Int64 {
        let doublings = Int64(min(max(earlier, 0), 20))
        return min(first << doublings, max(first, longest))
    }

    /// Returns a wait that is longer by up to a quarter, which spreads the attempts that failed together.
    static func spread(_ wait: Int64, using generator: inout some RandomNumberGenerator) -> Int64 {
        wait + Int64.random(in: 0...max(1, wait / 4), using: &generator)
    }
}

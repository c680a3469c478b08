// SPDX-License-Identifier: Apache-2.0

/// A token bucket that limits the pushes per second of a lane, with a burst of one second.
struct RateLimit: Sendable {
    /// The number of pushes per second.
    let rate: Int
    /// The number of pushes that may be sent now, in thousandths.
    private var allowance: Int64
    private var updatedAt: Int64

    /// Creates a limit with a full allowance.
    init(rate: Int, at now: Int64) {
        self.rate = max(1, rate)
        allowance = Int64(self.rate) * 1_000
        updatedAt = now
    }

    /// Takes one push from the allowance; returns false when it has to wait.
    mutating func take(at now: Int64) -> Bool {
        // A clock that was set back does not change the allowance.
        // One that was set ahead by years must not overflow: a second gives the whole allowance.
        allowance = min(Int64(rate) * 1_000, allowance + min(max(0, now - updatedAt), 1_000) * Int64(rate))
        updatedAt = now
        guard allowance >= 1_000 else { return false }
        allowance -= 1_000
        return true
    }

    /// The time when the next push may be sent.
    var nextTime: Int64 { updatedAt + (max(0, 1_000 - allowance) + Int64(rate) - 1) / Int64(rate) }
}

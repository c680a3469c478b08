/// How many pushes a second a lane may send, evened out over a second: a value without a clock.
struct RateLimit: Sendable {
    /// Pushes a second.
    let rate: Int
    /// Pushes that may go now, in thousandths.
    private var allowance: Int64
    private var updatedAt: Int64

    /// A limit that nothing has been counted against.
    init(rate: Int, at now: Int64) {
        self.rate = max(1, rate)
        allowance = Int64(self.rate) * 1_000
        updatedAt = now
    }

    /// Counts one push; false when it has to wait.
    mutating func take(at now: Int64) -> Bool {
        // A clock that was set back gives nothing, and takes nothing away.
        // One that was set ahead by years must not overflow: a second gives the whole allowance.
        allowance = min(Int64(rate) * 1_000, allowance + min(max(0, now - updatedAt), 1_000) * Int64(rate))
        updatedAt = now
        guard allowance >= 1_000 else { return false }
        allowance -= 1_000
        return true
    }

    /// When the next push may go.
    var nextTime: Int64 { updatedAt + (max(0, 1_000 - allowance) + Int64(rate) - 1) / Int64(rate) }
}

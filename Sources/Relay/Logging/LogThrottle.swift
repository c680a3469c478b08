/// Lets one line of a kind through in a while, and counts the others: a value without a clock.
struct LogThrottle {
    /// The while, in milliseconds.
    static let interval: Int64 = 1_000

    private var nextAt = Int64.min / 2
    private var heldBack = 0

    /// Something is to be told.
    ///
    /// - Returns: How many were held back since the last one that was told; nil when this one is held back, too.
    mutating func take(at now: Int64) -> Int? {
        // A clock that was set back must not hold lines back for longer.
        guard now >= nextAt || now < nextAt - LogThrottle.interval else {
            heldBack += 1
            return nil
        }
        defer { heldBack = 0 }
        nextAt = now + LogThrottle.interval
        return heldBack
    }
}

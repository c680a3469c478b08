internal import Wire

/// Decides when a connection may be tried again: at once after a good one, later and later after bad ones.
struct ReconnectBackoff {
    /// The wait after the first failure, doubled with each further one.
    static let baseDelay = Duration.milliseconds(100)
    /// The longest wait: a client reaches a server that is back within about this time.
    static let maximumDelay = Duration.seconds(4)

    private var failures = 0
    /// No sooner than this.
    private(set) var notBefore = MonotonicTime.zero

    /// A connection has carried an answer.
    mutating func succeeded() {
        failures = 0
        notBefore = .zero
    }

    /// A connection did not come about, or ended before any answer.
    mutating func failed(at now: MonotonicTime, using generator: inout some RandomNumberGenerator) {
        let ceiling = min(ReconnectBackoff.baseDelay * (1 << min(failures, 20)), ReconnectBackoff.maximumDelay)
        failures += 1
        // At least half of it, so that a server that is down is left alone; the rest by chance, so that it does not
        // see all its clients at once when it is back.
        notBefore = now.advanced(by: ceiling / 2 + ceiling / 2 * Double.random(in: 0..<1, using: &generator))
    }
}

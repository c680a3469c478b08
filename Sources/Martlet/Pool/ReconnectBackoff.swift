// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The delay before the next connection attempt: none after a successful connection, increasing after failures.
struct ReconnectBackoff {
    /// The maximum delay after the first failure, doubled with each further one.
    static let baseDelay = Duration.milliseconds(100)
    /// The maximum delay; a client reaches a server that is available again within about this time.
    static let maximumDelay = Duration.seconds(4)

    /// The number of consecutive failures without a response.
    private(set) var failures = 0
    /// The earliest time of the next attempt.
    private(set) var notBefore = MonotonicTime.zero

    /// Records that a connection has received a response.
    mutating func succeeded() {
        failures = 0
        notBefore = .zero
    }

    /// Records that a connection attempt failed, or that a connection ended before any response.
    mutating func failed(at now: MonotonicTime, using generator: inout some RandomNumberGenerator) {
        let ceiling = ReconnectBackoff.baseDelay.doubled(failures, upTo: ReconnectBackoff.maximumDelay)
        failures += 1
        // At least half of the delay, so that an unavailable server is not overloaded; the rest is random, so that not
        // all clients reconnect at the same time.
        notBefore = now.advanced(by: ceiling / 2 + ceiling / 2 * Double.random(in: 0..<1, using: &generator))
    }
}

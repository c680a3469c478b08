// SPDX-License-Identifier: Apache-2.0

/// A limit of the log lines about a problem that lasts.
///
/// The first line is logged at once, further ones at growing intervals, with the number of omitted lines.
struct GrowingThrottle {
    /// The time between the first line and the second, in milliseconds; doubled after each further one.
    static let firstInterval: Int64 = 10_000
    /// The longest time between two lines, in milliseconds.
    static let longestInterval: Int64 = 600_000
    /// The shortest time between the last line about a problem and the first about the next, in milliseconds.
    static let pauseAfterEnd: Int64 = 1_000

    /// The time of the last line, in milliseconds since 1970; nil before the first one.
    private var lastAt: Int64?
    private var interval = pauseAfterEnd
    private var omitted = 0

    /// Returns the number of lines that were omitted since the last one; nil when this one is to be omitted, too.
    mutating func take(at now: Int64) -> Int? {
        var next =
            interval < GrowingThrottle.firstInterval
            ? GrowingThrottle.firstInterval : min(interval * 2, GrowingThrottle.longestInterval)
        if let last = lastAt {
            // A clock that was set back must not suppress lines.
            guard now < last || now - last >= interval else {
                omitted += 1
                return nil
            }
            // After a long time without a line it is another problem.
            if now < last || now - last >= interval + GrowingThrottle.longestInterval {
                next = GrowingThrottle.firstInterval
            }
        }
        defer { omitted = 0 }
        lastAt = now
        interval = next
        return omitted
    }

    /// Records that the problem has ended, so that the next one is logged at once.
    mutating func end() {
        interval = GrowingThrottle.pauseAfterEnd
        omitted = 0
    }
}

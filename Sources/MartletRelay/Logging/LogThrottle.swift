// SPDX-License-Identifier: Apache-2.0

/// A limit of one log line per interval that counts the omitted lines.
struct LogThrottle {
    /// The interval, in milliseconds.
    static let interval: Int64 = 1_000

    /// The time after a line until the number of omitted ones is logged without another, in milliseconds.
    static let longestSilence: Int64 = 30_000

    private var nextAt = Int64.min / 2
    private var omitted = 0

    /// Returns the number of lines that were omitted since the last one; nil when this one is to be omitted, too.
    mutating func take(at now: Int64) -> Int? {
        // A clock that was set back must not suppress lines for longer.
        guard now >= nextAt || now < nextAt - LogThrottle.interval else {
            omitted += 1
            return nil
        }
        defer { omitted = 0 }
        nextAt = now + LogThrottle.interval
        return omitted
    }

    /// Returns the number of lines that were omitted half a minute ago and not reported by a later line; nil for none.
    mutating func takeOmitted(at now: Int64) -> Int? {
        let nextAt = nextAt
        guard omitted > 0, now >= nextAt + LogThrottle.longestSilence || now < nextAt - LogThrottle.interval else {
            return nil
        }
        defer { omitted = 0 }
        self.nextAt = now + LogThrottle.interval
        return omitted
    }
}

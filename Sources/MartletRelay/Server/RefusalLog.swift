// SPDX-License-Identifier: Apache-2.0

/// The limits for log lines about refused callers, one for each cause.
struct RefusalLog {
    private var throttles: [CallerRefusal.Cause: LogThrottle] = [:]

    /// Returns the number of lines with the cause that were omitted since the last; nil when this one is to be omitted.
    mutating func take(_ cause: CallerRefusal.Cause, at now: Int64) -> Int? {
        throttles[cause, default: LogThrottle()].take(at: now)
    }

    /// Returns the numbers of omitted lines that no later line has reported within half a minute.
    mutating func takeOmitted(at now: Int64) -> [(cause: CallerRefusal.Cause, count: Int)] {
        CallerRefusal.Cause.allCases.compactMap { cause in
            throttles[cause]?.takeOmitted(at: now).map { (cause, $0) }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A point in time of a clock that never goes back, in nanoseconds since an arbitrary start.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    /// The nanoseconds since the clock's start.
    package var nanoseconds: Int64

    /// The clock's start.
    package static let zero = MonotonicTime(nanoseconds: 0)

    /// The last representable point in time, which no clock reaches.
    package static let never = MonotonicTime(nanoseconds: .max)

    /// Creates a point this many nanoseconds after the clock's start.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Returns the point this much later, clamped to the range of `Int64` nanoseconds.
    package func advanced(by duration: Duration) -> MonotonicTime {
        let delay = duration.attoseconds / 1_000_000_000
        return MonotonicTime(nanoseconds: Int64(clamping: Int128(nanoseconds) + delay))
    }

    /// Returns the time between `earlier` and this point.
    package func duration(since earlier: MonotonicTime) -> Duration {
        // The subtraction of durations cannot overflow, unlike that of the nanoseconds.
        .nanoseconds(nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    /// Returns whether the left point is before the right.
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

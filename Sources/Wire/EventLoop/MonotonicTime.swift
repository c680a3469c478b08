/// A point on a clock that never goes back, in nanoseconds since an arbitrary start.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since the clock's start.
    package var nanoseconds: Int64

    /// The clock's start; the natural beginning for tests.
    package static let zero = MonotonicTime(nanoseconds: 0)

    /// The point that no clock reaches.
    package static let never = MonotonicTime(nanoseconds: .max)

    /// A point this many nanoseconds after the clock's start.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The point this much later; absurdly long durations end at the last point there is.
    package func advanced(by duration: Duration) -> MonotonicTime {
        let delay = duration.attoseconds / 1_000_000_000
        return MonotonicTime(nanoseconds: Int64(clamping: Int128(nanoseconds) + delay))
    }

    /// How long after `earlier` this point is.
    package func duration(since earlier: MonotonicTime) -> Duration {
        // Subtracting durations does not overflow, whatever the points are.
        .nanoseconds(nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    /// Whether one point comes before another.
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

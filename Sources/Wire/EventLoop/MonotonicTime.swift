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
        let (seconds, attoseconds) = duration.components
        let (product, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !tooLong else { return MonotonicTime(nanoseconds: seconds < 0 ? .min : .max) }
        let (delay, isOver) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        let (sum, isLate) = nanoseconds.addingReportingOverflow(delay)
        return MonotonicTime(nanoseconds: isOver || isLate ? (seconds < 0 ? .min : .max) : sum)
    }

    /// How long after `earlier` this point is.
    package func duration(since earlier: MonotonicTime) -> Duration {
        .nanoseconds(nanoseconds - earlier.nanoseconds)
    }

    /// Whether one point comes before another.
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

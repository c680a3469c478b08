/// How often values were how large: a count for each bound, as Prometheus has it.
package struct Histogram: Sendable, Hashable {
    /// The bounds in growing order; a value counts for the first that it does not exceed.
    package let bounds: [Double]
    /// A count for each bound, and one for what exceeds all of them.
    package private(set) var counts: [Int]
    /// The values together.
    package private(set) var sum = 0.0

    /// A histogram of nothing yet.
    ///
    /// - Parameter bounds: The bounds in growing order.
    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    /// A histogram of times in seconds.
    package static var times: Histogram {
        Histogram(bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30])
    }

    /// Counts a value.
    package mutating func observe(_ value: Double) {
        var index = 0
        while index < bounds.count, value > bounds[index] { index += 1 }
        counts[index] += 1
        sum += value
    }

    /// Counts a time.
    package mutating func observe(_ time: Duration) {
        observe(Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)
    }
}

/// What an engine has measured since it was opened.
package struct OutboxMeasures: Sendable, Hashable {
    /// How long commits took, the wait for the disk with them.
    package var commitTimes = Histogram.times
    /// Pushes that were accepted or settled in one commit.
    package var commitSizes = Histogram(bounds: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500])

    /// Nothing measured.
    package init() {}
}

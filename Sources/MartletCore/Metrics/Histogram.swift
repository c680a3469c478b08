// SPDX-License-Identifier: Apache-2.0

/// A distribution of values: a count for each bound, as in a Prometheus histogram.
package struct Histogram: Sendable, Hashable {
    /// The upper bounds in ascending order; a value is counted under the first bound that it does not exceed.
    package let bounds: [Double]
    /// The count for each bound, and a last one for values that exceed all bounds.
    package private(set) var counts: [Int]
    package private(set) var sum = 0.0

    /// Creates a histogram without values.
    ///
    /// - Parameter bounds: The upper bounds in ascending order.
    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    /// A histogram without values for times in seconds.
    package static var times: Histogram {
        Histogram(bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30])
    }

    /// Returns the value below which a share of the values lies, as Prometheus' `histogram_quantile` estimates it: the
    /// values under a bound are taken to lie at equal distances, and those that exceed all bounds to be the last one.
    ///
    /// - Parameter share: The share, from 0 to 1.
    /// - Returns: The estimate; nil without values.
    package func quantile(_ share: Double) -> Double? {
        let rank = share * Double(counts.reduce(0, +))
        var (lower, below) = (0.0, 0)
        for (bound, count) in zip(bounds, counts) {
            if count > 0, Double(below + count) >= rank {
                return lower + (bound - lower) * max(0, rank - Double(below)) / Double(count)
            }
            (lower, below) = (bound, below + count)
        }
        return counts.last == 0 ? nil : bounds.last
    }

    /// Adds the values of another histogram with the same bounds.
    package mutating func add(_ other: Histogram) {
        counts = zip(counts, other.counts).map { $0 + $1 }
        sum += other.sum
    }

    package mutating func observe(_ value: Double) {
        var index = 0
        while index < bounds.count, value > bounds[index] { index += 1 }
        counts[index] += 1
        sum += value
    }

    package mutating func observe(_ time: Duration) {
        observe(Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)
    }
}

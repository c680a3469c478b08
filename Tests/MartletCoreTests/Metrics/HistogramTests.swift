// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletCore

@Suite struct HistogramTests {
    @Test func `a value counts for the first bound that it does not exceed`() {
        var histogram = Histogram(bounds: [1, 2])
        for value in [0.5, 1, 1.5, 2, 2.5] { histogram.observe(value) }
        #expect(histogram.counts == [2, 2, 1])
        #expect(histogram.sum == 7.5)
    }

    @Test func `durations are counted in seconds`() {
        var histogram = Histogram(bounds: [1, 2])
        histogram.observe(.milliseconds(1_500))
        #expect(histogram.counts == [0, 1, 0])
        #expect(histogram.sum == 1.5)
    }

    @Test func `a quantile is estimated between two bounds`() {
        var histogram = Histogram(bounds: [1, 2, 4])
        #expect(histogram.quantile(0.5) == nil)
        for value in [0.5, 0.5, 3, 3] { histogram.observe(value) }
        #expect(histogram.quantile(0.25) == 0.5 && histogram.quantile(0.5) == 1)
        #expect(histogram.quantile(0.75) == 3 && histogram.quantile(1) == 4)
        for _ in 0..<9 { histogram.observe(100) }
        #expect(histogram.quantile(0.95) == 4, "the last bound")
    }

    @Test func `two histograms are added`() {
        var (first, second) = (Histogram(bounds: [1, 2]), Histogram(bounds: [1, 2]))
        first.observe(0.5)
        second.observe(1.5)
        second.observe(9)
        first.add(second)
        #expect(first.counts == [1, 1, 1] && first.sum == 11)
    }
}

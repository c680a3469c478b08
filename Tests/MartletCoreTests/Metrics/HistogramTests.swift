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
}

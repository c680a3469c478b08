// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletRelay

@Suite struct BackoffTests {
    private let backoff = Backoff(first: 5_000, longest: 3_600_000)

    @Test func `the wait doubles up to the limit`() {
        let waits = [-1, 0, 1, 2, 9, 10, Int.max].map { backoff.wait(after: $0) }
        #expect(waits == [5_000, 5_000, 10_000, 20_000, 2_560_000, 3_600_000, 3_600_000])
    }

    @Test func `a wait is never shorter than the first one`() {
        #expect(Backoff(first: 900_000, longest: 60_000).wait(after: 3) == 900_000)
    }

    @Test func `waits are spread by up to a quarter`() {
        var generator = SplitMix64(state: 1)
        let waits = (0..<100).map { _ in Backoff.spread(1_000, using: &generator) }
        #expect(waits.allSatisfy { (1_000...1_250).contains($0) } && Set(waits).count > 10)
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletTransport
import Testing

@testable import Martlet

@Suite struct ReconnectBackoffTests {
    private static let now = MonotonicTime(nanoseconds: 5_000_000_000)
    private var backoff = ReconnectBackoff()
    private var random = SplitMix64(state: 7)

    /// Records a failure, and returns the delay before the next attempt.
    private mutating func fail() -> Duration {
        backoff.failed(at: Self.now, using: &random)
        return backoff.notBefore.duration(since: Self.now)
    }

    @Test mutating func `the delay is between half and all of a value that doubles up to the maximum`() {
        var ceiling = ReconnectBackoff.baseDelay
        for failure in 1...100 {
            let delay = fail()
            #expect(delay >= ceiling / 2 && delay <= ceiling)
            #expect(backoff.failures == failure)
            ceiling = min(ceiling * 2, ReconnectBackoff.maximumDelay)
        }
    }

    @Test mutating func `a response ends the delay, and the next failure starts with the shortest`() {
        for _ in 0..<10 { _ = fail() }
        backoff.succeeded()
        #expect(backoff.failures == 0 && backoff.notBefore == .zero)
        #expect(fail() <= ReconnectBackoff.baseDelay)
    }

    @Test(arguments: [(-1, 3), (0, 3), (1, 6), (2, 10), (Int.max, 10)])
    func `a delay is doubled for each earlier attempt up to the maximum`(count: Int, seconds: Int) {
        #expect(Duration.seconds(3).doubled(count, upTo: .seconds(10)) == .seconds(seconds))
    }
}

// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletTransport

@Suite struct HTTP2FrameBudgetTests {
    private var budget = HTTP2FrameBudget()
    private let update = RawHTTP2.frame(.windowUpdate, [0, 0, 0, 1])

    private mutating func admits(_ octets: [UInt8], at now: MonotonicTime = .zero) -> Bool {
        octets.withUnsafeBytes { budget.admits($0, at: now) }
    }

    /// Receives the preface and as many frames without effect as are admitted.
    private mutating func exhaust() -> Bool {
        let preface = [UInt8](repeating: 0, count: 24)
        let frames = repeatElement(update, count: HTTP2FrameBudget.burst).joined()
        return admits(preface + frames)
    }

    @Test mutating func `the burst is admitted and no further frame`() {
        let (burst, further) = (exhaust(), admits(update))
        #expect(burst && !further)
    }

    @Test mutating func `a DATA frame of the server permits two frames`() {
        _ = exhaust()
        budget.sentData()
        let admitted = [admits(update), admits(update), admits(update)]
        #expect(admitted == [true, true, false])
    }

    @Test(arguments: [(1, 1), (3, 3), (3_600_000, HTTP2FrameBudget.burst)])
    mutating func `the budget grows by a frame in each interval, up to the burst`(intervals: Int, count: Int) {
        _ = exhaust()
        let now = MonotonicTime.zero.advanced(by: HTTP2FrameBudget.interval * intervals)
        let grown = admits(Array(repeatElement(update, count: count).joined()), at: now)
        let further = admits(update, at: now)
        #expect(grown && !further)
    }

    @Test mutating func `DATA counts only if it is short and does not end its stream`() {
        _ = exhaust()
        let last = admits(RawHTTP2.frame(.data, flags: RawHTTP2.endsStream, stream: 1))
        let long = admits(RawHTTP2.frame(.data, stream: 1, [UInt8](repeating: 0, count: 16)))
        let short = admits(RawHTTP2.frame(.data, stream: 1, [UInt8](repeating: 0, count: 15)))
        #expect(last && long && !short)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

@Suite struct ClockWatchTests {
    private static let day: Int64 = 86_400_000

    /// Advances both clocks, the wall clock by a jump in addition; returns the jumps that were found.
    private func run(_ watch: inout ClockWatch, from start: Int64, seconds: Range<Int64>, ahead: Int64 = 0) -> [Int64] {
        seconds.compactMap { watch.record(wall: start + $0 * 1_000 + ahead, steady: .seconds($0)) }
    }

    @Test func `the clock is trusted an hour after the start, and an hour after the last jump`() {
        var watch = ClockWatch()
        let start: Int64 = 1_795_000_000_000
        #expect(!watch.isTrusted)
        let calm = run(&watch, from: start, seconds: 0..<3_600)
        #expect(calm.isEmpty && !watch.isTrusted)
        _ = run(&watch, from: start, seconds: 3_600..<3_601)
        #expect(watch.isTrusted)
        let ahead = run(&watch, from: start, seconds: 3_601..<3_608, ahead: 45 * Self.day)
        #expect(ahead == [45 * Self.day] && !watch.isTrusted)
        let back = run(&watch, from: start, seconds: 3_608..<7_208)
        #expect(back == [-45 * Self.day] && !watch.isTrusted)
        _ = run(&watch, from: start, seconds: 7_208..<7_209)
        #expect(watch.isTrusted)
    }

    @Test func `a small adjustment or a late reading is not a clock jump`() {
        var watch = ClockWatch()
        _ = watch.record(wall: 1_000_000, steady: .seconds(10))
        let adjusted = watch.record(wall: 1_031_000, steady: .seconds(11))
        let late = watch.record(wall: 1_031_000 + 600_000, steady: .seconds(611))
        #expect(adjusted == nil && late == nil)
    }
}

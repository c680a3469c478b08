// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the warning about a disk that is nearly full.
@Suite struct DiskWatchTests {
    @Test func `a disk shortage has its start, and is logged at intervals`() {
        var watch = DiskWatch()
        let size: Int64 = 100 << 30
        let enough = watch.record(free: DiskWatch.limit, size: size, at: 1_000)
        #expect(enough == nil && watch.shortage == nil)
        let low = watch.record(free: DiskWatch.limit - 1, size: size, at: 2_000)
        #expect(low == DiskWatch.Shortage(since: 2_000, free: DiskWatch.limit - 1))
        let again = watch.record(free: 0, size: size, at: 3_000)
        #expect(again == nil && watch.shortage == DiskWatch.Shortage(since: 2_000, free: 0))
        let later = watch.record(free: 0, size: size, at: 12_000)
        #expect(later?.since == 2_000)
        _ = watch.record(free: nil, size: nil, at: 13_000)
        #expect(watch.shortage == nil, "a database has no disk here")
        let small: Int64 = 32 << 20
        _ = watch.record(free: small / 20, size: small, at: 14_000)
        #expect(watch.shortage == nil)
        _ = watch.record(free: small / 20 - 1, size: small, at: 15_000)
        #expect(watch.shortage?.since == 15_000)
    }

    @Test func `a nearly full disk is a warning until pushes are refused`() throws {
        var facts = StatusSummaryTests.threeLanes
        facts.diskShortage = DiskWatch.Shortage(since: facts.now - 69_000, free: 3_000_000)
        let incident = try #require(StatusSummary(facts).incidents.first)
        #expect(incident.kind == .diskLow && incident.severity == .warning && incident.since == facts.now - 69_000)
        #expect(incident.effect == "It has 2 MB free. The relay refuses pushes with 503 when it can store nothing.")
        facts.store = StatusFacts.StoreProblem(kind: .full, error: "no room", since: facts.now, action: "free space")
        #expect(StatusSummary(facts).incidents.map(\.kind) == [.diskFull])
    }
}

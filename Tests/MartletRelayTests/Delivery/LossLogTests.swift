// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the log lines about pushes that have expired or were abandoned.
@Suite struct LossLogTests {
    private static let lane = Lane(app: "orders", environment: .production)
    private static let other = Lane(app: "rides", environment: .production)

    @Test func `expired and abandoned pushes are summed per lane and minute`() {
        var log = LossLog()
        func add(_ state: Outcome.State, _ lane: Lane = LossLogTests.lane, reason: String? = nil) {
            log.add(Outcome(state, reason: reason), of: lane)
        }
        func take(_ now: Int64, isLast: Bool = false) -> [String] {
            log.take(at: now, isLast: isLast).map { "\($0.lane.app) \($0.end) \($0.count) \($0.reason ?? "-")" }
        }
        for state in [.delivered, .refused, .cancelled, .superseded] as [Outcome.State] { add(state) }
        #expect(take(0).isEmpty)
        for _ in 0..<3 { add(.expired) }
        add(.dead, reason: "ServiceUnavailable")
        let first = take(1_000)
        #expect(first == ["orders expired 3 -", "orders dead 1 ServiceUnavailable"])
        add(.expired)
        add(.expired, Self.other)
        let second = take(2_000)
        #expect(second == ["rides expired 1 -"], "the other line is a second old")
        add(.expired)
        let third = take(61_000)
        #expect(third == ["orders expired 2 -"])
        #expect(take(200_000).isEmpty)
        add(.expired)
        _ = take(200_000)
        add(.expired)
        #expect(take(200_001).isEmpty)
        let last = take(200_002, isLast: true)
        #expect(last == ["orders expired 1 -"])
    }

    @Test func `a past problem is logged with its duration and losses`() {
        let lines = LogLines()
        let logger = lines.logger(.info)
        var outage = StatusWatch.PastOutage(
            lane: Self.lane,
            reason: "ConnectionFailed",
            start: 1_000,
            end: 81_000,
            losses: LossCounts(expired: 1_200, abandoned: 39)
        )
        logger.problemOver(outage)
        outage.losses = LossCounts()
        logger.problemOver(outage)
        #expect(lines.objects.map { $0["level"] } == ["warning", "info"])
        let line = lines.objects.first
        #expect(line?["msg"] == "problem over" && line?["seconds"] == 80 && line?["lost"] == 1_239)
        #expect(line?["app"] == "orders" && line?["problem"] == "outage" && line?["reason"] == "ConnectionFailed")
    }

    @Test func `a line about losses names the lane, number and reason`() {
        let lines = LogLines()
        let logger = lines.logger(.info)
        var log = LossLog()
        log.add(Outcome(.expired), of: Self.lane)
        log.add(Outcome(.dead, reason: "ServiceUnavailable"), of: Self.lane)
        for losses in log.take(at: 0) { logger.lost(losses) }
        #expect(lines.objects.map { $0["msg"] } == ["pushes expired", "pushes abandoned"])
        #expect(lines.objects.allSatisfy { $0["level"] == "warning" && $0["app"] == "orders" && $0["count"] == 1 })
        #expect(lines.objects.last?["reason"] == "ServiceUnavailable")
        log.add(Outcome(.expired), of: Self.lane)
        for losses in log.take(at: LossLog.interval) { logger.lost(losses) }
        #expect(lines.objects.last?["count"] == 1 && lines.objects.last?["total"] == 2)
    }
}

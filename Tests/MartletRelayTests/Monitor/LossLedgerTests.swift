// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the assignment of lost pushes to problems.
@Suite struct LossLedgerTests {
    private static let orders = Lane(app: "orders", environment: .production)
    private static let rides = Lane(app: "rides", environment: .production)

    private static func expired(_ count: Int, _ time: Int64, to end: Int64? = nil, _ lane: Lane = orders) -> Loss {
        Loss(lane: lane, counts: LossCounts(expired: count), from: time, to: end ?? time)
    }

    private static let causes: [LossLedger.Cause] = [
        .pause(orders), .stop, .storage, .outage(orders), .failing(orders),
    ]

    @Test(arguments: [(0, 2), (0, 3), (1, 2), (2, 3), (3, 4)])
    func `a loss counts for the first of several causes`(one: Int, other: Int) {
        let (first, second) = (Self.causes[one], Self.causes[other])
        for causes in [[first, second], [second, first]] {
            var ledger = LossLedger()
            for cause in causes { ledger.begin(cause, at: 1_000) }
            ledger.record(Self.expired(3, 2_000))
            #expect(ledger[first]?.losses.total == 3 && ledger[first]?.lostElsewhere == 0)
            #expect(ledger[second]?.losses.total == 0 && ledger[second]?.lostElsewhere == 3)
        }
    }

    @Test func `a loss that is stored late counts for its past problem`() {
        var ledger = LossLedger()
        ledger.begin(.storage, at: 10_000)
        let number = ledger.end(.storage, at: 35_000) ?? 0
        ledger.record(Self.expired(1, 35_001))
        ledger.record(Self.expired(300, 9_500, to: 35_900))
        ledger.record(Self.expired(2, 12_000))
        #expect(ledger.problem(number)?.losses == LossCounts(expired: 302))
        #expect(ledger[.expiry(Self.orders)]?.losses == LossCounts(expired: 1))
    }

    @Test func `a problem noticed late takes the losses since its start`() {
        var ledger = LossLedger()
        ledger.record(Self.expired(5, 9_000))
        ledger.record(Self.expired(7, 12_000))
        ledger.record(Self.expired(1, 12_000, Self.rides))
        ledger.record(Loss(lane: Self.orders, counts: LossCounts(refused: 99), from: 11_000, to: 11_000))
        ledger.begin(.outage(Self.orders), at: 10_000)
        #expect(ledger[.outage(Self.orders)]?.losses == LossCounts(expired: 7, refused: 99))
        #expect(ledger[.expiry(Self.orders)]?.losses.total == 5 && ledger[.expiry(Self.rides)]?.losses.total == 1)
        ledger.begin(.outage(Self.orders), at: 9_000)
        #expect(ledger[.outage(Self.orders)]?.losses == LossCounts(expired: 12, refused: 99))
        #expect(ledger[.expiry(Self.orders)] == nil)
        ledger.begin(.outage(Self.orders), at: 10_000)
        #expect(ledger[.outage(Self.orders)]?.start == 9_000)
    }

    @Test func `a later outage takes the refusals of a failing lane`() {
        var ledger = LossLedger()
        func refuse(_ count: Int, _ time: Int64) {
            ledger.record(Loss(lane: Self.orders, counts: LossCounts(refused: count), from: time, to: time))
        }
        refuse(10, 2_000)
        ledger.begin(.failing(Self.orders), at: 2_000)
        refuse(90, 4_000)
        ledger.begin(.outage(Self.orders), at: 2_000)
        refuse(105, 5_000)
        #expect(ledger[.outage(Self.orders)]?.losses.refused == 205)
        #expect(ledger[.outage(Self.orders)]?.lostElsewhere == 0)
        #expect(ledger[.failing(Self.orders)]?.losses.total == 0)
        #expect(ledger[.failing(Self.orders)]?.lostElsewhere == 205)
    }

    @Test func `an expiry has a rate, and is over after a minute without one`() {
        var ledger = LossLedger()
        for second in 0..<110 as Range<Int64> {
            ledger.record(Self.expired(second.isMultiple(of: 2) ? 2 : 3, second * 1_000))
        }
        let rate = ledger.expiryRate(of: Self.orders, at: 109_999)
        #expect(rate > 2.4 && rate < 2.6, "\(rate)")
        #expect(ledger[.expiry(Self.orders)]?.losses.expired == 275 && ledger[.expiry(Self.orders)]?.start == 0)
        #expect(ledger.expiryRate(of: Self.rides, at: 109_999) == 0)
        let early = ledger.endExpiries(at: 168_999)
        #expect(early.isEmpty)
        let ended = ledger.endExpiries(at: 169_000)
        #expect(ended.count == 1 && ledger.problem(ended.first ?? 0)?.end == 109_000)
        #expect(ledger[.expiry(Self.orders)] == nil)
    }

    @Test func `refusals without a problem are not reported`() {
        var ledger = LossLedger()
        ledger.record(Loss(lane: Self.orders, counts: LossCounts(abandoned: 1, refused: 9), from: 5, to: 5))
        #expect(ledger[.expiry(Self.orders)] == nil)
    }

    @Test func `damaged pushes count for their damage during other problems`() {
        var recent = RecentLosses()
        let damaged = Outcome(.dead, reason: Outcome.damagedReason)
        for _ in 0..<4 { recent.add(damaged, of: Self.orders, from: 2_000, to: 2_000) }
        recent.add(Outcome(.expired), of: Self.orders, from: 2_000, to: 2_000)
        var ledger = LossLedger()
        ledger.begin(.pause(Self.orders), at: 1_000)
        for loss in recent.take() { ledger.record(loss) }
        ledger.begin(.outage(Self.orders), at: 1_500)
        #expect(ledger[.damage(Self.orders)]?.losses == LossCounts(abandoned: 4))
        #expect(ledger[.pause(Self.orders)]?.losses == LossCounts(expired: 1))
        #expect(ledger[.pause(Self.orders)]?.lostElsewhere == 4)
        #expect(ledger[.outage(Self.orders)]?.losses.total == 0 && ledger[.outage(Self.orders)]?.lostElsewhere == 5)
    }

    // MARK: Model

    /// A lane in which pushes are lost and problems begin and end, with the numbers that are true.
    private struct LaneWorld {
        struct Period {
            var cause: LossLedger.Cause
            var start: Int64
            var end: Int64?
            var number: Int?
        }

        var ledger = LossLedger()
        var now: Int64 = 1_000_000
        var periods: [Period] = []
        var outcomes = LossCounts()
        /// The losses whose end is stored, with the times at which they were lost.
        var lost: [(time: Int64, counts: LossCounts)] = []
        /// The pushes that have expired while the outbox could not store their end.
        var unstored: [Int64] = []
        var expiries: [Int] = []
        var generator: SplitMix64

        init(seed: UInt64) { generator = SplitMix64(state: seed) }

        mutating func chance(_ range: ClosedRange<Int64>) -> Int64 { .random(in: range, using: &generator) }

        var isStoring: Bool { !periods.contains { $0.cause == .storage && $0.end == nil } }

        mutating func step() {
            // The ledger stores losses by the second.
            now += chance(1...4) * 1_000
            switch chance(0...9) {
            case 0: toggle(.storage)
            case 1:
                let delay = chance(0...10) * 1_000
                toggle(.outage(LossLedgerTests.orders), noticedAfter: delay)
            case 2: toggle(.pause(LossLedgerTests.orders))
            case 3, 4:
                let count = Int(chance(1...9))
                lose(count.isMultiple(of: 2) ? LossCounts(abandoned: count) : LossCounts(refused: count))
            default:
                let count = Int(chance(1...9))
                unstored += [Int64](repeating: now, count: count)
            }
            storeExpired()
            let ended = ledger.endExpiries(at: now)
            expiries += ended
        }

        private mutating func toggle(_ cause: LossLedger.Cause, noticedAfter delay: Int64 = 0) {
            if let index = periods.firstIndex(where: { $0.cause == cause && $0.end == nil }) {
                periods[index].end = now
                periods[index].number = ledger.end(cause, at: now)
            } else {
                let earlier = periods.filter { $0.cause == cause }.compactMap(\.end).max() ?? 0
                let start = max(now - delay, earlier + 1_000)
                periods.append(Period(cause: cause, start: start))
                ledger.begin(cause, at: start)
            }
        }

        private mutating func lose(_ counts: LossCounts) {
            outcomes = outcomes + counts
            ledger.record(Loss(lane: LossLedgerTests.orders, counts: counts, from: now, to: now))
            lost.append((now, counts))
        }

        /// Ends the pushes that have expired.
        private mutating func storeExpired() {
            guard isStoring else { return }
            for time in unstored {
                let counts = LossCounts(expired: 1)
                outcomes = outcomes + counts
                ledger.record(Loss(lane: LossLedgerTests.orders, counts: counts, from: time, to: time))
                lost.append((time, counts))
            }
            unstored = []
        }

        /// The numbers that the problems report, those that last included.
        var reported: LossCounts {
            let past = periods.compactMap(\.number) + expiries
            let running = periods.filter { $0.end == nil }.map(\.cause) + [.expiry(LossLedgerTests.orders)]
            let problems = past.compactMap { ledger.problem($0) } + running.compactMap { ledger[$0] }
            return problems.map(\.losses).reduce(LossCounts(), +)
        }

        /// The losses outside of all problems, except those that have expired.
        var outside: LossCounts {
            lost.filter { loss in
                !periods.contains { period in
                    period.start <= loss.time && loss.time <= period.end ?? .max
                }
            }
            .map(\.counts).reduce(LossCounts()) { $0 + LossCounts(abandoned: $1.abandoned, refused: $1.refused) }
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `losses in problems and outside them add up to the outcomes`(seed: UInt64) {
        var world = LaneWorld(seed: seed)
        var highest: [Int: Int] = [:]
        for _ in 0..<300 {
            world.step()
            let sum = world.reported + world.outside
            #expect(sum == world.outcomes, "seed \(seed), at \(world.now)")
            for number in world.periods.compactMap(\.number) {
                let count = world.ledger.problem(number)?.losses.total ?? 0
                #expect(count >= highest[number, default: 0], "a number never shrinks")
                highest[number] = count
            }
        }
    }
}

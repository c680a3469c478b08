// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the state of a lane, of its part of the status, and of the figures over all lanes.
@Suite struct LaneFactsTests {
    /// 2026-11-25 12:41:00 UTC.
    private static let now: Int64 = 1_795_610_460_000
    private static let lane = Lane(app: "orders", environment: .production)

    private static func facts(attempts: Int = 0, failures: Int = 0, _ backlog: Backlog? = nil) -> LaneFacts {
        var facts = LaneFacts(lane: lane)
        facts.counts.recentAttempts = attempts
        facts.counts.recentFailures = failures
        facts.backlog = backlog
        return facts
    }

    private static func backlog(_ count: Int, due age: Int64? = nil, retrying: Int = 0) -> Backlog {
        Backlog(lane: lane, count: count, oldest: age.map { now - $0 }, retrying: retrying)
    }

    private static func figures(_ lanes: LaneFacts...) -> [String: StatusFigure] {
        let facts = StatusFacts(now: now, apps: ["orders"], lanes: lanes)
        return Dictionary(facts.figures.map { ($0.name, $0) }) { first, _ in first }
    }

    @Test(arguments: [
        (0, 0, 0, LaneState.ready), (1, 0, 0, .delivers), (9, 9, 0, .ready), (2, 2, 1, .ready), (3, 3, 1, .fails),
        (10, 10, 0, .fails), (10, 9, 5, .delivers), (0, 0, 5, .ready),
    ])
    func `the attempts of the last minute decide the state`(
        attempts: Int,
        failures: Int,
        retrying: Int,
        state: LaneState
    ) {
        let facts = Self.facts(attempts: attempts, failures: failures, Self.backlog(5, retrying: retrying))
        #expect(facts.state == state)
    }

    @Test func `a pause counts before an outage, and that before the storage`() {
        var facts = Self.facts(attempts: 1, Self.backlog(7))
        facts.counts.inFlight = 2
        #expect(facts.state == .delivers && facts.waiting == 5)
        facts.isStoring = false
        #expect(facts.state == .notStoring && facts.waiting == 5)
        facts.problem = LaneProblem(since: 1, reason: "ConnectionFailed", nextTry: nil)
        #expect(facts.state == .down && facts.waiting == 5 && facts.undelivered == 7)
        facts.pause = LanePause(lane: Self.lane, since: 2, caller: "kim")
        #expect(facts.state == .paused && facts.waiting == 5)
        let json = facts.json(at: Self.now)
        #expect(json["state"] == "paused" && json["reason"] == "ConnectionFailed" && json["since"] == 1)
        #expect(json["manual-pause"]?["since"] == 2)
        facts.backlog = nil
        #expect(facts.waiting == nil && facts.json(at: Self.now)["waiting"] == nil)
    }

    @Test func `a lane is idle without pushes, failures and a pause`() {
        let idle = Self.facts(Self.backlog(0))
        #expect(idle.isIdle && idle.json(at: Self.now)["idle"] == true)
        #expect(!Self.facts(Self.backlog(1)).isIdle)
        #expect(!Self.facts(attempts: 1, Self.backlog(0)).isIdle, "it delivers")
        #expect(!Self.facts().isIdle, "the number of its pushes is not known")
        var facts = idle
        facts.counts.failures = ["Unregistered": 1]
        #expect(!facts.isIdle && facts.json(at: Self.now)["idle"] == false)
        facts = idle
        facts.counts.inFlight = 1
        #expect(!facts.isIdle)
        facts = idle
        facts.pause = LanePause(lane: Self.lane, since: 2, caller: "kim")
        #expect(!facts.isIdle)
    }

    @Test func `a push that waits for its time is not due`() {
        let later = Self.facts(Self.backlog(1, due: -5_000))
        #expect(later.oldestAge(at: Self.now) == nil && later.json(at: Self.now)["oldest-seconds"] == nil)
        #expect(Self.facts(Self.backlog(1, due: 5_900)).json(at: Self.now)["oldest-seconds"] == 5)
        let figure = Self.figures(later)["Oldest"]
        #expect(figure == StatusFigure(name: "Oldest", value: "–", note: "no push is due"))
    }

    @Test func `figures are summed over the lanes, with their tones`() {
        var first = Self.facts(attempts: 2_000, failures: 201, Self.backlog(8_000, due: 61_000, retrying: 1))
        first.counts.deliveredRate = 1_234.6
        let second = Self.facts(attempts: 9, failures: 0, Self.backlog(788, due: 3_000))
        let figures = Self.figures(first, second)
        #expect(figures["Waiting"]?.value == "8,788" && figures["Waiting"]?.note == "1 push being sent again")
        #expect(figures["Oldest"]?.value == "1 min" && figures["Oldest"]?.tone == .warning)
        #expect(figures["Delivered a second"]?.value == "1,235")
        #expect(figures["Failing"]?.value == "10 %" && figures["Failing"]?.tone == .warning)
        #expect(figures["Failing"]?.note == "201 of 2,009 attempts in the last minute")
        let json = figures["Failing"]?.json
        #expect(json?["name"] == "Failing" && json?["tone"] == "warning")
    }

    @Test func `figures of a lane that is down name the time of the outage`() {
        var facts = Self.facts(attempts: 1, failures: 1, Self.backlog(3, due: 300_000))
        facts.problem = LaneProblem(since: 1, reason: "ConnectionFailed", nextTry: nil)
        let figures = Self.figures(facts)
        #expect(figures["Failing"]?.note == "1 of 1 attempt in the last minute, or since the outage was noticed")
        #expect(figures["Failing"]?.value == "100 %" && figures["Failing"]?.tone == .bad)
        #expect(figures["Oldest"]?.tone == .bad && figures["Waiting"]?.note == "pushes stored and not in flight")
        facts.pause = LanePause(lane: Self.lane, since: 2, caller: "kim")
        let note = Self.figures(facts)["Failing"]?.note
        #expect(note == figures["Failing"]?.note, "a pause does not change the time since which attempts count")
    }

    @Test func `a figure states that attempts count since the last outage`() {
        var facts = Self.facts(attempts: 40, failures: 0, Self.backlog(0))
        facts.isCountedSinceOutage = true
        let figure = Self.figures(facts)["Failing"]
        #expect(figure?.note == "0 of 40 attempts in the last minute, or since the last outage ended")
    }

    @Test func `failures in development are no alarm beside production`() {
        let healthy = Self.facts(attempts: 1_000, Self.backlog(0))
        var failing = Self.facts(attempts: 38, failures: 38, Self.backlog(40))
        failing.lane = Lane(app: "orders", environment: .development)
        let figure = Self.figures(Self.facts(Self.backlog(0)), failing)["Failing"]
        #expect(figure?.value == "100 %" && figure?.tone == .warning)
        #expect(figure?.note == "38 of 38 attempts, all in development, in the last minute")
        #expect(Self.figures(healthy, failing)["Failing"]?.tone == .normal)
        #expect(Self.figures(failing)["Failing"]?.tone == .bad, "the relay has no other lanes")
        let both = Self.figures(Self.facts(attempts: 1, failures: 1, Self.backlog(0)), failing)["Failing"]
        #expect(both?.tone == .bad && both?.note == "39 of 39 attempts in the last minute")
    }

    @Test func `lanes with a problem come first, then the lanes of an app together`() {
        func lane(_ app: String, _ environment: PushEnvironment, _ state: LaneState) -> LaneFacts {
            var facts = LaneFacts(lane: Lane(app: app, environment: environment))
            facts.isStoring = state != .notStoring
            facts.counts.recentAttempts = state == .delivers ? 1 : 0
            return facts
        }
        let lanes = [
            lane("a", .development, .ready), lane("b", .development, .notStoring), lane("c", .production, .ready),
            lane("d", .production, .notStoring), lane("b", .production, .delivers),
        ]
        let facts = StatusFacts(now: Self.now, apps: ["a", "b", "c", "d"], lanes: lanes)
        let names = facts.lanesWorstFirst.map { "\($0.lane.app) \($0.lane.environment.rawValue)" }
        #expect(names == ["d production", "b development", "a development", "b production", "c production"])
    }

    @Test func `lanes are in the order of their problems`() {
        func lane(_ app: String, _ environment: PushEnvironment = .production, reason: String? = nil) -> LaneFacts {
            var facts = LaneFacts(lane: Lane(app: app, environment: environment))
            facts.problem = reason.map { LaneProblem(since: 1, reason: $0, nextTry: nil) }
            facts.counts.recentAttempts = 10
            return facts
        }
        var (paused, expiring, failing, idle) = (lane("b"), lane("c"), lane("d"), lane("e", reason: "ConnectionFailed"))
        paused.pause = LanePause(lane: paused.lane, since: 2, caller: "kim")
        expiring.expiry = LaneFacts.Expiry(since: 1, count: 3, rate: 1)
        failing.counts.recentFailures = 10
        idle.backlog = Backlog(lane: idle.lane, count: 0, oldest: nil)
        let lanes = [
            lane("a"), lane("b", .development), paused, expiring, failing, idle,
            lane("f", .development, reason: "ConnectionFailed"), lane("g", reason: "Other"),
            lane("h", reason: "ConnectionFailed"),
        ]
        let facts = StatusFacts(now: Self.now, apps: ["a", "b", "c", "d", "e", "f", "g", "h"], lanes: lanes)
        #expect(facts.lanesWorstFirst.map(\.lane.app) == ["h", "g", "e", "d", "c", "b", "f", "a", "b"])
        let severities = facts.lanesWorstFirst.compactMap(\.severity)
        #expect(severities == [.critical, .critical, .warning, .warning, .warning, .warning, .warning])
        #expect(StatusSummary(facts).incidents.first?.apps == ["f", "h"], "the worst lane has the worst problem")
    }

    @Test func `figures are unknown while the outbox cannot be read`() {
        let figures = Self.figures(Self.facts())
        #expect(figures["Waiting"]?.value == "unknown" && figures["Oldest"]?.value == "unknown")
        #expect(figures["Oldest"]?.note == "the stored pushes cannot be read")
        #expect(figures["Failing"]?.value == "–" && figures["Failing"]?.note == "no attempts in the last minute")
    }

    @Test func `rates and shares are readable at any size`() {
        let rates = [0, 0.04, 0.25, 9.94, 9.97, 1_234.6, -1]
        #expect(rates.map(StatusText.rate) == ["0", "0", "0.3", "9.9", "10", "1,235", "0"])
        #expect(StatusText.rate(.infinity).hasPrefix("1,000,000"))
        let shares = [0, 0.001, 0.5, 0.999, 1]
        #expect(shares.map(StatusText.percentage) == ["0 %", "<1 %", "50 %", ">99 %", "100 %"])
    }

    @Test func `pushes behind others are counted`() {
        var backlog = Self.backlog(1_634, due: -5_000, retrying: 705)
        backlog.blocked = 929
        let figures = Self.figures(Self.facts(backlog))
        #expect(figures["Waiting"]?.note == "705 pushes being sent again, 929 behind others")
        #expect(figures["Oldest"]?.note == "no push is due, 929 wait behind others")
        #expect(Self.facts(backlog).json(at: Self.now)["blocked"] == 929)
    }
}

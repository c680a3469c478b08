// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the texts about outages that are over, and about those whose end is not known.
@Suite struct OutageSummaryTests {
    @Test func `a lane without pushes is not tried and stays in its outage`() throws {
        var facts = StatusSummaryTests.threeLanes
        facts.lanes[0].problem = StatusSummaryTests.problem("InvalidProviderToken")
        facts.lanes[0].problem?.lastTry = StatusSummaryTests.now - StatusSummaryTests.minute
        facts.lanes[0].losses.expired = 2
        let summary = StatusSummary(facts)
        #expect(facts.lanes[0].state == .notTried && summary.incidents.count == 1)
        let incident = try #require(summary.incidents.first)
        #expect(incident.kind == .keyRefused && incident.severity == .warning && incident.lost == 2)
        #expect(summary.headline == "orders has not been tried since 12:40 UTC (1 min).")
        #expect(
            incident.text(at: facts.now).hasPrefix(
                "\(summary.headline) No push waits that could show whether Apple accepts pushes again. Since the outage"
                    + " began, 2 pushes have expired. Compare key-id"
            ),
            "\(incident.text(at: facts.now))"
        )
        facts.lanes[0].inFlight = 1
        #expect(facts.lanes[0].state == .down)
        facts.lanes[0].inFlight = 0
        facts.lanes[0].problem?.reason = "ServiceUnavailable"
        #expect(
            StatusSummary(facts).incidents.first?.action
                == "See https://developer.apple.com/system-status/. The next push shows whether that helped."
        )
    }

    @Test func `an outage that is over is reported for an hour`() throws {
        var facts = StatusSummaryTests.threeLanes
        let lane = facts.lanes[0].lane
        let end = StatusSummaryTests.now - 5 * StatusSummaryTests.minute
        facts.pastOutages = [
            StatusWatch.PastOutage(
                lane: nil,
                reason: "no room",
                start: end - 3_020_000,
                end: end - 3_000_000,
                notStored: 300
            ),
            StatusWatch.PastOutage(
                lane: lane,
                reason: "ConnectionFailed",
                start: end - 96_000,
                end: end,
                losses: LossCounts(expired: 40, abandoned: 5, refused: 300)
            ),
        ]
        let summary = StatusSummary(facts)
        #expect(summary.headline == "All 3 apps deliver. No push waits." && summary.incidents.count == 2)
        let incident = try #require(summary.incidents.first)
        #expect(incident.kind == .outageOver && incident.severity == .notice && incident.lost == 345)
        #expect(incident.apps == ["orders"] && incident.since == end)
        #expect(
            incident.text(at: StatusSummaryTests.now).hasPrefix(
                "The outage of orders is over since 12:36 UTC (5 min). It lasted 1 min 36 s; 40 pushes have"
                    + " expired, 5 pushes were abandoned, 300 pushes were refused. Send again what still matters; the"
                    + " status page lists expired pushes. (ConnectionFailed)"
            )
        )
        let storage = summary.incidents[1].text(at: StatusSummaryTests.now)
        #expect(storage.hasPrefix("The outage of the storage is over since 11:46 UTC (55 min)."), "\(storage)")
        #expect(
            storage.contains(
                "It lasted 20 s; 300 pushes were refused with 503, no accepted push was lost. Nothing to do if clients"
            ),
            "\(storage)"
        )
        facts.isDatabase = true
        let shared = StatusSummary(facts).incidents[1].effect
        #expect(shared.contains("300 pushes were refused with 503 by this relay, no accepted"), "\(shared)")
        #expect(incident.runbook == "MartletRelayLaneDown")
        #expect(summary.incidents[1].runbook == "MartletRelayCannotStore")
        facts.now = end + StatusSummary.pastTime
        #expect(StatusSummary(facts).incidents.isEmpty)
    }

    @Test func `the losses of a pause are reported until an hour after it`() throws {
        var facts = StatusSummaryTests.threeLanes
        let lane = facts.lanes[0].lane
        let since = StatusSummaryTests.now - 5 * StatusSummaryTests.minute
        facts.lanes[0].pause = LanePause(lane: lane, since: since, caller: "kim")
        facts.lanes[0].backlog?.count = 10
        facts.lanes[0].lossesInPause.expired = 5
        let paused = try #require(StatusSummary(facts).incidents.first)
        #expect(paused.lost == 5 && paused.effect == "10 pushes wait, 5 have expired since the pause.")
        facts.startedAt = since + 1
        let later = StatusSummary(facts).incidents.first?.effect
        #expect(later == "10 pushes wait, 5 have expired since the start of this relay.")
        facts.lanes[0].lossesInPause = LossCounts(abandoned: 1, refused: 2)
        let others = StatusSummary(facts).incidents.first?.effect
        #expect(others == "10 pushes wait, 1 was abandoned and 2 were refused since the start of this relay.")
        facts.lanes[0].pause = nil
        facts.pastOutages = [
            StatusWatch.PastOutage(
                lane: lane,
                reason: "kim",
                kind: .pause,
                start: since - 60_000,
                end: since,
                losses: LossCounts(expired: 5)
            )
        ]
        let over = try #require(StatusSummary(facts).incidents.first)
        #expect(over.kind == .outageOver && over.runbook == "MartletRelayLanePaused")
        #expect(
            over.text(at: StatusSummaryTests.now)
                == "The pause of orders is over since 12:36 UTC (5 min). It lasted 1 min; 5 pushes have expired."
                + " Send again what still matters; the status page lists expired pushes. (paused by kim)"
        )
    }

    @Test(arguments: [
        (false, 0, 0, "It lasted 20 s. Pushes that expired in that time are still being counted."),
        (false, 7, 0, "It lasted 20 s; 7 pushes were abandoned. Pushes that expired in that time are"),
        (true, 0, 0, "It lasted 20 s; no accepted push was lost."),
        (true, 0, 3, "It lasted 20 s. 3 pushes were lost at the same time because of another problem."),
        (true, 300, 0, "It lasted 20 s; 300 pushes were abandoned."),
    ])
    func `an outage is without loss only if all expiries are counted`(
        isCounted: Bool,
        lost: Int,
        elsewhere: Int,
        effect: String
    ) throws {
        var facts = StatusSummaryTests.threeLanes
        var outage = StatusWatch.PastOutage(
            reason: "no room",
            start: facts.now - 80_000,
            end: facts.now - 60_000,
            losses: LossCounts(abandoned: lost)
        )
        outage.lostElsewhere = elsewhere
        facts.pastOutages = [outage]
        facts.expiredUntil = isCounted ? outage.end : outage.end - 1
        let incident = try #require(StatusSummary(facts).incidents.first)
        #expect(incident.effect.hasPrefix(effect) && incident.lost == lost, "\(incident.effect)")
        let isNothingLost = isCounted && lost + elsewhere == 0
        #expect((incident.action == "Nothing to do.") == isNothingLost, "\(incident.action)")
        #expect(!incident.action.contains("expired"), "none of these has expired")
        facts.expiredUntil = .max
        facts.lanes[0].expiredInFlight = 1
        let open = try #require(StatusSummary(facts).incidents.first)
        #expect(!open.effect.contains("no accepted push"), "one is in flight")
    }

    @Test func `a lane whose pushes expire is a warning with rate and total`() throws {
        var facts = StatusSummaryTests.threeLanes
        facts.lanes[1].expiry = LaneFacts.Expiry(since: facts.now - 110_000, count: 261, rate: 2.37)
        facts.lanes[1].backlog = Backlog(lane: facts.lanes[1].lane, count: 541, oldest: nil, retrying: 541)
        facts.lanes[1].retryReason = "503 ServiceUnavailable"
        let summary = StatusSummary(facts)
        #expect(summary.incidents.map(\.kind) == [.pushesExpire, .retrying])
        let incident = try #require(summary.incidents.first)
        #expect(incident.severity == .warning && incident.lost == 261 && incident.apps == ["rides"])
        #expect(
            incident.text(at: facts.now) == "Accepted pushes of rides expire since 12:39 UTC (1 min). 261 pushes have"
                + " expired, 2.4 a second in the last minute. 541 pushes wait. Find out why pushes wait, and send again"
                + " what still matters. (503 ServiceUnavailable)"
        )
        #expect(incident.runbook == "MartletRelayPushesExpire" && incident.detail == "503 ServiceUnavailable")
        #expect(!summary.incidents.contains { $0.text(at: facts.now).contains("none is lost") })
        #expect(!summary.incidents[1].action.contains("Nothing to do"))
        facts.lanes[1].expiry = nil
        let end = facts.now - 60_000
        facts.pastOutages = [
            StatusWatch.PastOutage(
                lane: facts.lanes[1].lane,
                reason: "",
                kind: .expiry,
                start: end - 60_000,
                end: end,
                losses: LossCounts(expired: 261)
            )
        ]
        let over = try #require(StatusSummary(facts).incidents.first { $0.kind == .outageOver })
        #expect(
            over.text(at: facts.now).hasPrefix(
                "The expiry of pushes of rides is over since 12:40 UTC (1 min). It lasted 1 min; 261 pushes have"
            )
        )
        #expect(over.runbook == "MartletRelayPushesExpire" && over.detail == nil)
    }

    @Test func `an outage reports every push that was lost in its time`() {
        func effect(_ change: (inout StatusFacts) -> Void) -> String? {
            var facts = StatusSummaryTests.threeLanes
            facts.lanes[0].problem = StatusSummaryTests.problem("NoAnswer")
            facts.lanes[0].backlog?.count = 5
            change(&facts)
            return StatusSummary(facts).incidents.first { $0.kind == .appleSilent || $0.kind == .laneDown }?.effect
        }
        #expect(effect { _ in } == "5 pushes wait, none is lost.")
        #expect(
            effect { $0.lanes[0].expiredInFlight = 2 }
                == "5 pushes wait. 2 pushes in flight have expired, and Apple has not answered."
        )
        #expect(
            effect { $0.lanes[0].lostElsewhere = 1 }
                == "5 pushes wait. 1 push was lost at the same time because of another problem."
        )
        #expect(effect { $0.lanes[0].counts.inFlight = 3 } == "5 pushes wait or are in flight, none is lost.")
        #expect(effect { $0.commitSince = $0.now - 4_000 } == "5 pushes wait.", "none can expire")
    }

    @Test func `an outage of several lanes is reported once when it is over`() throws {
        var facts = StatusSummaryTests.threeLanes
        func outage(_ index: Int, _ reason: String, _ start: Int64, _ end: Int64) -> StatusWatch.PastOutage {
            StatusWatch.PastOutage(
                lane: facts.lanes[index].lane,
                reason: reason,
                start: StatusSummaryTests.now - start * 1_000,
                end: StatusSummaryTests.now - end * 1_000,
                losses: LossCounts(expired: 1)
            )
        }
        facts.pastOutages = [
            outage(2, "ConnectionFailed", 1_000, 900), outage(1, "ConnectionLost", 298, 203),
            outage(0, "ConnectionFailed", 300, 200), outage(2, "InvalidProviderToken", 290, 150),
        ]
        let incidents = StatusSummary(facts).incidents
        #expect(
            incidents.map(\.title) == [
                "The outage of orders and rides is over", "The outage of wallet is over",
                "The outage of wallet is over",
            ],
            "the greatest loss first, and then the latest one"
        )
        let apple = try #require(incidents.first)
        #expect(apple.since == StatusSummaryTests.now - 200_000 && apple.lost == 2)
        #expect(apple.apps == ["orders", "rides"])
        #expect(apple.effect == "It lasted 1 min 40 s; 2 pushes have expired.")
        #expect(apple.detail == "ConnectionFailed, ConnectionLost")
    }
}

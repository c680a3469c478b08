// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the order of the problems of a relay.
@Suite struct IncidentRankTests {
    private static func incident(
        _ severity: Incident.Severity,
        _ kind: Incident.Kind = .appleErrors,
        in environments: [String] = ["production"],
        waiting: Int? = 0,
        lost: Int? = 0
    ) -> Incident {
        var incident = Incident(kind: kind, severity: severity, title: "", action: "")
        incident.environments = environments
        incident.waiting = waiting
        incident.lost = lost
        return incident
    }

    /// Pairs of incidents, of which the first one is worse.
    private static let pairs: [(Incident, Incident)] = [
        (incident(.critical), incident(.warning, lost: 100)),
        (incident(.critical, .queueFull), incident(.critical, lost: 100)),
        (incident(.critical, .dataDamaged, lost: nil), incident(.critical, .diskFull)),
        (incident(.critical, in: ["development"], lost: 1), incident(.critical, waiting: 9)),
        (incident(.critical, lost: 1), incident(.critical, in: ["development"], lost: 9)),
        (incident(.critical, lost: 2), incident(.critical, waiting: 9, lost: 1)),
        (incident(.critical, .laneDown), incident(.critical, .appleUnreachable, in: ["development"], waiting: 9)),
        (incident(.critical, .laneDown, waiting: 2), incident(.critical, .appleUnreachable, waiting: 1)),
        (incident(.critical, .appleUnreachable), incident(.critical, .laneDown)),
        (incident(.warning, .paused, lost: 15), incident(.warning, in: ["development"], waiting: 40)),
        (incident(.warning, .draining), incident(.warning, .deadLetters, in: [], lost: 31)),
        (incident(.warning, .deadLetters, in: [], lost: 31), incident(.warning, .paused, lost: 1)),
        (incident(.warning, .webhookFailing, in: []), incident(.warning, .paused, in: ["development"])),
    ]

    @Test(arguments: pairs.indices)
    func `the worse problem comes first`(index: Int) {
        let (worse, better) = Self.pairs[index]
        #expect(worse.isWorse(than: better) && !better.isWorse(than: worse))
    }

    @Test(arguments: 0..<20)
    func `problems are ranked alike in whatever order they are found`(seed: Int) {
        var generator = SplitMix64(state: UInt64(seed))
        let incidents = (0..<12).map { index in
            Self.incident(
                Incident.Severity.allCases.randomElement(using: &generator) ?? .notice,
                Incident.Kind.allCases[index],
                in: Bool.random(using: &generator) ? ["production"] : ["development"],
                waiting: Int.random(in: 0...2, using: &generator),
                lost: Int.random(in: 0...2, using: &generator)
            )
        }
        let sorted = incidents.sorted { $0.isWorse(than: $1) }
        #expect(sorted == incidents.shuffled(using: &generator).sorted { $0.isWorse(than: $1) })
        for (first, second) in zip(sorted, sorted.dropFirst()) {
            #expect(first.severity <= second.severity)
            #expect(!second.isWorse(than: first))
        }
    }

    @Test func `losses in production come before an outage in development`() throws {
        var facts = StatusSummaryTests.threeLanes
        facts.lanes.append(StatusSummaryTests.lane("orders", .development))
        facts.lanes[3].problem = StatusSummaryTests.problem("ConnectionFailed")
        facts.lanes[3].backlog?.count = 40
        #expect(StatusSummary(facts).incidents.map(\.severity) == [.warning])
        facts.lanes[0].problem = StatusSummaryTests.problem("ServiceUnavailable")
        facts.lanes[0].backlog?.count = 4_202
        facts.lanes[0].losses.expired = 60
        let summary = StatusSummary(facts)
        #expect(summary.incidents.map(\.kind) == [.appleErrors, .appleUnreachable])
        #expect(summary.headline.hasPrefix("Apple answers with errors for orders (production) since"))
        #expect(summary.headline.hasSuffix(" 1 more problem."))
        facts.lanes[0].problem = nil
        facts.lanes[0].pause = LanePause(lane: facts.lanes[0].lane, since: StatusSummaryTests.now, caller: "kim")
        facts.lanes[0].lossesInPause.expired = 15
        #expect(StatusSummary(facts).incidents.map(\.kind) == [.paused, .appleUnreachable])
    }
}

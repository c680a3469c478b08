// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of the report about the process of a relay that ran before.
@Suite(.timeLimit(.minutes(10))) struct EarlierEndTests {
    private static let now = StatusSummaryTests.now

    private func incident(
        _ stored: Int64,
        possiblySent: Int?,
        minutes: Int64 = 1,
        isDurable: Bool = true
    ) -> Incident? {
        let start = Self.now - minutes * StatusSummaryTests.minute
        return EarlierEnd(stored: stored, possiblySent: possiblySent, startedAt: start, isDurable: isDurable)?
            .incident(["orders"], at: Self.now)
    }

    @Test func `an unclean end is a warning, and then a notice for an hour`() throws {
        let last = Self.now - 2 * StatusSummaryTests.minute
        let warning = try #require(incident(last, possiblySent: 12))
        #expect(
            warning.text(at: Self.now) == "This relay ended without a shutdown. It last ran at 12:39 UTC, and was"
                + " started again at 12:40 UTC, at most 1 min later. Accepted pushes were kept. Up to 12 pushes may"
                + " have been in flight, and may arrive twice. Find the cause in the log of the service and with dmesg."
        )
        #expect(warning.severity == .warning && warning.runbook == "MartletRelayRestarts")
        #expect(incident(last, possiblySent: 0)?.effect.hasSuffix("No push was in flight.") == true)
        #expect(incident(last, possiblySent: nil)?.effect.hasSuffix("in flight may arrive twice.") == true)
        let relaxed = incident(last, possiblySent: 0, isDurable: false)
        #expect(relaxed?.effect.contains("kept, unless the machine lost power. No push") == true)
        #expect(incident(last, possiblySent: 12, minutes: 10)?.severity == .notice)
        #expect(incident(last, possiblySent: 12, minutes: 60) == nil)
        #expect(incident(0, possiblySent: 0) == nil, "the first start")
    }

    @Test func `a shutdown is reported only if it leaves unanswered pushes`() throws {
        let stored = EarlierEnd.stored(at: Self.now - 120_000, isShutdown: true)
        #expect(incident(stored, possiblySent: 0) == nil)
        let notice = try #require(incident(stored, possiblySent: 1))
        #expect(notice.severity == .notice && notice.effect.contains("Up to 1 push may have been in flight"))
    }

    @Test func `a relay reports how the process before it ended`() async throws {
        let directory = try ScratchDirectory()
        let lines = LogLines()
        func kinds(_ bench: RelayBench) async -> [String] {
            let incidents = await bench.ask("GET", "/v1/status").json["incidents"]?.elements ?? []
            return incidents.compactMap { $0["kind"]?.stringValue }
        }
        for _ in 0..<2 {
            let bench = try await RelayBench(directory: directory, log: lines.logger(.warning))
            #expect(await !kinds(bench).contains("unclean-end"))
            await bench.stop()
        }
        let store = try await SQLiteOutbox(file: directory.path + "/relay.sqlite")
        try await store.records.setCursor(1_795_610_460_000, of: "running")
        await store.close(isInOrder: false)
        let bench = try await RelayBench(directory: directory, log: lines.logger(.warning))
        #expect(await kinds(bench).contains("unclean-end"))
        let line = lines.objects.first { $0["msg"] == "earlier process ended without shutdown" }
        #expect(line?["possibly-sent"] == 0 && line?["level"] == "warning", "\(lines.all)")
        let metrics = await bench.ask("GET", "/metrics").text
        #expect(metrics.contains("martlet_relay_ended_uncleanly 1\n"), "\(metrics)")
        #expect(metrics.contains("martlet_relay_fleet_missing_relays 0\n"), "\(metrics)")
        await bench.stop()
    }

    @Test func `pushes that expire while a relay is stopped are its losses`() {
        var watch = StatusWatch()
        let lane = Lane(app: "orders", environment: .production)
        watch.recordStop(from: 1_000, to: 41_000)
        var state = StatusWatch.State(lanes: [lane: StatusWatch.WatchedLane()])
        state.losses = [Loss(lane: lane, counts: LossCounts(expired: 12), from: 41_000, to: 41_700)]
        _ = watch.update(state, at: 42_000)
        var facts = StatusSummaryTests.threeLanes
        facts.now = 60_000
        facts.pastOutages = watch.pastOutages(of: ["orders"])
        let incident = StatusSummary(facts).incidents.first
        #expect(incident?.title == "This relay runs again" && incident?.lost == 12)
        #expect(incident?.effect == "It did not run for at most 40 s; 12 pushes have expired.")
    }
}

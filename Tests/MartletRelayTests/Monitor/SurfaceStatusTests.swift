// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the figure and the incident of surfaces.
@Suite struct SurfaceStatusTests {
    private static let now = StatusSummaryTests.now
    private static let minute = StatusSummaryTests.minute

    private static func times(_ values: [Int64], of surface: String = "order-7") -> SurfaceStaleness.Times {
        values.reduce(into: SurfaceStaleness.Times()) { $0.add($1, of: surface) }
    }

    private func facts(_ surfaces: SurfaceFacts...) -> StatusFacts {
        var facts = StatusSummaryTests.threeLanes
        facts.surfaces = surfaces
        return facts
    }

    @Test func `the figure of surfaces is shown when there are some`() throws {
        #expect(facts().surfaceFigure == nil && facts().figures.count == 4)
        let idle = try #require(facts(SurfaceFacts(app: "orders", count: 1)).surfaceFigure)
        #expect(idle.value == "–" && idle.note == "no update to Apple in 5 min; 1 surface" && idle.tone == .normal)
        let first = SurfaceFacts(app: "orders", count: 1_200, times: Self.times([40, 40, 40]))
        var second = SurfaceFacts(app: "rides", count: 4, times: Self.times([150_000]), problems: 2)
        second.spreading = SurfaceRunner.Spreading(count: 3, since: Self.now - Self.minute)
        let figures = facts(first, second).figures
        let figure = try #require(figures.last)
        #expect(figures.count == 5 && figure.name == "Staleness" && figure.value == "2 min", "\(figure)")
        let note = "updates to Apple: p95 of 5 min, p50 <0.1 s, maximum 2 min; 1,204 surfaces, 3 spreading, 2 problems"
        #expect(figure.note == note)
        #expect(figure.tone == .normal)
    }

    @Test func `surfaces that are late for minutes are a problem`() throws {
        let times = Self.times([300, 300, 90_000, 185_000])
        let late = SurfaceFacts(app: "orders", count: 4, times: times, lateSince: Self.now - 3 * Self.minute)
        let status = facts(SurfaceFacts(app: "rides", count: 4, times: times), late)
        #expect(status.surfaceFigure?.tone == .warning)
        let summary = StatusSummary(status)
        #expect(summary.headline == "Surfaces of orders are late since 12:38 UTC (3 min).")
        let incident = try #require(summary.incidents.first)
        #expect(summary.incidents.count == 1 && incident.kind == .surfacesLate && incident.severity == .warning)
        #expect(
            incident.effect
                == "2 of 4 pushes to phones in the last 5 min reached Apple more than 1 min after the change; the"
                + " longest took 3 min 5 s (order-7)."
        )
        #expect(incident.action.hasPrefix("Find out why pushes wait; check the load of the disk,"))
        #expect(incident.json(at: status.now)["kind"] == "surfaces-late")
    }

    @Test func `broadcasts that Apple refuses are a problem with their surfaces`() throws {
        var refused = RefusedBroadcasts()
        for (number, reason) in [APNsReason.badExpirationDate, .channelNotRegistered].enumerated() {
            let time = Self.now - Int64(5 - number) * Self.minute
            refused.add(reason, of: Self.stored(Int64(number), in: "orders"), at: time)
        }
        refused.add(nil, of: Self.stored(8, in: "rides"), at: Self.now)
        let ofOrders = refused.recent(of: "orders", at: Self.now)
        let surfaces = SurfaceFacts(app: "orders", count: 2, refusedBroadcasts: ofOrders)
        let incident = try #require(StatusSummary(facts(surfaces)).incidents.first)
        #expect(incident.kind == .broadcastsRefused && incident.severity == .warning && incident.apps == ["orders"])
        #expect(incident.since == Self.now - 5 * Self.minute)
        #expect(
            incident.effect
                == "The phones on the channel of order-0 (BadExpirationDate) and order-1 (ChannelNotRegistered) show an"
                + " earlier state."
        )
        #expect(
            incident.action
                == "Correct the cause for order-0: store the surface with message-storage-policy 0, with which its"
                + " channel was created, or with a channel that was created with 1."
        )
    }

    @Test func `a refused broadcast counts until one is accepted, or for two hours`() {
        var refused = RefusedBroadcasts()
        let stored = Self.stored(7, in: "orders")
        refused.add(.badExpirationDate, of: stored, at: 1_000)
        refused.add(.channelNotRegistered, of: stored, at: 5_000)
        let last = refused.recent(of: "orders", at: 5_000)
        #expect(last.map(\.reason) == [.channelNotRegistered] && last.map(\.since) == [1_000])
        #expect(refused.recent(of: "orders", at: 7_204_999).count == 1)
        #expect(refused.recent(of: "orders", at: 7_205_000).isEmpty)
        refused.remove(stored)
        #expect(refused.recent(of: "orders", at: 5_000).isEmpty)
        for isWithdrawn in [false, true] {
            refused.add(.channelNotRegistered, of: stored, at: 5_000)
            refused.update(stored)
            #expect(refused.recent(of: "orders", at: 5_000).count == 1)
            var changed = stored
            if isWithdrawn { changed.withdrawnAt = 6_000 } else { changed.surface.channel = "b3RoZXI=" }
            refused.update(changed)
            #expect(refused.recent(of: "orders", at: 5_000).isEmpty)
        }
        for number: Int64 in 0..<200 { refused.add(nil, of: Self.stored(number, in: "orders"), at: 5_000) }
        #expect(refused.recent(of: "orders", at: 5_000).count == 100)
    }

    private static func stored(_ number: Int64, in app: String) -> StoredSurface {
        let surface = MartletOutbox.Surface(
            app: app,
            id: "order-\(number)",
            caller: "shop",
            audience: .users(["anna"]),
            request: [],
            fingerprint: []
        )
        return StoredSurface(number: number, revision: 1, surface: surface, createdAt: 0, changedAt: 0)
    }

    @Test func `a change that spreads for ten minutes is a problem`() throws {
        var surfaces = SurfaceFacts(app: "orders", count: 4)
        surfaces.spreading = SurfaceRunner.Spreading(count: 1, since: Self.now - 9 * Self.minute)
        #expect(StatusSummary(facts(surfaces)).incidents.isEmpty)
        surfaces.spreading = SurfaceRunner.Spreading(count: 2, since: Self.now - 12 * Self.minute)
        let incident = try #require(StatusSummary(facts(surfaces)).incidents.first)
        #expect(incident.kind == .surfacesLate && incident.since == Self.now - 12 * Self.minute)
        #expect(incident.effect == "2 changes have not reached the whole audience, the oldest for 12 min.")
    }
}

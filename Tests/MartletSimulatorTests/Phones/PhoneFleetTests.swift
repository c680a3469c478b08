// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@testable import MartletSimulator

/// Simulated phones with their users, without a simulator.
@Suite struct PhoneFleetTests {
    private static let app = SimulatedPhone.App(topic: "com.example.app")
    private let start: Int64 = 1_790_000_000_000

    private func fleet(_ count: Int, _ behavior: SimulatedPhone.Behavior = .reliable, seed: UInt64 = 7) -> PhoneFleet {
        let phones = SimulatedAPNs.Phones(count: count, app: Self.app, behavior: behavior)
        return PhoneFleet(phones, seed: seed, at: start)
    }

    /// Returns the phones after some hours, in which each change happens at its time.
    private func fleet(after hours: Int64, seed: UInt64) -> PhoneFleet {
        var fleet = fleet(20, SimulatedPhone.Behavior(), seed: seed)
        let end = start + hours * 3_600_000
        while fleet.nextTime <= end { fleet.advance(to: fleet.nextTime) }
        return fleet
    }

    @Test func `a seed determines the reports of all phones`() {
        let reports = fleet(after: 3, seed: 7).reports
        #expect(reports == fleet(after: 3, seed: 7).reports)
        #expect(reports != fleet(after: 3, seed: 8).reports)
        #expect(Set(reports.map(\.phone)) == Set(1...20))
        #expect(reports.map(\.number) == Array(1...reports.count))
        #expect(reports.map(\.time) == reports.map(\.time).sorted())
        let tokens = reports.compactMap { $0.change["tokens"]?["device"]?.stringValue }
        #expect(tokens.count > 20, "the apps are opened again")
    }

    @Test func `phones install the app one after the other`() {
        var fleet = fleet(3)
        fleet.advance(to: start)
        #expect(Set(fleet.reports.map(\.phone)) == [1])
        fleet.advance(to: start + 1_000)
        #expect(Set(fleet.reports.map(\.phone)) == [1, 2, 3])
    }

    @Test func `reports are read after a number`() {
        var fleet = fleet(1)
        #expect(fleet.lastReport == 0 && fleet.reports(after: 0).isEmpty)
        fleet.advance(to: start)
        let last = fleet.lastReport
        #expect(last > 1)
        #expect(fleet.reports(after: 0).map(\.number) == Array(1...last))
        #expect(fleet.reports(after: 1).first?.number == 2)
        #expect(fleet.reports(after: last).isEmpty && fleet.reports(after: .max).isEmpty)
    }

    @Test func `only tokens that a phone has reported are those of phones`() throws {
        var fleet = fleet(2)
        fleet.advance(to: start)
        let tokens = fleet.reports.compactMap { $0.change["tokens"]?["device"]?.stringValue }
        let token = try #require(tokens.first)
        #expect(fleet.answer(to: token.uppercased(), topic: "com.example.app") == .accepted)
        #expect(fleet.answer(to: token, topic: "com.example.other") == .refused(.deviceTokenNotForTopic))
        #expect(fleet.answer(to: "5d3a", topic: "com.example.app") == nil)
    }

    @Test func `a dismissed card should stay away until its surface ends`() throws {
        let date = Date(millisecondsSince1970: start)
        let phone = SimulatedPhone(app: Self.app, behavior: .reliable, seed: 7, at: date)
        var used = FleetPhone(phone, PhoneUser(seed: 7, firstUse: .max))
        let content: JSONValue = ["n": 1]
        used.expect("order-1", content, at: start)
        for event: SimulatedPhone.Event in [.install, .launch, .start(surface: "order-1", content: content)] {
            used.handle(event, at: start)
        }
        #expect(used.phone.account.staleSurfaces == 0)
        let card = try #require(used.phone.cards.first)
        used.handle(.swipe(card.id), at: start + 1_000)
        used.expect("order-1", ["n": 2], at: start + 2_000)
        used.advance(to: start + 60_000)
        #expect(used.phone.account.staleSurfaces == 0 && used.phone.account.longestStaleness == .zero)
        used.handle(.start(surface: "order-1", content: content), at: start + 60_000)
        #expect(used.phone.account.strandedCards == 1)
        used.handle(.end(surface: "order-1"), at: start + 60_000)
        used.expect("order-1", nil, at: start + 60_000)
        used.expect("order-1", content, at: start + 60_000)
        used.advance(to: start + 70_000)
        #expect(used.phone.account.staleSurfaces == 1 && used.phone.account.longestStaleness == .seconds(10))
    }

    @Test func `the summary has sums, longest durations and percentiles`() {
        var fleet = fleet(20)
        fleet.advance(to: start + 1_000)
        fleet.expect("order-1", ["n": 1], on: [3], at: start + 1_000)
        fleet.expect("order-2", ["n": 1], on: nil, at: start + 2_000)
        fleet.advance(to: start + 3_000, isComplete: true)
        let summary = PhoneSummary(fleet)
        #expect(summary.count == 20 && summary.account.staleSurfaces == 21)
        #expect(summary.account.longestStaleness == .seconds(2))
        #expect(summary.staleness(percentile: 50) == .seconds(1))
        #expect(summary.staleness(percentile: 95) == .seconds(1))
        #expect(summary.staleness(percentile: 100) == .seconds(2))
        #expect(summary.json["staleness"] == ["median": 1, "percentile-95": 1, "longest": 2])
    }
}

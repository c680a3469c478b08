// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@testable import MartletSimulator

/// Simulated phones with their users, without a simulator.
@Suite struct PhonePopulationTests {
    private static let app = SimulatedPhone.App(topic: "com.example.app")
    private let start: Int64 = 1_790_000_000_000

    private func population(
        _ count: Int,
        _ behavior: SimulatedPhone.Behavior = .reliable,
        seed: UInt64 = 7
    ) -> PhonePopulation {
        let phones = SimulatedAPNs.Phones(count: count, app: Self.app, behavior: behavior)
        return PhonePopulation(phones, seed: seed, at: start)
    }

    /// Returns the phones after some hours, in which each change happens at its time.
    private func population(after hours: Int64, seed: UInt64) -> PhonePopulation {
        var population = population(20, SimulatedPhone.Behavior(), seed: seed)
        let end = start + hours * 3_600_000
        while population.nextTime <= end { population.advance(to: population.nextTime) }
        return population
    }

    @Test func `a seed determines the reports of all phones`() {
        let reports = population(after: 3, seed: 7).reports
        #expect(reports == population(after: 3, seed: 7).reports)
        #expect(reports != population(after: 3, seed: 8).reports)
        #expect(Set(reports.map(\.phone)) == Set(1...20))
        #expect(reports.map(\.number) == Array(1...reports.count))
        #expect(reports.map(\.time) == reports.map(\.time).sorted())
        let tokens = reports.compactMap { $0.change["tokens"]?["device"]?.stringValue }
        #expect(tokens.count > 20, "the apps are opened again")
    }

    @Test func `phones install the app one after the other`() {
        var population = population(3)
        population.advance(to: start)
        #expect(Set(population.reports.map(\.phone)) == [1])
        population.advance(to: start + 1_000)
        #expect(Set(population.reports.map(\.phone)) == [1, 2, 3])
    }

    @Test func `phones do not make up for the time of a suspended machine`() {
        var population = population(1)
        population.advance(to: start)
        let first = population.lastReport
        let end = start + 30 * 86_400_000
        population.advance(to: end)
        #expect(population.nextTime > end)
        #expect(population.lastReport - first < 1_000, "a month has thousands of uses")
    }

    @Test func `reports are read after a number`() {
        var population = population(1)
        #expect(population.lastReport == 0 && population.reports(after: 0).isEmpty)
        population.advance(to: start)
        let last = population.lastReport
        #expect(last > 1)
        #expect(population.reports(after: 0).map(\.number) == Array(1...last))
        #expect(population.reports(after: 1).first?.number == 2)
        #expect(population.reports(after: last).isEmpty && population.reports(after: .max).isEmpty)
    }

    @Test func `only tokens that a phone has reported are those of phones`() throws {
        var population = population(2)
        population.advance(to: start)
        let tokens = population.reports.compactMap { $0.change["tokens"]?["device"]?.stringValue }
        let token = try #require(tokens.first)
        #expect(population.answer(to: token.uppercased(), topic: "com.example.app") == .accepted)
        #expect(population.answer(to: token, topic: "com.example.other") == .refused(.deviceTokenNotForTopic))
        #expect(population.answer(to: "5d3a", topic: "com.example.app") == nil)
    }

    @Test func `apps report the system and tokens of widgets and controls`() throws {
        let app = SimulatedPhone.App(topic: "com.example.app", widgets: ["orders"], controls: ["pause"])
        let phones = SimulatedAPNs.Phones(count: 1, app: app, behavior: .reliable)
        var population = PhonePopulation(phones, seed: 7, at: start)
        population.advance(to: start)
        let changes = population.reports.map(\.change)
        #expect(changes.contains(["system-version": "26.1"]), "\(changes)")
        let tokens = changes.compactMap { $0["tokens"] }
        let widgets = tokens.compactMap { $0["widgets"]?.stringValue }
        let controls = tokens.compactMap { $0["controls"]?["pause"]?.stringValue }
        #expect(widgets.count == 1 && controls.count == 1)
        for hex in widgets + controls {
            let token = try DeviceToken(hex: hex)
            #expect(population.phone(of: token) == 1)
        }
    }

    @Test func `a phone that is set offline stays unreachable`() {
        var population = population(1)
        population.advance(to: start)
        population.fix([.online: false], ofPhone: 1, at: start + 1_000)
        population.expect("order-1", ["n": 1], on: nil, at: start + 2_000)
        let end = start + 6 * 3_600_000
        var isAlwaysOffline = true
        while population.nextTime <= end {
            population.advance(to: population.nextTime)
            isAlwaysOffline = isAlwaysOffline && !population.phones[0].phone.isOnline
        }
        population.advance(to: end, isComplete: true)
        #expect(isAlwaysOffline)
        let account = population.phones[0].phone.account
        #expect(account.longestReachableStaleness == .zero)
        #expect(account.longestStaleness == .milliseconds(end - start - 2_000))
        population.fix([.online: nil], ofPhone: 1, at: end)
        while population.nextTime <= end + PhoneUser.longestPause, !population.phones[0].phone.isOnline {
            population.advance(to: population.nextTime)
        }
        #expect(population.phones[0].phone.isOnline, "the user decides again")
    }

    @Test func `users leave fixed settings as they are`() {
        var population = population(20, SimulatedPhone.Behavior())
        for number in 1...20 {
            population.fix([.online: true, .liveActivities: false], ofPhone: number, at: start)
        }
        let end = start + 3 * 3_600_000
        var deviations = 0
        while population.nextTime <= end {
            population.advance(to: population.nextTime)
            deviations += population.phones.count { !$0.phone.isOnline || $0.phone.permissions.liveActivities }
        }
        #expect(deviations == 0)
    }

    @Test func `a dismissed card should stay away until its surface ends`() throws {
        let date = Date(millisecondsSince1970: start)
        let phone = SimulatedPhone(app: Self.app, behavior: .reliable, seed: 7, at: date)
        var used = PhoneWithUser(phone, PhoneUser(seed: 7, firstUse: .max))
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

    @Test func `content of a limited number of surfaces is stated`() {
        var population = population(2)
        for number in 0..<PhonePopulation.surfaceLimit {
            population.expect("order-\(number)", ["n": 1], on: [1], at: start)
        }
        let isFirstStated = population.expect("other", ["n": 1], on: nil, at: start)
        #expect(!isFirstStated)
        let isKnownStated = population.expect("order-0", ["n": 2], on: nil, at: start)
        #expect(isKnownStated, "it is stated already")
        population.expect("order-0", nil, on: [1], at: start)
        let isOtherStated = population.expect("other", ["n": 1], on: nil, at: start)
        #expect(!isOtherStated, "the other phone should show it")
        population.expect("order-0", nil, on: nil, at: start)
        let hasRoom = population.expect("other", ["n": 1], on: nil, at: start)
        #expect(hasRoom)
    }

    @Test func `the summary has sums, longest durations and percentiles`() {
        var population = population(20)
        population.advance(to: start + 1_000)
        population.expect("order-1", ["n": 1], on: [3], at: start + 1_000)
        population.expect("order-2", ["n": 1], on: nil, at: start + 2_000)
        population.advance(to: start + 3_000, isComplete: true)
        let summary = PhoneSummary(population)
        #expect(summary.count == 20 && summary.account.staleSurfaces == 21)
        #expect(summary.account.longestStaleness == .seconds(2))
        #expect(summary.staleness(percentile: 50) == .seconds(1))
        #expect(summary.staleness(percentile: 95) == .seconds(1))
        #expect(summary.staleness(percentile: 100) == .seconds(2))
        #expect(summary.json["staleness"] == ["median": 1, "percentile-95": 1, "longest": 2])
    }
}

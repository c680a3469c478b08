// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// A simulated phone, to which the relay brings a surface.
@Suite(.timeLimit(.minutes(10))) struct SurfacePhoneTests {
    /// A phone whose app reports to the relay, and which gets the pushes that Apple has received.
    private struct World {
        private static let app = SimulatedPhone.App(topic: "com.example.orders")

        var bench: SurfaceBench
        var phone = SimulatedPhone(
            app: World.app,
            behavior: .reliable,
            seed: 7,
            at: Date()
        )
        private let secret: String
        /// The number of pushes that were delivered.
        private var delivered = 0

        init() async throws {
            bench = try await SurfaceBench()
            secret = try await bench.phones.enroll("anna", #","system-version":"26.1""#).secret
            for event: SimulatedPhone.Event in [.install, .launch, .leave] { phone.handle(event, at: Date()) }
            try await sendReports()
        }

        /// The headlines of the cards on the screen.
        var headlines: [String] { phone.cards.compactMap { $0.content["headline"]?.stringValue } }

        /// The titles of the notifications on the screen.
        var notifications: [String] { phone.notifications.compactMap { $0["aps"]?["alert"]?["title"]?.stringValue } }

        mutating func handle(_ event: SimulatedPhone.Event) async throws {
            phone.handle(event, at: Date())
            try await sendReports()
        }

        /// Delivers the pushes that Apple has received since the last call, and sends the reports of the app.
        mutating func deliver() async throws {
            let pushes = await bench.relay.apple.pushes
            for push in pushes.dropFirst(delivered) {
                if let token = push.token {
                    phone.receive(push.payload, headers: push.headers, to: token, at: Date())
                } else if let channel = push.channel {
                    phone.receive(push.payload, headers: push.headers, on: channel, at: Date())
                }
            }
            delivered = pushes.count
            try await sendReports()
        }

        private mutating func sendReports() async throws {
            for report in phone.takeReports() {
                let text = String(decoding: report.content.change(of: World.app).encoded(), as: UTF8.self)
                let answer = await bench.phones.phone("PATCH", text, with: secret)
                #expect(answer.status == 200, "\(answer.text)")
            }
        }

        /// Changes the audience and the priority of a surface, and waits until the relay has considered the phone.
        mutating func touch(_ title: String, on channel: SurfaceChannel? = nil) async throws {
            let path = "/v1/apps/orders/surfaces/\(SurfaceBench.surface)/installations"
            let before = await bench.relay.ask("GET", path).json["revision"]?.integerValue ?? 0
            try await bench.put(title, for: .users(["anna", "bert"]), on: channel, isUrgent: false)
            try await eventually("the phone is right") {
                try await deliver()
                let answer = await bench.relay.ask("GET", path).json
                let account = answer["installations"]?.elements?.first?["kinds"]?["liveActivity"]
                let isRight = account?["state"] == "current" || account?["state"] == "broadcast"
                return isRight && account?["assumed-revision"]?.integerValue == before + 1
                    && answer["spreading"] == false
            }
        }

        /// Delivers pushes until the cards on the screen have these headlines.
        mutating func expect(_ expected: [String]) async throws {
            try await eventually("the phone shows \(expected)") {
                try await deliver()
                return headlines == expected
            }
        }
    }

    @Test func `a phone shows one card in each state of a surface`() async throws {
        var world = try await World()
        try await world.bench.put("Packed")
        try await world.expect(["Packed"])
        try await world.bench.put("On its way")
        try await world.expect(["On its way"])
        try await world.touch("On its way")
        try await world.bench.restart()
        try await world.bench.put("At the door")
        try await world.expect(["At the door"])
        try await world.bench.withdraw()
        try await world.expect([])
        let account = world.phone.account
        #expect(account.cardsStarted == 1 && account.duplicates == 0 && account.wasted == 0, "\(account)")
        #expect(account.refused == 0 && account.toInvalidTokens == 0 && account.pushes == 4, "\(account)")
        await world.bench.stop()
    }

    @Test func `a phone on a channel shows each state, and gets no push but the start`() async throws {
        var world = try await World()
        let channel = try await world.bench.createChannel()
        try await world.bench.put("Packed", on: channel)
        try await world.expect(["Packed"])
        for title in ["On its way", "At the door"] {
            try await world.bench.put(title, on: channel)
            try await world.expect([title])
            try await world.touch(title, on: channel)
        }
        // The phone misses a broadcast, which the channel does not store, and shows the next one.
        try await world.handle(.setOnline(false))
        try await world.bench.put("Delayed", on: channel)
        try await eventually("the broadcast is sent") {
            guard await world.bench.received(on: channel).last == "update Delayed" else { return false }
            try await world.deliver()
            return true
        }
        try await world.handle(.setOnline(true))
        #expect(world.headlines == ["At the door"])
        try await world.bench.put("Here", on: channel)
        try await world.expect(["Here"])
        try await world.bench.withdraw()
        try await world.expect([])
        let account = world.phone.account
        #expect(account.cardsStarted == 1 && account.duplicates == 0 && account.wasted == 0, "\(account)")
        #expect(await world.bench.relay.apple.pushes.count { $0.token != nil } == 1)
        await world.bench.stop()
    }

    @Test func `a user who turns Live Activities off gets notifications`() async throws {
        var world = try await World()
        try await world.bench.put("Packed")
        try await world.expect(["Packed"])
        try await world.handle(.setPermissions(SimulatedPhone.Permissions(liveActivities: false)))
        // The app learns of it when it runs.
        for event: SimulatedPhone.Event in [.launch, .leave] { try await world.handle(event) }
        try await world.expect([])
        try await world.bench.put("On its way")
        try await eventually("the phone shows a notification") {
            try await world.deliver()
            return world.notifications.contains("On its way")
        }
        #expect(world.headlines.isEmpty && world.phone.account.cardsStarted == 1, "\(world.phone.account)")
        await world.bench.stop()
    }
}

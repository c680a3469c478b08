// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletSimulator
import Testing

/// The answers of APNs to pushes to a simulated phone, and their storage while it is offline.
@Suite struct PhoneDeliveryTests {
    private func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970) }

    @Test func `a token of another phone is refused`() throws {
        var bench = PhoneBench()
        let token = try DeviceToken(hex: "00ff00ff")
        #expect(bench.send([:], to: token) == .refused(.badDeviceToken))
        #expect(bench.phone.account.refused == 1 && bench.phone.account.pushes == 1)
    }

    @Test func `a push for another topic is refused`() {
        var bench = PhoneBench()
        #expect(bench.send([:], to: bench.deviceToken) == .refused(.deviceTokenNotForTopic))
        let answer = bench.send([:], to: bench.startToken, topic: "com.example.other")
        #expect(answer == .refused(.deviceTokenNotForTopic) && answer.status == 400)
    }

    @Test func `an offline phone gets the newest push of each token`() {
        var bench = PhoneBench()
        bench.start()
        bench.handle(.setOnline(false))
        for number in 2...4 { bench.update(["n": .number(JSONNumber(number))]) }
        #expect(bench.contents == [["n": 1]])
        #expect(bench.phone.account.waiting == 1 && bench.phone.account.lost == 2)
        bench.handle(.setOnline(true))
        #expect(bench.contents == [["n": 4]] && bench.phone.account.waiting == 0)
    }

    @Test(arguments: [(false, ["order-2"]), (true, ["order-1", "order-2"])])
    func `collapse identifiers can separate stored starts`(storesByCollapseID: Bool, surfaces: [String]) {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.limits.storesByCollapseID = storesByCollapseID
        var bench = PhoneBench(behavior)
        bench.handle(.setOnline(false))
        bench.start("order-1", collapseID: "order-1")
        bench.start("order-2", collapseID: "order-2")
        bench.handle(.setOnline(true))
        #expect(bench.phone.cards.map(\.surface) == surfaces)
    }

    @Test func `a stored push expires`() {
        var bench = PhoneBench()
        bench.handle(.setOnline(false))
        bench.start(expiration: 0)
        #expect(bench.phone.account.lost == 1)
        bench.start(expiration: seconds(bench.now) + 600)
        #expect(bench.phone.account.waiting == 1)
        bench.wait(601)
        #expect(bench.phone.account.waiting == 0 && bench.phone.account.lost == 2)
        bench.handle(.setOnline(true))
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `a stored push to a token that has ended is dropped`() throws {
        var bench = PhoneBench()
        bench.start()
        bench.handle(.setOnline(false))
        bench.update(["n": 2])
        let card = try #require(bench.phone.cards.first)
        bench.handle(.swipe(card.id))
        bench.handle(.setOnline(true))
        #expect(bench.dropped(.tokenEnded) == 1)
    }

    @Test func `APNs can accept pushes to a token that has ended`() throws {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.tokens.refusalOfInvalid = 0
        var bench = PhoneBench(behavior)
        bench.start()
        let token = try #require(bench.updateToken)
        let card = try #require(bench.phone.cards.first)
        bench.handle(.swipe(card.id))
        #expect(bench.send(["event": "update"], to: token) == .accepted)
        #expect(bench.phone.account.toInvalidTokens == 1)
    }

    @Test func `the tokens of a deleted app are unregistered`() throws {
        var bench = PhoneBench()
        let start = try #require(bench.startToken)
        let device = try #require(bench.deviceToken)
        bench.wait(10)
        let end = bench.now
        bench.handle(.delete)
        bench.wait(10)
        #expect(bench.send([:], to: start) == .unregistered(since: end))
        #expect(bench.send([:], to: device, type: .alert) == .unregistered(since: end))
        bench.handle(.install)
        bench.handle(.launch)
        #expect(bench.startToken != start)
        #expect(bench.start() == .accepted)
        #expect(bench.phone.cards.count == 1)
    }

    @Test func `an alert is shown in place of one with its identifier`() {
        var bench = PhoneBench()
        for title: JSONValue in ["First", "Second"] {
            bench.send(["alert": ["title": title]], to: bench.deviceToken, type: .alert, collapseID: "order-1")
        }
        #expect(bench.phone.notifications == [["aps": ["alert": ["title": "Second"]]]])
        bench.handle(.setPermissions(SimulatedPhone.Permissions(alerts: false)))
        bench.send(["alert": "Third"], to: bench.deviceToken, type: .alert)
        #expect(bench.phone.notifications.count == 1 && bench.dropped(.notAllowed) == 1)
    }

    @Test func `a background push wakes the app within its budget`() {
        var bench = PhoneBench()
        bench.handle(.terminate)
        for _ in 1...4 {
            bench.send(["content-available": 1], to: bench.deviceToken, type: .background, priority: 5)
        }
        #expect(bench.phone.account.effective == 3 && bench.dropped(.budget) == 1)
        #expect(bench.phone.appState == .suspended)
        bench.handle(.forceQuit)
        bench.wait(3_600)
        bench.send(["content-available": 1], to: bench.deviceToken, type: .background, priority: 5)
        #expect(bench.dropped(.notWoken) == 1 && bench.phone.appState == .forceQuit)
    }

    @Test func `widgets and controls are reloaded`() throws {
        var bench = PhoneBench(widgets: ["orders"], controls: ["pause"])
        var widget: DeviceToken?
        var control: DeviceToken?
        for report in bench.reports {
            if case .widgetToken(let token, let kinds) = report.content, kinds == ["orders"] { widget = token }
            if case .controlTokens(let controls) = report.content { control = controls.first?.token }
        }
        let changed: JSONValue = ["content-changed": true]
        bench.send(changed, to: widget, type: .widgets)
        bench.send(changed, to: widget, type: .widgets)
        bench.send(changed, to: control, type: .controls)
        bench.send(changed, to: control, type: .controls)
        #expect(bench.phone.account.widgetReloads == 1 && bench.dropped(.budget) == 1)
        #expect(bench.phone.account.controlReloads == 2)
        bench.wait(300)
        bench.send(changed, to: widget, type: .widgets)
        #expect(bench.phone.account.widgetReloads == 2)
    }

    @Test func `a broadcast reaches the activities on its channel`() {
        var bench = PhoneBench()
        bench.start("order-1", channel: "Y2hhbm5lbA==")
        bench.start("order-2")
        bench.wait(60)
        #expect(bench.activities.map { $0.token == nil } == [true, false])
        bench.broadcast(["n": 2], on: "Y2hhbm5lbA==")
        bench.broadcast(["n": 3], on: "b3RoZXI=")
        bench.wait(60)
        #expect(bench.contents == [["n": 2], ["n": 1]])
        #expect(bench.phone.account.effective == 3 && bench.phone.account.pushes == 3)
        bench.broadcast(nil, on: "Y2hhbm5lbA==")
        #expect(bench.phone.cards.map(\.surface) == ["order-2"])
    }

    @Test func `an activity that joins a channel gets the stored broadcast if that is newer`() {
        var bench = PhoneBench()
        bench.broadcast(["n": 1], on: "b2xk", expiration: seconds(bench.now) + 600)
        bench.start("order-1", ["n": 2], channel: "b2xk")
        bench.handle(.setOnline(false))
        bench.start("order-2", ["n": 3], channel: "bmV3")
        bench.broadcast(["n": 4], on: "bmV3", expiration: seconds(bench.now) + 600)
        bench.broadcast(["n": 5], on: "bmV3")
        #expect(bench.phone.account.pushes == 2)
        bench.handle(.setOnline(true))
        bench.wait(60)
        #expect(bench.contents == [["n": 2], ["n": 4]])
        #expect(bench.phone.account.effective == 3 && bench.phone.account.pushes == 3)
    }

    @Test func `an offline phone gets a broadcast that is stored`() {
        var bench = PhoneBench()
        bench.start(channel: "Y2hhbm5lbA==")
        bench.handle(.setOnline(false))
        bench.broadcast(["n": 2], on: "Y2hhbm5lbA==")
        #expect(bench.phone.account.lost == 1)
        bench.broadcast(["n": 3], on: "Y2hhbm5lbA==", expiration: seconds(bench.now) + 600)
        bench.broadcast(["n": 4], on: "Y2hhbm5lbA==")
        bench.handle(.setOnline(true))
        bench.wait(60)
        #expect(bench.contents == [["n": 3]])
    }
}

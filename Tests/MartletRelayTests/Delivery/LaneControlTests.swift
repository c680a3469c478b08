// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

@testable import MartletRelay

/// The decisions of a relay about the list of paused lanes.
@Suite struct LaneControlTests {
    private static let orders = LanePause(
        lane: Lane(app: "orders", environment: .production),
        since: 1,
        caller: "operator"
    )
    private static let rides = LanePause(lane: Lane(app: "rides", environment: .production), since: 2, caller: "b")

    @Test func `differences are reported once`() {
        var control = LaneControl()
        #expect(!control.isKnown)
        #expect(
            control.update([Self.rides, Self.orders], requestedAfter: 0) == [.paused(Self.orders), .paused(Self.rides)]
        )
        #expect(control.isKnown && control.lanes == [Self.orders.lane, Self.rides.lane])
        #expect(control.update([Self.orders, Self.rides], requestedAfter: 0) == [])
        #expect(control.update([Self.rides], requestedAfter: 0) == [.resumed(Self.orders.lane)])
        #expect(control.pause(of: Self.orders.lane) == nil && control.pause(of: Self.rides.lane) == Self.rides)
    }

    @Test func `a list that was requested before a change is ignored`() {
        var control = LaneControl()
        let request = control.changes
        control.recordChange()
        #expect(control.update([], requestedAfter: request) == nil && !control.isKnown)
        #expect(control.update([Self.orders], requestedAfter: control.changes) == [.paused(Self.orders)])
    }
}

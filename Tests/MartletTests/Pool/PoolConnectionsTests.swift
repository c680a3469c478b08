// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import Martlet
@testable import MartletTransport

/// Tests of opening, draining and closing connections, without pushes.
@Suite struct PoolConnectionsTests {
    private var connections = PoolConnections(limit: 2, seed: 1)
    private var list: PoolConnections.Actions = []
    private let start = MonotonicTime.zero

    /// The actions so far.
    private var actions: [String] {
        list.map { action in
            switch action {
            case .connect(let id): "connect \(id)"
            case .ping(let id): "ping \(id)"
            case .close(let id, _): "close \(id)"
            default: "another action"
            }
        }
    }

    /// Opens a connection on which the server allows so many streams.
    private mutating func open(_ id: Int, streams: Int = 10) {
        connections.open(forPushWaitingSince: start, at: start, &list)
        let isNew = connections.connected(id, at: start)
        #expect(isNew)
        connections.receivedInput(on: id, streams: streams, at: start)
    }

    @Test mutating func `one connection is opened at a time, and the next for pushes that wait too long`() throws {
        connections.open(forPushWaitingSince: start, at: start, &list)
        connections.open(forPushWaitingSince: start, at: start, &list)
        #expect(actions == ["connect 1"])
        let (isNew, isNewAgain) = (connections.connected(1, at: start), connections.connected(1, at: start))
        #expect(isNew && !isNewAgain)
        let index = try #require(connections.indexWithRoom(startsWithOneStream: true))
        let id = connections.assignPush(at: index, at: start)
        #expect(id == 1)
        #expect(connections.indexWithRoom(startsWithOneStream: true) == nil)
        let later = start.advanced(by: .seconds(1))
        connections.open(forPushWaitingSince: start, at: later, &list)
        #expect(actions == ["connect 1"], "the first response has not arrived")
        connections.releasePush(on: 1, isAnswered: true, at: later)
        connections.open(forPushWaitingSince: later, at: later, &list)
        #expect(connections.nextWake == later.advanced(by: PoolConnections.growthDelay))
        connections.open(forPushWaitingSince: later, at: connections.nextWake, &list)
        #expect(actions == ["connect 1", "connect 2"])
    }

    @Test mutating func `a failed connection delays the next one`() {
        connections.open(forPushWaitingSince: start, at: start, &list)
        let failed = connections.remove(1, at: start)
        #expect(failed?.phase == .connecting && connections.isEmpty)
        connections.open(forPushWaitingSince: start, at: start, &list)
        #expect(actions == ["connect 1"] && connections.nextWake > start)
        connections.responded()
        connections.open(forPushWaitingSince: start, at: start, &list)
        #expect(actions == ["connect 1", "connect 2"])
    }

    @Test mutating func `a connection that stays silent after a PING is closed`() {
        open(1)
        _ = connections.assignPush(at: 0, at: start)
        let silent = start.advanced(by: PoolConnections.silenceTimeout)
        #expect(connections.nextWake == silent)
        connections.timerFired(at: silent, &list)
        #expect(actions == ["connect 1", "ping 1"])
        #expect(connections.nextWake == silent.advanced(by: PoolConnections.pongTimeout))
        connections.timerFired(at: connections.nextWake, &list)
        #expect(actions == ["connect 1", "ping 1", "close 1"])
        #expect(!connections.hasUsable && connections.contains(1))
    }

    @Test mutating func `a connection above the limit is closed after its pushes`() {
        open(1)
        connections.warmUp(to: 2)
        connections.openWanted(at: start, &list)
        let isNew = connections.connected(2, at: start)
        #expect(isNew && connections.isWarm && connections.streamLimit == 11)
        _ = connections.assignPush(at: 1, at: start)
        connections.setLimit(to: 1, &list)
        #expect(actions == ["connect 1", "connect 2"] && connections.streamLimit == 10)
        connections.releasePush(on: 2, isAnswered: true, at: start)
        connections.closeIfDrained(2, &list)
        connections.closeIfDrained(2, &list)
        #expect(actions == ["connect 1", "connect 2", "close 2"])
    }
}

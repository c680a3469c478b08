// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletTransport
import Testing

@testable import Martlet

@Suite struct PushTableTests {
    private var table = PushTable()

    private mutating func insert() -> PushKey {
        table.insert(PushState(APNsID(randomBits: (0, 0)), SendLimits()))
    }

    @Test mutating func `a key stays settled after its result was taken`() {
        let first = insert()
        table[first].attempts = 3
        #expect(!table.isSettled(first) && table.unsettled == [first])
        let outcome = table.settle(first, nil, at: .zero)
        #expect(outcome == nil)
        #expect(table.isSettled(first) && table.unsettledCount == 0 && !table.isEmpty)
        #expect(table.takeResult(of: first).attempts == 3)
        #expect(table.isEmpty)
        let second = insert()
        #expect(second.index == first.index && second != first)
        #expect(table.isSettled(first) && !table.isSettled(second))
    }

    @Test mutating func `a result has the failure of the push, not that of an earlier attempt`() {
        let keys = [insert(), insert(), insert()]
        for key in keys { table.failed(key, APNsError(.refused, description: "attempt")) }
        let closed = APNsError(.closed, description: "closed")
        for key in keys { _ = table.settle(key, key == keys[1] ? closed : nil, at: .zero) }
        #expect(table.takeResult(of: keys[0]).failure == nil)
        #expect(table.takeResult(of: keys[1]).failure?.code == .closed)
    }

    @Test mutating func `a push that ends early has the outcome of its last attempt`() {
        let key = insert()
        let reason = APNsError(.cancelled, description: "cancelled")
        #expect(table.failure(of: key, because: reason).outcome == .neverSent)
        table.failed(key, APNsError(.connectionLost, description: "lost", outcome: .unprocessed))
        let failure = table.failure(of: key, because: reason)
        #expect(failure.outcome == .unprocessed && failure.lastFailure?.code == .connectionLost)
        #expect(failure.description.hasSuffix("the last attempt: lost"))
        table[key].move(to: .awaitingToken(1), at: .zero)
        #expect(table.failure(of: key, because: reason).outcome == .unprocessed)
        table[key].move(to: .onWire(1), at: .zero)
        #expect(table.failure(of: key, because: reason).outcome == .unknown)
    }

    @Test mutating func `an unknown outcome of an earlier attempt remains`() {
        let key = insert()
        table[key].attempts = 2
        table[key].unknownTries = 1
        let failure = APNsError(.closed, description: "closed", outcome: .unprocessed)
        let outcome = table.settle(key, failure, at: .zero)
        #expect(outcome == .unknown)
        let result = table.takeResult(of: key)
        #expect(result.failure?.outcome == .unknown && result.failure?.attempts == 2)
    }

    @Test mutating func `memory of many pushes is released when all have ended`() {
        let keys = (0..<3_000).map { _ in insert() }
        for key in keys { _ = table.settle(key, nil, at: .zero) }
        for key in keys { _ = table.takeResult(of: key) }
        #expect(table.isEmpty)
        #expect(insert().index == 0 && keys.allSatisfy { table.isSettled($0) })
    }
}

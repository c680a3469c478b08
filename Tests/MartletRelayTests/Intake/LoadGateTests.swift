// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

/// Tests of the admission of pushes under load.
@Suite struct LoadGateTests {
    private func load(
        _ incoming: Int = 0,
        own: Int? = nil,
        others: Int = 0,
        since: Int64? = nil,
        waiting: Int = 0,
        ofCaller: Int = 0
    ) -> LoadGate.Load {
        LoadGate.Load(
            incoming: incoming,
            incomingOfApp: own ?? incoming,
            otherApps: others,
            waitsSince: since,
            waiting: waiting,
            waitingOfCaller: ofCaller
        )
    }

    private let gate = LoadGate(
        limits: {
            var limits = LoadGate.Limits()
            limits.incoming = 100
            limits.waiting = 5
            limits.waitingPerCaller = 3
            return limits
        }()
    )

    @Test(arguments: [
        (0, 1, true), (99, 1, true), (100, 1, false), (50, 50, true), (50, 51, false),
        (0, 101, true), (1, 101, false),
    ])
    func `waiting pushes are limited, and a long list is accepted alone`(incoming: Int, count: Int, isTaken: Bool) {
        let decision = gate.decision(on: count, load(incoming), at: 0)
        #expect(decision == (isTaken ? .take(mayWait: true) : .refuse(.tooManyIncoming, retryAfter: 1)))
    }

    @Test func `batches use at most half of the capacity`() {
        #expect(gate.decision(on: 50, load(1), isBatch: true, at: 0) == .refuse(.tooManyIncoming, retryAfter: 1))
        #expect(gate.decision(on: 49, load(1), isBatch: true, at: 0).isTaken)
        #expect(gate.decision(on: 500, load(0), isBatch: true, at: 0).isTaken)
    }

    @Test func `a store that does not answer gets no more pushes`() {
        #expect(gate.decision(on: 1, load(1, since: 1_000), at: 3_000).isTaken)
        #expect(
            gate.decision(on: 1, load(1, since: 1_000), at: 3_001)
                == .refuse(.storeDoesNotAnswer(since: 1_000), retryAfter: 5)
        )
    }

    @Test func `callers beyond the bound do not wait for Apple`() {
        #expect(gate.decision(on: 1, load(waiting: 4), at: 0) == .take(mayWait: true))
        #expect(gate.decision(on: 1, load(waiting: 5), at: 0) == .take(mayWait: false))
        #expect(gate.decision(on: 1, load(waiting: 3, ofCaller: 2), at: 0) == .take(mayWait: true))
        #expect(gate.decision(on: 1, load(waiting: 3, ofCaller: 3), at: 0) == .take(mayWait: false))
    }

    @Test func `a request about an earlier push may wait while pushes are refused`() {
        #expect(gate.decision(on: 1, load(100, waiting: 4), at: 0) == .refuse(.tooManyIncoming, retryAfter: 1))
        #expect(gate.mayWait(load(100, waiting: 4)))
        #expect(!gate.mayWait(load(100, waiting: 5)))
        #expect(!gate.mayWait(load(100, waiting: 3, ofCaller: 3)))
    }

    @Test(arguments: [
        // The whole room is in use, and this app has none of it, its share, or more.
        (100, 0, 1, 50, true), (100, 0, 1, 51, false), (100, 50, 1, 1, false), (150, 49, 1, 1, true),
        (100, 0, 3, 25, true), (100, 0, 3, 26, false), (100, 10, 3, 15, true),
    ])
    func `an app that uses less than its share is not refused because of others`(
        incoming: Int,
        own: Int,
        others: Int,
        count: Int,
        isTaken: Bool
    ) {
        #expect(gate.decision(on: count, load(incoming, own: own, others: others), at: 0).isTaken == isTaken)
    }

    @Test func `a full outbox refuses pushes for a second by any clock`() {
        var gate = gate
        gate.outboxIsFull(at: 10_000)
        #expect(gate.decision(on: 1, load(), at: 10_999) == .refuse(.outboxIsFull, retryAfter: 30))
        #expect(gate.decision(on: 1, load(), at: 11_000).isTaken)
        #expect(gate.decision(on: 1, load(), at: 5_000).isTaken)
    }

    @Test(arguments: [(32_000, 24_000, 5_000), (8_000, 6_000, 4_000), (1_000_000, 50_000, 5_000)])
    func `waiting requests are limited by the number of connections`(connections: Int, all: Int, ofCaller: Int) {
        let limits = LoadGate.Limits().bounded(byConnections: connections)
        #expect(limits.waiting == all && limits.waitingPerCaller == ofCaller)
    }
}

extension LoadGate.Decision {
    fileprivate var isTaken: Bool { if case .take = self { true } else { false } }
}

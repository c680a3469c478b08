import Testing

@testable import Relay

/// What is taken when more comes in than can be kept.
@Suite struct LoadGateTests {
    private func load(_ incoming: Int = 0, since: Int64? = nil, waiting: Int = 0) -> LoadGate.Load {
        LoadGate.Load(incoming: incoming, waitsSince: since, waiting: waiting)
    }

    private let gate = LoadGate(
        limits: {
            var limits = LoadGate.Limits()
            limits.incoming = 100
            limits.waiting = 5
            return limits
        }()
    )

    @Test(arguments: [
        (0, 1, true), (99, 1, true), (100, 1, false), (50, 50, true), (50, 51, false),
        (0, 101, true), (1, 101, false),
    ])
    func `so many wait for the disk, and a long list goes alone`(incoming: Int, count: Int, isTaken: Bool) {
        let verdict = gate.verdict(on: count, load(incoming), at: 0)
        #expect(verdict == (isTaken ? .take(mayWait: true) : .refuse(retryAfter: 1)))
    }

    @Test func `a disk that does not come back is not given more`() {
        #expect(gate.verdict(on: 1, load(1, since: 1_000), at: 3_000).isTaken)
        #expect(gate.verdict(on: 1, load(1, since: 1_000), at: 3_001) == .refuse(retryAfter: 5))
    }

    @Test func `callers beyond the bound do not wait for Apple`() {
        #expect(gate.verdict(on: 1, load(waiting: 4), at: 0) == .take(mayWait: true))
        #expect(gate.verdict(on: 1, load(waiting: 5), at: 0) == .take(mayWait: false))
    }

    @Test func `an outbox that was full is left alone for a second, by any clock`() {
        var gate = gate
        gate.outboxIsFull(at: 10_000)
        #expect(gate.verdict(on: 1, load(), at: 10_999) == .refuse(retryAfter: 30))
        #expect(gate.verdict(on: 1, load(), at: 11_000).isTaken)
        #expect(gate.verdict(on: 1, load(), at: 5_000).isTaken)
    }
}

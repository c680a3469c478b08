// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

@testable import MartletRelay

/// Clients that wait for outcomes which come before the acceptance of their pushes is answered.
@Suite(.timeLimit(.minutes(10))) struct EarlyOutcomesTests {
    private struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    private static func status(_ number: UInt64) -> PushStatus {
        PushStatus(
            id: APNsID(randomBits: (number, 0)),
            lane: Lane(app: "orders", environment: .production),
            acceptedAt: 0,
            state: .ended(Outcome(.delivered), at: 0)
        )
    }

    /// Runs several acceptances at once, which are committed and then answered; each push ends after its commit.
    ///
    /// Whatever the order, each client hears exactly once.
    private func run(_ seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        var early = EarlyOutcomes()
        var next: UInt64 = 0
        var begun: [(position: Int, pushes: [UInt64])] = []
        var committed: [(position: Int, pushes: [UInt64])] = []
        var unended: [UInt64] = []
        var registered: Set<APNsID> = []
        var told: [APNsID: Int] = [:]
        func tell(_ push: PushStatus) {
            guard registered.remove(push.id) != nil else { return }
            told[push.id, default: 0] += 1
        }
        for step in 0..<200 {
            let isEnding = step > 150
            switch Int.random(in: isEnding ? 1...3 : 0...3, using: &random) {
            case 0:
                let count = UInt64.random(in: 1...3, using: &random)
                begun.append((early.beginAcceptance(), Array(next..<next + count)))
                next += count
            case 1 where !begun.isEmpty:
                committed.append(begun.remove(at: Int.random(in: begun.indices, using: &random)))
                unended += committed[committed.count - 1].pushes
            case 2 where !committed.isEmpty:
                let batch = committed.remove(at: Int.random(in: committed.indices, using: &random))
                for push in batch.pushes { registered.insert(Self.status(push).id) }
                for push in early.endAcceptance(begunAt: batch.position) { tell(push) }
            case 3 where !unended.isEmpty:
                let push = Self.status(unended.remove(at: Int.random(in: unended.indices, using: &random)))
                early.record(push)
                tell(push)
            default: break
            }
        }
        for batch in begun + committed {
            if begun.contains(where: { $0.position == batch.position && $0.pushes == batch.pushes }) {
                unended += batch.pushes
            }
            for push in batch.pushes { registered.insert(Self.status(push).id) }
            for push in early.endAcceptance(begunAt: batch.position) { tell(push) }
        }
        for push in unended {
            early.record(Self.status(push))
            tell(Self.status(push))
        }
        guard registered.isEmpty else { throw Violation(description: "\(registered.count) clients never heard") }
        guard told.count == Int(next), told.values.allSatisfy({ $0 == 1 }) else {
            throw Violation(description: "\(told.count) of \(next) clients heard, some more than once")
        }
        let position = early.beginAcceptance()
        guard early.endAcceptance(begunAt: position).isEmpty else { throw Violation(description: "outcomes are left") }
    }

    @Test func `each client is answered once in any order of events`() async {
        let violations = await SeededWorlds("orders of acceptances and outcomes", count: 2_000).violations { seed, _ in
            try run(seed)
        }
        #expect(violations == [])
    }

    @Test func `a push that ends before its acceptance is answered ends its client's wait`() async throws {
        let bench = try await RelayBench { $0.answerTime = .seconds(3_600) }
        let outbox = LateOutbox()
        let relay = try await PushRelay.start(bench.relay.context.configuration, over: outbox)
        let client = try await RelayBench(bench, relay).client()
        try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
        await client.close()
        await relay.stop()
        await bench.stop()
    }
}

/// An outbox that answers for an acceptance only after the push has ended.
private final class LateOutbox: ModelBackedOutbox {
    let model = ModelOutbox(on: ModelOutbox.Disk(), limit: 100)
    private let (settled, settling) = AsyncStream.makeStream(of: Void.self)

    func accept(_ pushes: [HashedPush], at now: Int64) async -> [Acceptance] {
        let answers = model.accept(pushes, at: now)
        for await _ in settled { break }
        return answers
    }

    func claim(_ lane: Lane, _ urgency: Urgency, limit: Int, at now: Int64) -> Claim {
        var claim = model.claim(lane, urgency, limit: limit, at: now)
        // So that the relay looks again without being told that a push was accepted.
        if claim.pushes.isEmpty { claim.nextDue = now + 10 }
        return claim
    }

    @discardableResult
    func settle(_ settlements: [Settlement], at now: Int64) async -> Int64 {
        defer { settling.yield() }
        return model.settle(settlements, at: now)
    }
}

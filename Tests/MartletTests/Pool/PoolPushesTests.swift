// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@testable import Martlet
@testable import MartletTransport

/// The decisions about pushes, without connections.
@Suite struct PoolPushesTests {
    private var pushes = PoolPushes(limit: 2, breaksCircuit: true, seed: 1)
    private var list: PoolPushes.Actions = []
    private let start = MonotonicTime.zero

    /// The actions so far.
    private var actions: [String] {
        list.map { action in
            switch action {
            case .settle: "settle"
            case .reset(_, let id): "reset on \(id)"
            case .report(.retrying): "retrying"
            case .report(.circuitOpened): "circuit opened"
            default: "another action"
            }
        }
    }

    private mutating func submit(_ limits: SendLimits = SendLimits(), isCancelled: Bool = false) -> PushKey {
        pushes.submitted(APNsID(randomBits: (0, 0)), limits, isCancelled: isCancelled, at: start, &list)
    }

    /// Submits a push that waits for a stream.
    private mutating func enqueue(_ limits: SendLimits = SendLimits()) -> PushKey {
        let push = submit(limits)
        pushes.wait(push, at: start, &list)
        return push
    }

    /// Submits a push that is in flight.
    private mutating func send(_ limits: SendLimits = SendLimits()) -> PushKey {
        let push = submit(limits)
        pushes.sent(push, on: 1, tokenIssuedAt: nil, at: start)
        return push
    }

    private func refusal(_ reason: APNsReason) -> APNsError {
        var error = APNsError(.refused, description: "refused", outcome: .answered)
        error.properties.reason = reason
        error.properties.status = reason.status
        return error
    }

    @Test mutating func `a push that may not be sent is settled immediately`() {
        let cancelled = submit(isCancelled: true)
        let late = submit(SendLimits(timeout: .zero))
        let waiting = [enqueue(), enqueue()]
        let surplus = enqueue()
        pushes.close()
        let closed = submit()
        let results = [cancelled, late, surplus, closed].map { pushes.takeResult(of: $0) }
        #expect(results.map(\.failure?.code) == [.cancelled, .timedOut, .overloaded, .closed])
        #expect(results.allSatisfy { $0.failure?.outcome == .neverSent })
        #expect(pushes.queue.readyCount == 2 && pushes.table.unsettled == waiting && !pushes.isFinished)
    }

    @Test mutating func `an unprocessed push is sent again first, up to a limit`() {
        let push = send(SendLimits(retry: .none))
        let other = enqueue()
        let failure = StreamFailure(isUnprocessed: true, cause: TransportError(.closedByPeer, "refused"))
        for _ in 0..<PoolPushes.unprocessedLimit {
            pushes.broken(push, failure, at: start, &list)
            let next = pushes.next(at: start, &list)
            #expect(next == push)
            pushes.sent(push, on: 1, tokenIssuedAt: nil, at: start)
        }
        #expect(actions == [] && pushes.counters.resends == PoolPushes.unprocessedLimit)
        pushes.broken(push, failure, at: start, &list)
        let next = pushes.next(at: start, &list)
        #expect(actions == ["settle"] && next == other && pushes.counters.notSent == 1)
    }

    @Test mutating func `a rejected push is held, and sent again at its time`() {
        let push = send(SendLimits(retry: RetryPolicy(retries: 1, hasJitter: false)))
        pushes.answered(push, refusal(.serviceUnavailable), at: start, &list)
        #expect(actions == ["retrying"] && pushes.queue.readyCount == 0)
        let (due, waitingSince) = (pushes.nextWake, pushes.nextWaitingSince())
        #expect(due > start && waitingSince == nil)
        pushes.timerFired(at: due, &list)
        let dueSince = pushes.nextWaitingSince()
        let next = pushes.next(at: due, &list)
        #expect(dueSince == due && next == push)
        pushes.sent(push, on: 1, tokenIssuedAt: nil, at: due)
        pushes.answered(push, refusal(.serviceUnavailable), at: due, &list)
        #expect(actions == ["retrying", "settle"] && pushes.takeResult(of: push).attempts == 2)
    }

    @Test mutating func `a deadline ends pushes in flight and waiting ones`() {
        _ = send(SendLimits(timeout: .seconds(5)))
        _ = enqueue(SendLimits(timeout: .seconds(5)))
        let late = enqueue(SendLimits(timeout: .seconds(6)))
        let deadline = start.advanced(by: .seconds(5))
        #expect(pushes.nextWake == deadline)
        pushes.timerFired(at: deadline, &list)
        #expect(actions == ["reset on 1", "settle", "settle"] && pushes.table.unsettled == [late])
        #expect(pushes.nextWake == start.advanced(by: .seconds(6)))
        #expect(pushes.counters.unknown == 1 && pushes.counters.notSent == 1)
    }

    @Test mutating func `a push that is not sent in time ends, one in flight does not`() throws {
        let limits = SendLimits(timeout: .seconds(5), startTimeout: .milliseconds(250))
        let sent = send(limits)
        let waiting = enqueue(limits)
        let end = start.advanced(by: .milliseconds(250))
        #expect(pushes.nextWake == end)
        pushes.timerFired(at: end, &list)
        #expect(actions == ["settle"] && pushes.table.unsettled == [sent])
        let failure = try #require(pushes.takeResult(of: waiting).failure)
        #expect(failure.code == .overloaded && failure.outcome == .neverSent)
        #expect(pushes.nextWake == start.advanced(by: .seconds(5)))
    }

    @Test mutating func `only a push that may still be sent is not settled`() {
        let limits = SendLimits(timeout: .seconds(5), startTimeout: .milliseconds(250))
        let push = submit(limits)
        pushes.awaitsToken(push, on: 1, at: start)
        let isLateBefore = pushes.settleIfLate(push, at: start.advanced(by: .milliseconds(249)), &list)
        let isLate = pushes.settleIfLate(push, at: start.advanced(by: .milliseconds(250)), &list)
        let isSettled = pushes.settleIfLate(push, at: start, &list)
        #expect([isLateBefore, isLate, isSettled] == [false, true, true] && actions == ["settle"])
    }

    @Test mutating func `a late unprocessed push is not sent again`() throws {
        let push = send(SendLimits(timeout: .seconds(5), startTimeout: .milliseconds(250)))
        let later = start.advanced(by: .seconds(1))
        let failure = StreamFailure(isUnprocessed: true, cause: TransportError(.closedByPeer, "refused"))
        pushes.broken(push, failure, at: later, &list)
        #expect(pushes.nextWake <= later && pushes.queue.readyCount == 1)
        let next = pushes.next(at: later, &list)
        #expect(next == nil && actions == ["settle"] && pushes.queue.readyCount == 0)
        let result = try #require(pushes.takeResult(of: push).failure)
        #expect(result.code == .overloaded && result.outcome == .unprocessed)
    }

    @Test mutating func `only pushes in flight count as sent`() {
        let sent = send()
        let waiting = enqueue()
        let awaitingToken = submit()
        pushes.awaitsToken(awaitingToken, on: 1, at: start)
        #expect(pushes.unsent == [waiting, awaitingToken])
        #expect(pushes.tokenIssuedAt(of: sent) == nil)
        let issuedAt = Date(timeIntervalSince1970: 1_000)
        pushes.sent(awaitingToken, on: 1, tokenIssuedAt: issuedAt, at: start)
        #expect(pushes.unsent == [waiting] && pushes.tokenIssuedAt(of: awaitingToken) == issuedAt)
    }

    @Test mutating func `waiting for a provider token is no attempt, and counts as waiting`() throws {
        let ended = submit(SendLimits(timeout: .seconds(5)))
        let sent = submit(SendLimits(timeout: .seconds(9)))
        for push in [ended, sent] { pushes.awaitsToken(push, on: 1, at: start) }
        let deadline = start.advanced(by: .seconds(5))
        pushes.timerFired(at: deadline, &list)
        let failure = try #require(pushes.takeResult(of: ended).failure)
        #expect(failure.attempts == 0 && failure.outcome == .neverSent)
        #expect(failure.timing.waiting == .seconds(5) && failure.timing.onWire == .zero)
        pushes.sent(sent, on: 1, tokenIssuedAt: nil, at: deadline)
        pushes.answered(sent, nil, at: start.advanced(by: .seconds(6)), &list)
        let result = pushes.takeResult(of: sent)
        #expect(result.attempts == 1 && result.failure == nil)
        #expect(result.timing == SendTiming(waiting: .seconds(5), onWire: .seconds(1)))
    }

    @Test mutating func `rejected credentials end the pushes that wait, until the circuit is closed`() {
        let sent = (0..<CircuitBreaker.forbiddenLimit).map { _ in send() }
        _ = enqueue()
        for push in sent { pushes.answered(push, refusal(.invalidProviderToken), at: start, &list) }
        #expect(pushes.circuit.isOpen && pushes.table.unsettled.isEmpty)
        #expect(actions.suffix(3) == ["circuit opened", "settle", "settle"])
        let refused = submit()
        #expect(pushes.takeResult(of: refused).failure?.code == .circuitOpen)
        pushes.closeCircuit()
        let push = submit()
        #expect(!pushes.circuit.isOpen && pushes.table.unsettled == [push])
    }
}

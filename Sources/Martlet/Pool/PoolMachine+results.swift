internal import MartletCore
internal import MartletTransport

/// The failures and results of pushes.
extension PoolMachine {
    /// Retries a failed push if its policy permits that, and settles it otherwise.
    mutating func retryOrSettle(_ push: PushKey, _ error: APNsError, at now: MonotonicTime) {
        let limits = pushes[push].limits
        let wait = limits.retry.delay(
            before: pushes[push].retries,
            isUrgent: limits.isUrgent,
            after: error,
            using: &random
        )
        // A retry after the deadline would be useless.
        guard let wait, now.advanced(by: wait) < pushes[push].deadline, !isClosing else {
            settle(push, error, at: now)
            return
        }
        pushes[push].retries += 1
        if error.outcome == .unknown { pushes[push].unknownTries += 1 }
        pushes.failed(push, error)
        hold(push, in: .backingOff, for: wait, at: now)
        counters.retries += 1
        actions.append(.report(.retrying(pushes[push].id, after: wait, because: error)))
    }

    /// Delays a push before it is sent.
    mutating func hold(
        _ push: PushKey,
        in phase: PushState.Phase,
        for wait: Duration,
        at now: MonotonicTime
    ) {
        pushes[push].move(to: phase, at: now)
        let due = now.advanced(by: wait)
        backingOff.insert(push, due: due)
        wake(at: due)
    }

    mutating func end(_ push: PushKey, _ code: APNsError.Code, _ description: String, at now: MonotonicTime) {
        switch pushes[push].phase {
        case .waiting:
            settledInQueue += 1
            settle(push, code, description, at: now)
            if settledInQueue > 1_000, settledInQueue > waiting.count / 2 {
                let pushes = pushes
                waiting.removeAll { pushes.isSettled($0) }
                settledInQueue = 0
            }
        case .onWire(let id):
            actions.append(.reset(push, id))
            settle(push, code, description, at: now)
        case .delayed:
            delayedCount -= 1
            settle(push, code, description, at: now)
        case .backingOff, .submitted:
            settle(push, code, description, at: now)
        case .settled:
            break
        }
    }

    private mutating func settle(
        _ push: PushKey,
        _ code: APNsError.Code,
        _ description: String,
        at now: MonotonicTime
    ) {
        settle(push, becauseOf: APNsError(code, description: description), at: now)
    }

    /// Settles a push that is not sent again because of an error: the outcome is that of its last attempt.
    mutating func settle(_ push: PushKey, becauseOf reason: APNsError, at now: MonotonicTime) {
        var error = reason.properties
        let lastFailure = pushes.lastFailure(of: push)
        if case .onWire = pushes[push].phase, !pushes[push].isAwaitingToken {
            error.outcome = .unknown
        } else if let last = lastFailure {
            error.outcome = last.outcome
            if error.reason == nil {
                error.status = last.status
                error.reason = last.reason
            }
            error.description += "; the last attempt: \(last.description)"
        }
        error.lastFailure = lastFailure
        settle(push, APNsError(error), at: now)
    }

    /// Settles a push with a failure, or as accepted when `failure` is nil.
    mutating func settle(_ push: PushKey, _ failure: APNsError?, at now: MonotonicTime) {
        pushes.settle(push, at: now)
        if var failure = failure?.properties {
            let state = pushes[push]
            failure.id = state.id
            failure.attempts = state.attempts
            failure.unknownTries = state.unknownTries
            failure.timing = state.timing
            // A known outcome of the last attempt does not change the unknown outcome of an earlier one.
            if failure.unknownTries > 0, failure.outcome != .answered { failure.outcome = .unknown }
            if failure.outcome != .answered { circuit.unanswered() }
            counters.count(failure.outcome)
            pushes.failed(push, APNsError(failure))
        } else {
            counters.accepted += 1
        }
        actions.append(.settle(push))
        closeAllIfFinished()
    }

    /// Stops sending when the response shows that everything is rejected.
    mutating func breakCircuit(after error: APNsError?, at now: MonotonicTime) {
        guard settings.breaksCircuit, let stop = circuit.answered(error, at: now) else { return }
        actions.append(.report(.circuitOpened(stop)))
        for push in waiting.all where !pushes.isSettled(push) {
            settledInQueue += 1
            settle(push, becauseOf: stop, at: now)
        }
    }
}

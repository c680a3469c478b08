internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// Performs the actions of the delivery machine and reports their results to it.
extension PushRelay {
    /// Schedules the machine's actions for the end of this turn of the event loop, once.
    func carryOutSoon() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.carryOut() } }
    }

    private func carryOut() {
        isCarryingOut = false
        let now = now
        let orders = machine.takeOrders(at: now)
        for order in orders.claims { claim(order) }
        for push in orders.sends { send(push) }
        if !orders.settlements.isEmpty { settle(orders.settlements) }
        wakeUp?.cancel()
        wakeUp = machine.nextTime(after: now).map { time in
            loop.schedule(after: .milliseconds(time - now)) { [weak self] in
                self?.assumeIsolated { $0.carryOutSoon() }
            }
        }
        if isDraining, machine.isIdle { endDraining() }
    }

    private func claim(_ order: DeliveryMachine.ClaimOrder) {
        Task {
            do throws(OutboxError) {
                let claim = try await outbox.claim(order.lane, order.urgency, limit: order.limit, at: now)
                machine.claimed(claim, order)
            } catch {
                noteStore(error)
                machine.claimFailed(order, at: now)
            }
            carryOutSoon()
        }
    }

    private func send(_ push: ClaimedPush) {
        guard let client = clients[push.push.lane] else { return }
        Task(executorPreference: client.client.executor) {
            let start = ContinuousClock.now
            let result = await client.send(push.push)
            let time = ContinuousClock.now - start
            self.loop.execute { [weak self] in self?.assumeIsolated { $0.answered(push, result, time) } }
        }
    }

    private func answered(_ push: ClaimedPush, _ result: SendResult, _ time: Duration) {
        let verdict = machine.answered(push.number, result, at: now)
        counts.answered(push.push, result, verdict, time)
        tracer?.sent(
            push,
            result,
            to: clients[push.push.lane]?.server ?? "",
            took: Int64(time / .microseconds(1)),
            at: clock.microsecondsSince1970(),
            using: &generator
        )
        log.debug("push", facts(of: push, result, time))
        noteRest(of: push.push.lane, after: result)
        carryOutSoon()
    }

    private func settle(_ settlements: [Settlement]) {
        Task {
            // One time for the stored outcomes and for the callers that wait for them.
            let time = now
            do throws(OutboxError) {
                try await outbox.settle(settlements, at: time)
                noteStore(nil)
                for ended in machine.settled(settlements) {
                    counts.measure(ended.push, ended.outcome, at: time)
                    noteEnd(of: ended.status(at: time))
                }
            } catch {
                noteStore(error)
                machine.settleFailed(settlements, at: now)
            }
            carryOutSoon()
        }
    }

    /// Counts a push that has ended, and reports its outcome to waiting callers and event streams.
    func noteEnd(of push: PushStatus) {
        guard case .ended(let outcome, let time) = push.place else { return }
        counts.ended(outcome, push.lane)
        earlyOutcomes.note(push)
        waiters.ended(push.id, of: push.lane.app, outcome, at: time)
        events.note(push)
    }

    /// Stores pushes, in one commit with the others of this turn of the event loop.
    ///
    /// - Parameters:
    ///   - pushes: The pushes, at least one.
    ///   - completion: A callback with the answers of the outbox, called on the event loop.
    func accept(_ pushes: [OutboxPush], _ completion: @escaping IncomingPushes.Completion) {
        if tracer == nil { incoming.add(pushes, completion) } else { acceptTraced(pushes, completion) }
        if incoming.groups.count == 1 {
            loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.acceptIncoming() } }
        }
    }

    private func acceptTraced(_ pushes: [OutboxPush], _ completion: @escaping IncomingPushes.Completion) {
        var pushes = pushes
        let arrivals = pushes.indices.map { index in
            tracer?.arrived(&pushes[index], at: clock.microsecondsSince1970(), using: &generator)
        }
        incoming.add(pushes) { result, time in
            for (index, arrival) in arrivals.enumerated() {
                guard let arrival else { continue }
                let answer = result.map { $0[$0.startIndex + index] }
                self.tracer?.kept(arrival, answer, at: self.clock.microsecondsSince1970())
            }
            completion(result, time)
        }
    }

    private func acceptIncoming() {
        let now = now
        let commit = incoming.take(at: now)
        let pushes = commit.pushes
        let start = earlyOutcomes.beginAcceptance()
        Task {
            let result = await writeToOutbox(pushes, at: now)
            incoming.answered(commit)
            note(result, of: pushes)
            var next = 0
            for group in commit.groups {
                group.completion(result.map { $0[next..<next + group.count] }, now)
                next += group.count
            }
            for push in earlyOutcomes.endAcceptance(begunAt: start) {
                guard case .ended(let outcome, let time) = push.place else { continue }
                waiters.ended(push.id, of: push.lane.app, outcome, at: time)
            }
            carryOutSoon()
        }
    }

    private func writeToOutbox(_ pushes: [OutboxPush], at now: Int64) async -> Result<[Acceptance], OutboxError> {
        if let refusal = store.refusal { return .failure(refusal) }
        do throws(OutboxError) {
            let answers = try await outbox.accept(pushes, at: now)
            noteStore(nil)
            return .success(answers)
        } catch {
            noteStore(error)
            return .failure(OutboxError(error.kind, store.problem ?? "\(error)"))
        }
    }

    /// Counts the answers of the outbox and marks the lanes of accepted pushes as ready to claim.
    private func note(_ result: Result<[Acceptance], OutboxError>, of pushes: [OutboxPush]) {
        var stirred: (lane: Lane, urgency: Urgency)?
        for (index, push) in pushes.enumerated() {
            let answer = result.map { $0[index] }
            counts.noted(answer, push.lane.app)
            if case .success(.full) = answer { gate.outboxIsFull(at: now) }
            guard case .success(.accepted) = answer else { continue }
            // Consecutive pushes are mostly for the same lane.
            if let stirred, stirred == (push.lane, push.urgency) { continue }
            stirred = (push.lane, push.urgency)
            machine.stir(push.lane, push.urgency)
        }
    }
}

extension DeliveryMachine.Ended {
    /// The status of the push.
    fileprivate func status(at now: Int64) -> PushStatus {
        PushStatus(id: push.push.id, lane: push.push.lane, acceptedAt: push.acceptedAt, place: .ended(outcome, at: now))
    }
}

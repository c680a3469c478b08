internal import APNs
internal import APNsClient
internal import Outbox
internal import Wire

/// Carries out what the delivery machine orders, and tells it how that went.
extension PushRelay {
    /// Looks once, at the end of this turn of the loop, at what is to be done.
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
                machine.claimFailed(order, at: now)
            }
            carryOutSoon()
        }
    }

    private func send(_ push: ClaimedPush) {
        guard let client = clients[push.push.lane] else { return }
        counts.sent[push.push.lane, default: 0] += 1
        Task(executorPreference: client.client.executor) {
            let result = await client.send(push.push)
            self.loop.execute { [weak self] in self?.assumeIsolated { $0.answered(push.number, result) } }
        }
    }

    private func answered(_ number: Int64, _ result: SendResult) {
        machine.answered(number, result, at: now)
        carryOutSoon()
    }

    private func settle(_ settlements: [Settlement]) {
        Task {
            do throws(OutboxError) {
                try await outbox.settle(settlements, at: now)
                for ended in machine.settled(settlements) { noteEnd(of: ended.status(at: now)) }
            } catch {
                machine.settleFailed(settlements, at: now)
            }
            carryOutSoon()
        }
    }

    /// Counts a push that has ended, and tells whoever waits or listens.
    func noteEnd(of push: PushStatus) {
        guard case .ended(let outcome, _) = push.place else { return }
        counts.ended(outcome, push.lane)
        waiters.ended(push.id, of: push.lane.app, outcome)
        events.note(push)
    }

    /// Hands a push to the outbox, together with the others of this turn of the loop.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - completion: Told what the outbox says; on the loop.
    func accept(_ push: OutboxPush, _ completion: @escaping IncomingPushes.Completion) {
        incoming.add(push, completion)
        if incoming.pushes.count == 1 {
            loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.acceptIncoming() } }
        }
    }

    private func acceptIncoming() {
        let (pushes, completions) = incoming.take()
        Task {
            let result: Result<[Acceptance], OutboxError>
            do throws(OutboxError) {
                result = .success(try await outbox.accept(pushes, at: now))
            } catch {
                result = .failure(error)
            }
            incoming.underWay -= pushes.count
            for (index, push) in pushes.enumerated() {
                let answer = result.map { $0[index] }
                if case .success(.accepted) = answer {
                    counts.accepted[push.lane.app, default: 0] += 1
                    machine.stir(push.lane, push.urgency)
                }
                completions[index](answer)
            }
            carryOutSoon()
        }
    }
}

extension DeliveryMachine.Ended {
    /// What is known of the push now.
    fileprivate func status(at now: Int64) -> PushStatus {
        PushStatus(id: push.push.id, lane: push.push.lane, acceptedAt: push.acceptedAt, place: .ended(outcome, at: now))
    }
}

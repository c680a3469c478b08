// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The part of a relay that delivers stored pushes: it performs the actions of the ``DeliveryMachine``, and reports the
/// outcomes once they are stored.
actor Dispatcher {
    /// The state of a lane that the monitor reads.
    struct LaneSnapshot: Sendable {
        var inFlight: Int
        /// The reason why the lane delivers nothing; nil when it delivers.
        var problem: LaneProblem?
        /// The pause by an operator; nil without one.
        var pause: LanePause?
        var connections: LaneConnections
        /// The client of the lane; nil before the start.
        var client: LaneClient?
    }

    /// The state that the monitor reads.
    struct Snapshot: Sendable {
        var counts: DispatchCounts
        var lanes: [Lane: LaneSnapshot]
        var inFlight: Int
        var fleet: FleetMembership
        var knowsPauses: Bool
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private(set) var context: RelayContext
    var machine: DeliveryMachine
    var clients = LaneClients()
    var laneControl = LaneControl()
    /// The connections of each lane to Apple.
    var connections: [Lane: LaneConnections] = [:]
    /// The start of each lane's outage as it is stored in the outbox, 0 for a lane without one; nil until it was read.
    var storedOutages: [Lane: Int64] = [:]
    private(set) var deliveryLog = DeliveryLog()
    /// The relays that share the outbox.
    var fleet = FleetMembership()
    private var counts = DispatchCounts()
    /// The losses since the monitor has taken them.
    var losses = RecentLosses()
    private(set) var claims = DispatchClaims()
    private var isActing = false
    private var nextAction: LoopTimer?
    /// The time of ``nextAction``; never when none is scheduled.
    private var nextActionTime = MonotonicTime.never
    private(set) var isDraining = false
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []
    private var reportEnd: @Sendable (PushStatus) -> Void = { _ in }
    private var reportSessionResults: @Sendable () -> Void = {}

    init(_ context: RelayContext) {
        loop = context.loop
        self.context = context
        machine = DeliveryMachine(limits: context.configuration.limits, seed: .random(in: .min ... .max))
        // Nothing is sent until the paused lanes are known.
        machine.pauseManually(nil)
    }

    /// Starts to deliver.
    ///
    /// - Parameters:
    ///   - clients: The clients of the lanes.
    ///   - reportEnd: Called on the event loop for each push that has ended.
    ///   - reportSessionResults: Called on the event loop when results of pushes of surfaces are stored.
    func start(
        _ clients: [Lane: LaneClient],
        reportEnd: @escaping @Sendable (PushStatus) -> Void,
        reportSessionResults: @escaping @Sendable () -> Void
    ) {
        self.reportEnd = reportEnd
        self.reportSessionResults = reportSessionResults
        open(clients)
        actSoon()
        followFleet()
        watchSilence()
    }

    /// Uses another configuration, with clients for the lanes whose client it cannot use.
    func use(_ context: RelayContext, _ fresh: [Lane: LaneClient]) async {
        let old = self.context.configuration
        self.context = context
        for lane in await clients.replaceKeys(of: old, in: context, except: Set(fresh.keys)) {
            clients.recordKey(of: lane, in: context.configuration)
            machine.tryAgain(lane, at: context.now)
        }
        open(fresh)
        actSoon()
    }

    /// The current state.
    var snapshot: Snapshot {
        let now = context.now
        let lanes = machine.lanes.map { lane, state in
            let snapshot = LaneSnapshot(
                inFlight: state.inFlight,
                problem: state.problem(at: now),
                pause: laneControl.pause(of: lane),
                connections: connections[lane] ?? LaneConnections(),
                client: clients[lane]
            )
            return (lane, snapshot)
        }
        return Snapshot(
            counts: counts,
            lanes: Dictionary(uniqueKeysWithValues: lanes),
            inFlight: machine.inFlight,
            fleet: fleet,
            knowsPauses: laneControl.isKnown
        )
    }

    /// Stops sending, and waits until every sent push is answered and its result is stored.
    func drain(within limit: Duration) async {
        isDraining = true
        machine.drain()
        actSoon()
        await untilIdle(within: limit)
    }

    var isIdle: Bool { machine.isIdle }

    var inFlight: Int { machine.inFlight }

    /// Closes the connections to Apple.
    func close() async {
        await clients.close()
        // Pushes that were still in flight have failed with their connections; their results are stored, too.
        await untilIdle(within: .seconds(1))
        deliveryLog.lost(at: context.now, to: context.log, isLast: true)
        nextAction?.cancel()
    }

    private func untilIdle(within limit: Duration) async {
        guard !machine.isIdle else { return }
        let timer = loop.schedule(after: limit) { [weak self] in self?.assumeIsolated { $0.idleWaiters.resume() } }
        await withCheckedContinuation { idleWaiters.append($0) }
        timer.cancel()
    }

    // MARK: Actions

    /// Schedules the machine's actions for the end of this turn of the event loop, once.
    func actSoon() {
        guard !isActing else { return }
        isActing = true
        loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.act() } }
    }

    private func act() {
        isActing = false
        let now = context.now
        let actions = machine.takeActions(at: now)
        for lane in actions.renewals {
            guard let client = clients[lane]?.client else { continue }
            Task { await client.renewToken() }
        }
        for action in actions.claims { claim(action) }
        for push in actions.sends { send(push) }
        let settlements = actions.settlements
        for start in stride(from: 0, to: settlements.count, by: Settlement.limit) {
            settle(Array(settlements[start..<min(start + Settlement.limit, settlements.count)]))
        }
        // An earlier timer stays, because the end of a hold time moves in each turn.
        if let delay = machine.nextTime(after: now).map({ Duration.milliseconds($0 - now) }),
            loop.now.advanced(by: delay) < nextActionTime
        {
            nextAction?.cancel()
            nextActionTime = loop.now.advanced(by: delay)
            nextAction = loop.schedule(after: delay) { [weak self] in
                self?.assumeIsolated { dispatcher in
                    dispatcher.nextActionTime = .never
                    dispatcher.actSoon()
                }
            }
        }
        if isDraining, machine.isIdle { idleWaiters.resume() }
    }

    private func claim(_ action: DeliveryMachine.ClaimAction) {
        let number = claims.begin()
        Task {
            do throws(OutboxError) {
                let claim = try await context.outbox.claim(
                    action.lane,
                    action.urgency,
                    limit: action.limit,
                    at: context.now
                )
                claims.record(claim, at: .now)
                machine.claimed(claim, action, at: context.now)
            } catch {
                context.recordOutbox(error)
                machine.claimFailed(action, at: context.now)
            }
            claims.end(number)
            actSoon()
        }
    }

    private func send(_ push: ClaimedPush) {
        guard let client = clients[push.push.lane] else { return }
        let start = ContinuousClock.now
        Task(executorPreference: client.client.executor) {
            let result = await client.send(push.push, since: start)
            let time = ContinuousClock.now - start
            self.loop.execute { [weak self] in self?.assumeIsolated { $0.answered(push, result, of: client, time) } }
        }
    }

    private func answered(_ push: ClaimedPush, _ result: SendResult?, of client: LaneClient, _ time: Duration) {
        let lane = push.push.lane
        let now = context.now
        guard let result else {
            machine.notStarted(push.number, at: now)
            return actSoon()
        }
        let node = context.configuration.node
        let failure = FailedAttempt(result, node: node, keyID: client.key.keyID, at: now)
        let decision = machine.answered(push.number, result, failure: failure, at: now)
        counts.answered(push, result, decision, time, at: now)
        if let spans = context.spans {
            let server = clients[lane]?.server ?? ""
            spans.record { $0.sent(push, result, to: server, took: Int64(time / .microseconds(1)), at: $1) }
        }
        context.log.attempt(push, result, time)
        deliveryLog.refused(push, result, decision, at: now, to: context.log)
        if let state = machine.lanes[lane] {
            deliveryLog.update(lane, state, after: result, at: now, to: context.log)
        }
        actSoon()
    }

    private func settle(_ settlements: [Settlement]) {
        Task {
            do throws(OutboxError) {
                // One time for the stored outcomes and for the callers that wait for them.
                let time = try await context.outbox.settle(settlements, at: context.now)
                context.recordOutbox(nil)
                let ended = machine.settled(settlements)
                for (push, outcome) in ended {
                    counts.measure(push, outcome, at: time)
                    if push.isDamaged { context.log.damaged(push) }
                    recordEnd(of: PushStatus(push, ended: outcome, at: time), expiry: push.push.expiresAt)
                }
                if ended.contains(where: { $0.push.push.session != nil }) { reportSessionResults() }
            } catch {
                context.recordOutbox(error)
                machine.settleFailed(settlements, at: context.now)
            }
            actSoon()
        }
    }

    /// Counts and reports a push that has ended.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - expiry: The time of its expiry, or the earliest possible one if it is not known; nil if there is none.
    ///   - isExact: Whether the time is known.
    private func recordEnd(of push: PushStatus, expiry: Int64?, isExact: Bool = true) {
        guard case .ended(let outcome, let time) = push.state else { return }
        counts.ended(outcome, push.lane)
        counts.forgetRetry(push.id, push.lane)
        deliveryLog.losses.add(outcome, of: push.lane)
        let from = outcome.state == .expired ? min(expiry ?? time, time) : time
        losses.add(outcome, of: push.lane, from: from, to: isExact ? from : time)
        reportEnd(push)
    }

    // MARK: Changes of the outbox

    /// Marks queues as ready to claim, because pushes were added to them.
    func markReady(_ queues: [LaneQueue]) {
        for queue in queues { machine.markReady(queue.lane, queue.urgency) }
        actSoon()
    }

    /// Cancels a push, and returns its status; nil for an unknown one.
    func cancel(_ id: APNsID, of app: String) async throws(OutboxError) -> PushStatus? {
        let now = context.now
        let status = try await context.outbox.cancel(id, of: app, at: now)
        // A push that had ended before was reported then.
        if let status, case .ended(_, at: now) = status.state { recordRemoval(of: [status]) }
        return status
    }

    /// Moves dead letters back to the queue, those with some identifiers or all, and returns their number.
    func requeueDeadLetters(_ ids: [APNsID]?, of app: String) async throws(OutboxError) -> Int {
        let count = try await context.outbox.requeueDeadLetters(ids, of: app, at: context.now)
        for lane in clients.lanes where lane.app == app { machine.markReady(lane) }
        actSoon()
        return count
    }

    /// Reports pushes that have ended without being sent: other pushes with their order keys may be due now.
    ///
    /// Those that have expired did so after a time.
    func recordRemoval(of pushes: [PushStatus], expiredSince start: Int64? = nil) {
        guard !pushes.isEmpty else { return }
        for push in pushes {
            recordEnd(of: push, expiry: start, isExact: false)
            machine.markReady(push.lane)
        }
        actSoon()
    }

    // MARK: Outages

    /// Ends and logs the outages of lanes without claimed pushes in which another relay has delivered pushes since.
    func endOutages(of lanes: [Lane]) {
        for lane in lanes where machine.endOutage(of: lane, at: context.now) {
            deliveryLog.recovered(lane, at: context.now, to: context.log)
        }
    }

    /// The interval between checks for lanes that Apple does not answer.
    private static let silenceInterval = Duration.milliseconds(250)

    /// Logs at intervals which lanes Apple does not answer, and how many pushes have expired or were abandoned.
    private func watchSilence() {
        for (lane, state) in machine.lanes {
            deliveryLog.update(lane, state, after: nil, at: context.now, to: context.log)
        }
        deliveryLog.lost(at: context.now, to: context.log)
        loop.schedule(after: Dispatcher.silenceInterval) { [weak self] in
            self?.assumeIsolated { $0.watchSilence() }
        }
    }
}

extension [CheckedContinuation<Void, Never>] {
    /// Resumes and removes all.
    fileprivate mutating func resume() {
        for continuation in self { continuation.resume() }
        removeAll()
    }
}

extension PushStatus {
    /// Creates the status of a push that has ended.
    fileprivate init(_ push: ClaimedPush, ended outcome: Outcome, at now: Int64) {
        self.init(id: push.push.id, lane: push.push.lane, acceptedAt: push.acceptedAt, state: .ended(outcome, at: now))
    }
}

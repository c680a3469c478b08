internal import APNs
internal import Outbox
internal import Wire

/// The knowledge about the outbox.
struct StoreHealth {
    /// Why it could not be written to the last time; nil when it could.
    var problem: String?
    /// Whether what it holds is damaged, which no further try can mend.
    var isDamaged = false
    /// Whether the database does not answer.
    var isUnreachable = false
    /// Whether a check is scheduled because the database does not answer.
    var isCheckScheduled = false
    /// When it answered last; nil when it never did.
    var answeredAt: Int64?
    /// When it was written to, or that was tried, the last time.
    var triedAt: Int64 = 0
    /// Lines about it in the log.
    var throttle = LogThrottle()

    /// The error for pushes that need not be tried, as the next check finds out whether the outbox works again.
    var refusal: OutboxError? {
        guard isDamaged || isUnreachable else { return nil }
        return OutboxError(isDamaged ? .damaged : .unreachable, problem ?? "")
    }

    /// The description of an error of the outbox.
    fileprivate func describe(_ error: OutboxError) -> String {
        guard error.kind == .unreachable else { return "\(error)" }
        let since = answeredAt.map { "since " + Timestamp.text($0) } ?? "yet"
        return "the database has not answered \(since): \(error)"
    }
}

/// Whether the relay is well.
extension PushRelay {
    /// How often the loop is asked how late it is.
    private static let pulse = Duration.milliseconds(250)
    /// The time that a commit may take before the relay counts as not ready, in milliseconds.
    private static let longestCommit: Int64 = 3_000
    /// How long it may be since the outbox was written to, before that is tried, in milliseconds.
    private static let storeCheckInterval: Int64 = 10_000
    /// The time between two checks of a database that does not answer.
    private static let recheckInterval = Duration.seconds(1)

    /// Why no pushes are taken; nil when they are.
    ///
    /// That Apple cannot be reached is none of the reasons: pushes are kept meanwhile.
    var readinessProblem: String? {
        if isDraining { return "the relay is coming to its end" }
        if let since = incoming.waitsSince, now - since > PushRelay.longestCommit {
            return "pushes cannot be stored: " + message(of: .storeDoesNotAnswer(since: since))
        }
        return store.problem.map { "pushes cannot be kept: \($0)" }
    }

    /// A refusal in words for the caller.
    func message(of refusal: LoadGate.Refusal) -> String {
        switch refusal {
        case .outboxIsFull: return "too many pushes are stored already"
        case .storeDoesNotAnswer(let since):
            return "the \(shared == nil ? "disk" : "database") has not answered since \(Timestamp.text(since))"
        case .tooManyIncoming: return "more pushes come in than can be stored"
        }
    }

    /// The facts about readiness, a line each, without the lanes.
    private var readinessLines: [String] {
        [
            "outbox: \(store.problem ?? "ok")",
            "taking pushes: \(isDraining ? "no, the relay is coming to its end" : "ok")",
        ]
    }

    /// The state of each lane, a line each.
    private var laneLines: [(app: String, line: String)] {
        lanes(of: apps).map { lane in
            let pause = laneControl.pause(of: lane).map { "paused manually since \(Timestamp.text($0.since))" }
            let outage = machine.lanes[lane]?.outage.map { "down since \(Timestamp.text($0.since)): \($0.reason)" }
            return (lane.app, "\(lane.app) \(lane.environment.rawValue): \(pause ?? outage ?? "ok")")
        }
    }

    /// Posts the relay's health for other threads.
    func postHealth() {
        health.post(HealthBoard.Report(problem: readinessProblem, lines: readinessLines, lanes: laneLines))
    }

    /// Posts the relay's health at intervals, and measures how late the loop is.
    func watchPulse() {
        postHealth()
        noteRates()
        let due = loop.now.advanced(by: PushRelay.pulse)
        loop.schedule(after: PushRelay.pulse) { [weak self] in
            self?.assumeIsolated { relay in
                relay.counts.loopLag.observe(Double(max(0, relay.loop.now.nanoseconds - due.nanoseconds)) / 1e9)
                relay.watchPulse()
            }
        }
    }

    /// Notes the number of sent pushes for the rates of the lanes, about once a second.
    func noteRates() {
        let now = now
        if rates.wantsTotals(at: now) { rates.note(counts.sent, at: now) }
    }

    /// Calls an action on the relay's loop, at once and again each time that this long has passed: as long as it is
    /// called, the relay is alive.
    package func beat(every interval: Duration, _ action: @escaping @Sendable () -> Void) {
        action()
        loop.schedule(after: interval) { [weak self] in
            self?.assumeIsolated { $0.beat(every: interval, action) }
        }
    }

    /// Notes whether the outbox could be written to.
    func noteStore(_ error: OutboxError?) {
        store.triedAt = now
        defer { postHealth() }
        guard let error else {
            store.answeredAt = now
            store.isUnreachable = false
            // One part of a damaged file may still be good: that is no reason to trust it with more.
            guard !store.isDamaged else { return }
            if store.problem != nil { log.info("pushes can be kept again") }
            store.problem = nil
            return
        }
        store.problem = store.describe(error)
        store.isUnreachable = error.kind == .unreachable
        store.isDamaged = store.isDamaged || error.kind == .damaged
        if store.isUnreachable { recheckStore() }
        guard let heldBack = store.throttle.take(at: now) else { return }
        log.error(
            "pushes cannot be kept",
            ["error": .string(store.problem ?? ""), "not-logged": heldBack > 0 ? .whole(heldBack) : nil]
        )
    }

    /// Checks a database that does not answer until it does.
    ///
    /// Pushes are refused until then, so this does not wait for the housekeeping, whose statements may take long.
    private func recheckStore() {
        guard !store.isCheckScheduled, !isDraining else { return }
        store.isCheckScheduled = true
        loop.schedule(after: PushRelay.recheckInterval) { [weak self] in
            guard let self else { return }
            Task {
                await self.checkStore()
                await self.endRecheck()
            }
        }
    }

    private func endRecheck() {
        store.isCheckScheduled = false
        if store.isUnreachable { recheckStore() }
    }

    /// Writes to the outbox when nobody has for a while, or when it failed.
    func checkStore() async {
        // A clock that was set back must not stop the checks.
        let isRecent = (0..<PushRelay.storeCheckInterval).contains(now - store.triedAt)
        guard store.problem != nil || !isRecent else { return }
        do throws(OutboxError) {
            try await outbox.setCursor(now, of: "health")
            noteStore(nil)
        } catch {
            noteStore(error)
        }
    }
}

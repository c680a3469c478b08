internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The health of the outbox.
struct StoreHealth {
    /// The error of the last write; nil when it succeeded.
    var problem: String?
    /// The time of the first error since the last success, in milliseconds since 1970; nil when there is none.
    var problemSince: Int64?
    /// Whether the stored data is damaged, which retrying cannot repair.
    var isDamaged = false
    /// Whether the database does not answer.
    var isUnreachable = false
    /// Whether a check is scheduled because the database does not answer.
    var isCheckScheduled = false
    /// The time of the last success; nil when there was none.
    var answeredAt: Int64?
    /// The time of the last write or attempt to write.
    var triedAt: Int64 = 0
    /// The limit for log lines about errors.
    var throttle = LogThrottle()

    /// The error for pushes that are refused without a write, as the next check finds out whether the outbox works
    /// again.
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

/// The health of the relay.
extension PushRelay {
    /// The interval between measurements of the event loop's delay.
    private static let pulse = Duration.milliseconds(250)
    /// The duration of a commit after which the relay counts as not ready, in milliseconds.
    private static let longestCommit: Int64 = 3_000
    /// The time without a write after which the outbox is checked, in milliseconds.
    private static let storeCheckInterval: Int64 = 10_000
    /// The interval between checks of a database that does not answer.
    private static let recheckInterval = Duration.seconds(1)

    /// The reason why no pushes are accepted; nil when they are.
    ///
    /// An outage of Apple is not a reason: pushes are stored meanwhile.
    var readinessProblem: String? {
        if isDraining { return "the relay is coming to its end" }
        if let since = incoming.waitsSince, now - since > PushRelay.longestCommit {
            return "pushes cannot be stored: " + message(of: .storeDoesNotAnswer(since: since))
        }
        return store.problem.map { "pushes cannot be kept: \($0)" }
    }

    /// Returns the message to a caller about a refusal.
    func message(of refusal: LoadGate.Refusal) -> String {
        switch refusal {
        case .outboxIsFull: return "too many pushes are stored already"
        case .storeDoesNotAnswer(let since):
            return "the \(shared == nil ? "disk" : "database") has not answered since \(Timestamp.text(since))"
        case .tooManyIncoming: return "more pushes come in than can be stored"
        }
    }

    /// The lines about readiness, without the lanes.
    private var readinessLines: [String] {
        [
            "outbox: \(store.problem ?? "ok")",
            "taking pushes: \(readinessProblem.map { "no, \($0)" } ?? "ok")",
        ]
    }

    /// The line about each lane.
    private var laneLines: [(app: String, line: String)] {
        lanes(of: apps).map { lane in
            let pause = laneControl.pause(of: lane).map { "paused manually since \(Timestamp.text($0.since))" }
            let problem = problem(of: lane).map { "down since \(Timestamp.text($0.since)): \($0.reason)" }
            let states = [pause, problem].compactMap(\.self)
            let state = states.isEmpty ? "ok" : states.joined(separator: ", and ")
            return (lane.app, "\(lane.app) \(lane.environment.rawValue): \(state)")
        }
    }

    /// Posts the relay's health for other threads.
    func postHealth() {
        health.post(HealthBoard.Report(problem: readinessProblem, lines: readinessLines, lanes: laneLines))
    }

    /// Posts the relay's health at intervals, and measures the delay of the event loop.
    func watchPulse() {
        for lane in machine.lanes.keys { noteRest(of: lane) }
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

    /// Records the number of sent pushes for the rates of the lanes, about once a second.
    func noteRates() {
        let now = now
        if rates.wantsTotals(at: now) { rates.note(counts.sent, at: now) }
    }

    /// Calls an action on the relay's event loop now and after each interval; the calls stop when the event loop hangs.
    package func beat(every interval: Duration, _ action: @escaping @Sendable () -> Void) {
        action()
        loop.schedule(after: interval) { [weak self] in
            self?.assumeIsolated { $0.beat(every: interval, action) }
        }
    }

    /// Notes the result of using the outbox; nil for a success.
    func noteStore(_ error: OutboxError?) {
        store.triedAt = now
        defer { postHealth() }
        guard let error else {
            store.answeredAt = now
            store.isUnreachable = false
            // A write to a damaged file may succeed; the outbox stays marked as damaged nevertheless.
            guard !store.isDamaged else { return }
            if store.problem != nil { log.info("pushes can be kept again") }
            store.problem = nil
            store.problemSince = nil
            return
        }
        let problemSince = store.problemSince ?? now
        store.problemSince = problemSince
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
    /// Pushes are refused until then, so this does not wait for the regular maintenance, whose statements may take
    /// long.
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

    /// Writes to the outbox if it has not been written for a while or has failed.
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

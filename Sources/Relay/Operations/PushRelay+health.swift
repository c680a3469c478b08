internal import APNs
internal import Outbox
internal import Wire

/// What is known of the file that pushes are kept in.
struct StoreHealth {
    /// Why it could not be written to the last time; nil when it could.
    var problem: String?
    /// Whether what it holds is damaged, which no further try can mend.
    var isDamaged = false
    /// When it was written to, or that was tried, the last time.
    var triedAt: Int64 = 0
    /// Lines about it in the log.
    var throttle = LogThrottle()
}

/// Whether the relay is well.
extension PushRelay {
    /// How often the loop is asked how late it is.
    private static let pulse = Duration.milliseconds(250)
    /// The time that a commit may take before the relay counts as not ready, in milliseconds.
    private static let longestCommit: Int64 = 3_000
    /// How long it may be since the outbox was written to, before that is tried, in milliseconds.
    private static let storeCheckInterval: Int64 = 10_000

    /// Why no pushes are taken; nil when they are.
    ///
    /// That Apple cannot be reached is none of the reasons: pushes are kept meanwhile.
    var readinessProblem: String? {
        if isDraining { return "the relay is coming to its end" }
        if let since = incoming.waitsSince, now - since > PushRelay.longestCommit {
            return "pushes cannot be stored: the storage has not answered for \((now - since) / 1_000) s"
        }
        return store.problem.map { "pushes cannot be kept: \($0)" }
    }

    /// The facts about readiness, a line each.
    private var readinessLines: [String] {
        var lines = [
            "outbox: \(store.problem ?? "ok")",
            "taking pushes: \(isDraining ? "no, the relay is coming to its end" : "ok")",
            "keys: \(configuration.apps.count) loaded",
        ]
        for (lane, state) in machine.lanes.sorted(by: { $0.key.app < $1.key.app }) {
            let rest = state.pausedUntil.map { "rests for \(max(0, $0 - now) / 1_000) s" } ?? "ok"
            lines.append("\(lane.app) \(lane.environment.rawValue): \(rest)")
        }
        return lines
    }

    /// Posts the relay's health for other threads.
    func postHealth() {
        health.post(HealthBoard.Report(problem: readinessProblem, lines: readinessLines))
    }

    /// Posts the relay's health at intervals, and measures how late the loop is.
    func watchPulse() {
        postHealth()
        let due = loop.now.advanced(by: PushRelay.pulse)
        loop.schedule(after: PushRelay.pulse) { [weak self] in
            self?.assumeIsolated { relay in
                relay.counts.loopLag.observe(Double(max(0, relay.loop.now.nanoseconds - due.nanoseconds)) / 1e9)
                relay.watchPulse()
            }
        }
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
            // One part of a damaged file may still be good: that is no reason to trust it with more.
            guard !store.isDamaged else { return }
            if store.problem != nil { log.info("pushes can be kept again") }
            store.problem = nil
            return
        }
        store.problem = "\(error)"
        store.isDamaged = store.isDamaged || error.kind == .damaged
        guard let heldBack = store.throttle.take(at: now) else { return }
        log.error(
            "pushes cannot be kept",
            ["error": .string("\(error)"), "not-logged": heldBack > 0 ? .whole(heldBack) : nil]
        )
    }

    /// Writes to the outbox when nobody has for a while, or when it failed.
    func checkStore() async {
        guard store.problem != nil || now - store.triedAt >= PushRelay.storeCheckInterval else { return }
        do throws(OutboxError) {
            try await outbox.setCursor(now, of: "health")
            noteStore(nil)
        } catch {
            noteStore(error)
        }
    }
}

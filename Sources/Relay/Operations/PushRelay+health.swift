internal import APNs
internal import Outbox
internal import Synchronization
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
    /// How often it is looked whether a loop that does not answer takes requests.
    private static let glance = Duration.milliseconds(50)
    /// How long it may be since the outbox was written to, before that is tried, in milliseconds.
    private static let storeCheckInterval: Int64 = 10_000

    /// Why no pushes are taken; nil when they are.
    ///
    /// That Apple cannot be reached is none of the reasons: pushes are kept meanwhile.
    var readinessProblem: String? {
        if isDraining { return "the relay is coming to its end" }
        return store.problem.map { "pushes cannot be kept: \($0)" }
    }

    /// What there is to say about readiness, a line each.
    var readinessReport: String {
        var lines = [
            "outbox: \(store.problem ?? "ok")",
            "taking pushes: \(isDraining ? "no, the relay is coming to its end" : "ok")",
            "keys: \(configuration.apps.count) loaded",
        ]
        for (lane, state) in machine.lanes.sorted(by: { $0.key.app < $1.key.app }) {
            let rest = state.pausedUntil.map { "rests for \(max(0, $0 - now) / 1_000) s" } ?? "ok"
            lines.append("\(lane.app) \(lane.environment.rawValue): \(rest)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Whether the relay's loop runs what it is given within a time, or has so many requests to take that it gets to
    /// nothing else.
    nonisolated func answers(within limit: Duration) async -> Bool {
        let taken = requestsTaken.load(ordering: .relaxed)
        return await withCheckedContinuation { continuation in
            let once = OnceOnly(continuation)
            loop.execute { once.resume(true) }
            Task {
                let end = ContinuousClock.now + limit
                while ContinuousClock.now < end {
                    try? await Task.sleep(for: min(limit, PushRelay.glance))
                    if requestsTaken.load(ordering: .relaxed) != taken { return once.resume(true) }
                }
                once.resume(false)
            }
        }
    }

    /// Begins to measure how late the loop is.
    func watchPulse() {
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

/// Resumes a continuation for the first that asks for it.
private final class OnceOnly: Sendable {
    private let waiting: Mutex<CheckedContinuation<Bool, Never>?>

    init(_ continuation: CheckedContinuation<Bool, Never>) {
        waiting = Mutex(continuation)
    }

    func resume(_ value: Bool) {
        waiting.withLock { $0.take() }?.resume(returning: value)
    }
}

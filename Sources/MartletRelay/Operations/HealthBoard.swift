internal import Synchronization

/// The relay's health, readable from any thread, so that health checks do not wait for the relay's event loop.
final class HealthBoard: Sendable {
    /// A report of the relay's event loop.
    struct Report: Sendable {
        /// The reason why no pushes are accepted; nil when they are.
        var problem: String?
        /// The lines about readiness.
        var lines: [String] = []
        /// The line about each lane, with its app.
        var lanes: [(app: String, line: String)] = []
    }

    /// The time without a report after which the relay counts as hung.
    static let lifeSign = Duration.seconds(3)

    private struct State {
        var report: Report
        /// The time of the report, by a clock that stops while the machine is suspended: a suspended relay is not hung.
        var reportedAt: SuspendingClock.Instant
    }

    private let state: Mutex<State>

    init() {
        state = Mutex(State(report: Report(problem: "the relay is starting"), reportedAt: .now))
    }

    /// Stores a report of the relay's event loop, which also proves that the event loop runs.
    func post(_ report: Report) {
        state.withLock { $0 = State(report: report, reportedAt: .now) }
    }

    /// The last report.
    var report: Report { state.withLock { $0.report } }

    /// Returns whether the relay's event loop has posted a report within a time.
    func isAlive(within limit: Duration = lifeSign) -> Bool {
        state.withLock { SuspendingClock.now - $0.reportedAt < limit }
    }
}

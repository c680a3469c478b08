internal import Synchronization

/// The relay's health, for reading from any thread: no answer about health waits for the relay's loop.
final class HealthBoard: Sendable {
    /// The last report of the relay's loop.
    struct Report: Sendable {
        /// The reason why no pushes are taken; nil when they are.
        var problem: String?
        /// The facts about readiness, a line each.
        var lines: [String] = []
        /// The state of each lane, with its app.
        var lanes: [(app: String, line: String)] = []
    }

    /// The time without a report after which the relay counts as dead.
    static let lifeSign = Duration.seconds(3)

    private struct State {
        var report: Report
        /// A clock that stands still with the machine: a suspended relay is not dead.
        var reportedAt: SuspendingClock.Instant
    }

    private let state: Mutex<State>

    init() {
        state = Mutex(State(report: Report(problem: "the relay is starting"), reportedAt: .now))
    }

    /// Posts a report of the relay's loop, which is also a sign of life.
    func post(_ report: Report) {
        state.withLock { $0 = State(report: report, reportedAt: .now) }
    }

    /// The last report.
    var report: Report { state.withLock { $0.report } }

    /// Whether the relay's loop has posted a report within a time.
    func isAlive(within limit: Duration = lifeSign) -> Bool {
        state.withLock { SuspendingClock.now - $0.reportedAt < limit }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The relay's health, readable from any thread, so that health checks do not wait for the relay's event loop.
final class SharedHealth: Sendable {
    /// A report of the relay's event loop.
    struct Report: Sendable {
        /// The reason why no pushes are accepted although the outbox works; nil when there is none.
        var problem: String?
        /// The line about each lane, with its app.
        var lanes: [(app: String, line: String)] = []
        /// Returns the summary of the status for some apps.
        var summary: (@Sendable (Set<String>) -> StatusSummary)?
    }

    /// The time without a report after which the relay counts as hung.
    static let reportTimeout = Duration.seconds(3)

    /// The problem of a relay that counts as hung.
    static let noAnswer = "the relay's event loop does not answer"

    private struct State {
        var report: Report
        /// The time of the report, by a clock that stops while the machine is suspended: a suspended relay is not hung.
        var reportedAt: SuspendingClock.Instant
    }

    private let state: Mutex<State>
    private let outbox: OutboxHealth

    init(_ outbox: OutboxHealth) {
        self.outbox = outbox
        state = Mutex(State(report: Report(problem: "the relay is starting"), reportedAt: .now))
    }

    /// Stores a report of the relay's event loop, which also proves that the event loop runs.
    func post(_ report: Report) {
        state.withLock { $0 = State(report: report, reportedAt: .now) }
    }

    /// Returns whether the relay's event loop has posted a report within a time.
    func isAlive(within limit: Duration = reportTimeout) -> Bool {
        state.withLock { SuspendingClock.now - $0.reportedAt < limit }
    }

    /// The reason why no pushes are accepted; nil when they are.
    ///
    /// An outage of Apple is not a reason: pushes are stored meanwhile.
    var problem: String? {
        guard isAlive() else { return SharedHealth.noAnswer }
        if let problem = state.withLock({ $0.report.problem }) { return problem }
        return outbox.current.problem.map { "pushes cannot be stored: \($0)" }
    }

    /// Returns a line for each condition of readiness, and with some apps one for each of their lanes and incidents.
    func lines(naming apps: Set<String>) -> [String] {
        guard isAlive() else { return [] }
        let report = state.withLock { $0.report }
        let conditions = [
            "outbox: \(outbox.current.problem ?? "ok")", "accepting pushes: \(problem.map { "no, \($0)" } ?? "ok")",
        ]
        let lanes = report.lanes.filter { apps.contains($0.app) }.map(\.line)
        guard !apps.isEmpty, let summary = report.summary?(apps) else { return conditions + lanes }
        let incidents = summary.incidents.map { "\($0.severity.rawValue): \($0.text(at: summary.facts.now))" }
        return conditions + lanes + ["headline: \(summary.headline)"] + incidents
    }
}

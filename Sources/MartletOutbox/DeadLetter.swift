/// A push that was abandoned.
package struct DeadLetter: Sendable, Hashable {
    /// The push.
    package var push: OutboxPush
    /// The time of acceptance.
    package var acceptedAt: Int64
    /// The outcome.
    package var outcome: Outcome
    /// The time when the push ended.
    package var endedAt: Int64

    /// Creates a dead letter.
    package init(push: OutboxPush, acceptedAt: Int64, outcome: Outcome, endedAt: Int64) {
        self.push = push
        self.acceptedAt = acceptedAt
        self.outcome = outcome
        self.endedAt = endedAt
    }
}

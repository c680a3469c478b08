// SPDX-License-Identifier: Apache-2.0

/// The number of pushes of an app that were abandoned.
package struct DeadLetterCount: Sendable, Hashable {
    /// The number of those whose attempts have failed, which can be sent again.
    package var count: Int
    /// The time when the last of these was abandoned, in milliseconds since 1970; 0 without one.
    package var newest: Int64
    /// The number of those that were not sent because their stored content is damaged.
    package var damaged: Int

    package init(count: Int, newest: Int64, damaged: Int = 0) {
        self.count = count
        self.newest = newest
        self.damaged = damaged
    }
}

/// A push that was abandoned.
package struct DeadLetter: Sendable, Hashable {
    package var push: OutboxPush
    package var acceptedAt: Int64
    package var outcome: Outcome
    package var endedAt: Int64
    package var history: AttemptHistory

    package init(
        push: OutboxPush,
        acceptedAt: Int64,
        outcome: Outcome,
        endedAt: Int64,
        history: AttemptHistory = AttemptHistory()
    ) {
        self.push = push
        self.acceptedAt = acceptedAt
        self.outcome = outcome
        self.endedAt = endedAt
        self.history = history
    }
}

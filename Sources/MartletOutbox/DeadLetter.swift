// SPDX-License-Identifier: Apache-2.0

/// The number of pushes of an app that were abandoned.
package struct DeadLetterCount: Sendable, Hashable {
    package var count: Int
    /// The time when the last one was abandoned, in milliseconds since 1970.
    package var newest: Int64

    package init(count: Int, newest: Int64) {
        self.count = count
        self.newest = newest
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

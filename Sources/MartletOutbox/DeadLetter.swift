// SPDX-License-Identifier: Apache-2.0

/// A push that was abandoned.
package struct DeadLetter: Sendable, Hashable {
    package var push: OutboxPush
    package var acceptedAt: Int64
    package var outcome: Outcome
    package var endedAt: Int64

    package init(push: OutboxPush, acceptedAt: Int64, outcome: Outcome, endedAt: Int64) {
        self.push = push
        self.acceptedAt = acceptedAt
        self.outcome = outcome
        self.endedAt = endedAt
    }
}

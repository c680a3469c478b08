// SPDX-License-Identifier: Apache-2.0

/// A push that is to be sent now, with the counts of earlier attempts.
package struct ClaimedPush: Sendable, Hashable {
    package var number: Int64
    /// The number of the claim, which differs for each claim of the push by this process; 0 for a push that was read
    /// without being claimed.
    package var claim: Int64 = 0
    package var push: OutboxPush
    /// The time of acceptance, in milliseconds since 1970.
    package var acceptedAt: Int64
    /// The time when the push was due, in milliseconds since 1970.
    package var readyAt: Int64
    /// The number of attempts that were answered or whose outcome is unknown.
    package var attempts: Int
    /// The number of attempts without an answer, including those that may have happened before a process crashed.
    package var unknownTries: Int
    /// The failed attempts that are stored.
    package var history: AttemptHistory
    /// Whether the stored content differs from its checksum, so that the push must not be sent.
    package var isDamaged: Bool
    /// Whether the push must not be sent, because its token has left the user that it belongs to.
    ///
    /// An installation of another user has the token now, or, for a push that was sent to the user, no installation.
    package var hasFormerUser: Bool

    package init(
        number: Int64,
        push: OutboxPush,
        acceptedAt: Int64,
        readyAt: Int64? = nil,
        attempts: Int,
        unknownTries: Int,
        history: AttemptHistory = AttemptHistory(),
        isDamaged: Bool = false,
        hasFormerUser: Bool = false
    ) {
        self.number = number
        self.push = push
        self.acceptedAt = acceptedAt
        self.readyAt = readyAt ?? acceptedAt
        self.attempts = attempts
        self.unknownTries = unknownTries
        self.history = history
        self.isDamaged = isDamaged
        self.hasFormerUser = hasFormerUser
    }
}

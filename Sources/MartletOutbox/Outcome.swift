// SPDX-License-Identifier: Apache-2.0

/// The outcome of a push.
package struct Outcome: Sendable, Hashable {
    /// The kinds of outcome.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Apple has accepted the push.
        case delivered
        /// Apple has rejected the push for good, or the relay has, because the headers break a rule.
        ///
        /// It is also the outcome of a request in SQL about a surface that was not carried out.
        case refused
        /// The push expired before Apple accepted it.
        case expired
        /// The caller cancelled the push, or the phone left its user before it was sent.
        case cancelled
        /// A newer push of its line has replaced it while it waited, also for another attempt.
        case superseded
        /// The push was abandoned after too many attempts or for its damage, and is stored as a dead letter.
        case dead
    }

    /// The ``reason`` of a push that was not sent, because its stored content differs from its checksum.
    package static let damagedReason = "Damaged"
    /// The ``reason`` of a cancelled push, whose token has left the user that the push belongs to.
    ///
    /// A push to a user ends so, too, after a 410 for another push has removed the token from its installation.
    package static let formerUserReason = "FormerUser"
    /// The start of the ``reason`` of a refused request in SQL about a surface; the identifier of the surface and the
    /// problem follow.
    package static let surfaceReason = "Surface "

    package var state: State
    /// The status of Apple's last answer, or the one with which Apple answers headers that the relay has rejected; nil
    /// when there was none.
    package var status: Int?
    /// The reason of Apple's last answer, or a code for the problem that kept the push from being sent.
    package var reason: String?
    /// The identifier of the push in Apple's delivery log (`apns-unique-id`, development only).
    package var uniqueID: String?
    /// With status 410: the time when APNs last confirmed that the token is unregistered.
    package var unregisteredAt: Int64?
    package var attempts: Int
    /// The number of attempts without an answer, each of which may have been delivered.
    package var unknownTries: Int

    /// Creates an outcome, by default without optional values.
    package init(
        _ state: State,
        status: Int? = nil,
        reason: String? = nil,
        uniqueID: String? = nil,
        unregisteredAt: Int64? = nil,
        attempts: Int = 0,
        unknownTries: Int = 0
    ) {
        self.state = state
        self.status = status
        self.reason = reason
        self.uniqueID = uniqueID
        self.unregisteredAt = unregisteredAt
        self.attempts = attempts
        self.unknownTries = unknownTries
    }
}

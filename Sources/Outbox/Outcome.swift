package import APNs

/// How a push has ended.
package struct Outcome: Sendable, Hashable {
    /// The ways to end.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Apple has taken it.
        case delivered
        /// Apple will never take it.
        case refused
        /// It was of no use any more.
        case expired
        /// Whoever handed it in took it back.
        case cancelled
        /// It was given up after many tries, and is kept among the dead letters.
        case dead
    }

    /// How it ended.
    package var state: State
    /// The status of Apple's last answer; nil when there was none.
    package var status: Int?
    /// The reason of Apple's last answer, or what kept the push from being sent, in one word.
    package var reason: String?
    /// What Apple's delivery log knows the push by (`apns-unique-id`, development only).
    package var uniqueID: String?
    /// With status 410: when the token was last confirmed dead.
    package var unregisteredAt: Int64?
    /// Times that it was sent.
    package var attempts: Int
    /// Times that it was sent and never answered: each of them may have been delivered, too.
    package var unknownTries: Int

    /// An outcome from its parts; what is optional is not there by default.
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

/// What became of a claimed push.
package struct Settlement: Sendable, Hashable {
    /// What can become of one.
    package enum Change: Sendable, Hashable {
        /// It has ended; whether its token is dead is told by ``Settlement/deadToken``.
        case ended(Outcome)
        /// It is to be tried again, at this time at the earliest.
        case postponed(until: Int64, attempts: Int, unknownTries: Int)
    }

    /// What the store knows the push by.
    package var number: Int64
    /// What became of it.
    package var change: Change
    /// Whether Apple said that the token is dead, which the store then remembers.
    package var isTokenDead: Bool

    /// A settlement from its parts.
    package init(number: Int64, _ change: Change, isTokenDead: Bool = false) {
        self.number = number
        self.change = change
        self.isTokenDead = isTokenDead
    }
}

/// What is known of a push.
package struct PushStatus: Sendable, Hashable {
    /// Where a push is.
    package enum Place: Sendable, Hashable {
        /// It waits: for its time, for its turn or for others that it must not overtake.
        case accepted
        /// It has been given out to be sent.
        case inFlight
        /// It has ended, at this time.
        case ended(Outcome, at: Int64)
    }

    /// Its identifier.
    package var id: APNsID
    /// Its lane.
    package var lane: Lane
    /// When it was accepted.
    package var acceptedAt: Int64
    /// Where it is.
    package var place: Place

    /// A status from its parts.
    package init(id: APNsID, lane: Lane, acceptedAt: Int64, place: Place) {
        self.id = id
        self.lane = lane
        self.acceptedAt = acceptedAt
        self.place = place
    }
}

/// A token that Apple has called dead.
package struct DeadToken: Sendable, Hashable {
    /// Counts up with each discovery in the outbox: what a reader of the feed remembers.
    package var cursor: Int64
    /// The token.
    package var token: DeviceToken
    /// When Apple last confirmed that it is dead; nil when Apple did not say.
    package var since: Int64?
    /// When that was learnt.
    package var learntAt: Int64
    /// Apple's reason.
    package var reason: String

    /// A dead token from its parts.
    package init(cursor: Int64, token: DeviceToken, since: Int64?, learntAt: Int64, reason: String) {
        self.cursor = cursor
        self.token = token
        self.since = since
        self.learntAt = learntAt
        self.reason = reason
    }
}

/// A push that was given up.
package struct DeadLetter: Sendable, Hashable {
    /// The push.
    package var push: OutboxPush
    /// When it was accepted.
    package var acceptedAt: Int64
    /// How it ended.
    package var outcome: Outcome
    /// When it ended.
    package var endedAt: Int64

    /// A dead letter from its parts.
    package init(push: OutboxPush, acceptedAt: Int64, outcome: Outcome, endedAt: Int64) {
        self.push = push
        self.acceptedAt = acceptedAt
        self.outcome = outcome
        self.endedAt = endedAt
    }
}

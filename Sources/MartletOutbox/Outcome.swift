package import MartletCore

/// The outcome of a push.
package struct Outcome: Sendable, Hashable {
    /// The kinds of outcome.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Apple has accepted the push.
        case delivered
        /// Apple has rejected the push for good.
        case refused
        /// The push expired before Apple accepted it.
        case expired
        /// The caller cancelled the push.
        case cancelled
        /// The push was abandoned after too many attempts, and is stored as a dead letter.
        case dead
    }

    /// The kind of outcome.
    package var state: State
    /// The status of Apple's last answer; nil when there was none.
    package var status: Int?
    /// The reason of Apple's last answer, or a code for the problem that kept the push from being sent.
    package var reason: String?
    /// The identifier of the push in Apple's delivery log (`apns-unique-id`, development only).
    package var uniqueID: String?
    /// With status 410: the time when APNs last confirmed that the token is unregistered.
    package var unregisteredAt: Int64?
    /// The number of attempts.
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

/// The result for a claimed push: its outcome, or its return to the queue.
package struct Settlement: Sendable, Hashable {
    /// The kinds of result.
    package enum Change: Sendable, Hashable {
        /// The push has ended; ``Settlement/isTokenDead`` has the state of its token.
        case ended(Outcome)
        /// The push is to be tried again, not before this time.
        case postponed(until: Int64, attempts: Int, unknownTries: Int)
    }

    /// The number of the push in the store.
    package var number: Int64
    /// The result.
    package var change: Change
    /// Whether Apple has reported the token as unregistered, which the store then records.
    package var isTokenDead: Bool

    /// Creates a settlement.
    package init(number: Int64, _ change: Change, isTokenDead: Bool = false) {
        self.number = number
        self.change = change
        self.isTokenDead = isTokenDead
    }
}

/// The status of a push.
package struct PushStatus: Sendable, Hashable {
    /// The stages of a push.
    package enum Place: Sendable, Hashable {
        /// The push waits to become due, to be claimed, or for earlier pushes with its order key.
        case accepted
        /// The push has been claimed to be sent.
        case inFlight
        /// The push ended at this time.
        case ended(Outcome, at: Int64)
    }

    /// The identifier.
    package var id: APNsID
    /// The lane.
    package var lane: Lane
    /// The time of acceptance.
    package var acceptedAt: Int64
    /// The stage.
    package var place: Place

    /// Creates a status.
    package init(id: APNsID, lane: Lane, acceptedAt: Int64, place: Place) {
        self.id = id
        self.lane = lane
        self.acceptedAt = acceptedAt
        self.place = place
    }
}

/// A token that Apple has reported as unregistered.
package struct DeadToken: Sendable, Hashable {
    /// The position in the feed of unregistered tokens; it increases with each report.
    package var cursor: Int64
    /// The token.
    package var token: DeviceToken
    /// The time when APNs last confirmed that the token is unregistered; nil when Apple did not report it.
    package var since: Int64?
    /// The time when the relay received the report.
    package var learntAt: Int64
    /// Apple's reason.
    package var reason: String

    /// Creates a record of an unregistered token.
    package init(cursor: Int64, token: DeviceToken, since: Int64?, learntAt: Int64, reason: String) {
        self.cursor = cursor
        self.token = token
        self.since = since
        self.learntAt = learntAt
        self.reason = reason
    }
}

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

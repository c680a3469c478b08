package import MartletCore

/// The connection that a push is sent over: one app in one of Apple's environments.
package struct Lane: Sendable, Hashable {
    /// The app's name in the relay.
    package var app: String
    /// The environment.
    package var environment: PushEnvironment

    /// Creates a lane.
    package init(app: String, environment: PushEnvironment) {
        self.app = app
        self.environment = environment
    }
}

/// One of Apple's two environments.
package enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    case production
    case development
}

/// The precedence of a push among the waiting pushes of its lane: `apns-priority` in three classes.
package enum Urgency: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Priority 10, also for a push without a priority, which APNs treats the same.
    case immediate
    /// Priority 5.
    case powerAware
    /// Priority 1.
    case powerFirst

    /// Creates the class for a value of `apns-priority`.
    package init(priority: String?) {
        self =
            switch priority {
            case "1": .powerFirst
            case "5": .powerAware
            default: .immediate
            }
    }

    /// Returns whether an urgency precedes another.
    package static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
}

/// The destination of a push.
package enum PushDestination: Sendable, Hashable {
    /// An app on a device, or a Live Activity.
    case device(DeviceToken)
    /// All subscribers of a channel of the app with this bundle identifier.
    case channel(ChannelID, bundle: String)
}

/// A push as it is stored: the caller's headers, and the bytes of the payload unchanged.
package struct OutboxPush: Sendable, Hashable {
    /// The lane.
    package var lane: Lane
    /// The identifier, unique in its app; it stays the same for all attempts.
    package var id: APNsID
    /// Whether the caller chose the identifier, and may therefore have submitted the push before.
    package var hasCallersID: Bool
    /// The destination.
    package var destination: PushDestination
    /// The headers as they are sent to Apple, except for the identifier, which is ``id``.
    package var headers: PushHeaders
    /// The payload, unchanged.
    package var payload: [UInt8]
    /// The request that ``headers`` and ``payload`` were built from; nil when the caller sent them itself.
    ///
    /// A push built from a request contains the time, so the same request sent again gives other bytes. Two pushes with
    /// one identifier are therefore compared by their requests. It is not stored.
    package var orderContent: [UInt8]?
    /// The earliest time to send the push, in milliseconds since 1970; nil for immediately.
    package var notBefore: Int64?
    /// The time when the push expires, in milliseconds since 1970; nil for never.
    package var expiresAt: Int64?
    /// The key of pushes that are sent in the order of acceptance; nil for a push that may be reordered.
    package var orderKey: String?
    /// The W3C trace context of the caller's request.
    package var traceParent: String?

    /// Creates a push, by default without optional values.
    package init(
        lane: Lane,
        id: APNsID,
        hasCallersID: Bool = false,
        destination: PushDestination,
        headers: PushHeaders,
        payload: [UInt8],
        orderContent: [UInt8]? = nil,
        notBefore: Int64? = nil,
        expiresAt: Int64? = nil,
        orderKey: String? = nil,
        traceParent: String? = nil
    ) {
        self.lane = lane
        self.id = id
        self.hasCallersID = hasCallersID
        self.destination = destination
        self.headers = headers
        self.payload = payload
        self.orderContent = orderContent
        self.notBefore = notBefore
        self.expiresAt = expiresAt
        self.orderKey = orderKey
        self.traceParent = traceParent
    }

    /// The urgency, by the header for the priority.
    package var urgency: Urgency { Urgency(priority: headers.priority) }
}

/// The answer of the outbox to a submitted push.
package enum Acceptance: Sendable, Hashable {
    /// The push is stored.
    case accepted
    /// The same push with the same identifier was accepted before and has this status.
    case duplicate(PushStatus)
    /// Another push has this identifier.
    case conflict
    /// Apple has reported the token as unregistered, and the device has not registered it again since.
    case suppressed(DeadToken)
    /// The maximum number of waiting pushes is reached.
    case full
}

/// A push that is to be sent now, with the counts of earlier attempts.
package struct ClaimedPush: Sendable, Hashable {
    /// The number of the push in the store.
    package var number: Int64
    /// The push.
    package var push: OutboxPush
    /// The time of acceptance, in milliseconds since 1970.
    package var acceptedAt: Int64
    /// The number of attempts that were answered or whose outcome is unknown.
    package var attempts: Int
    /// The number of attempts without an answer, including those that may have happened before a process crashed.
    package var unknownTries: Int

    /// Creates a claimed push.
    package init(number: Int64, push: OutboxPush, acceptedAt: Int64, attempts: Int, unknownTries: Int) {
        self.number = number
        self.push = push
        self.acceptedAt = acceptedAt
        self.attempts = attempts
        self.unknownTries = unknownTries
    }
}

/// The result of a claim.
package struct Claim: Sendable, Hashable {
    /// The pushes, longest waiting first.
    package var pushes: [ClaimedPush]
    /// The time when the next unclaimed push is due, in milliseconds since 1970; nil when there is none.
    ///
    /// It is in the past when the limit excluded due pushes.
    package var nextDue: Int64?

    /// Creates the result of a claim.
    package init(pushes: [ClaimedPush], nextDue: Int64?) {
        self.pushes = pushes
        self.nextDue = nextDue
    }
}

/// The waiting pushes of a lane.
package struct Backlog: Sendable, Hashable {
    /// The lane.
    package var lane: Lane
    /// The number of pushes that have not ended.
    package var count: Int
    /// The time when the push that has waited longest became due; nil while all pushes wait behind others.
    package var oldest: Int64?

    /// Creates a backlog.
    package init(lane: Lane, count: Int, oldest: Int64?) {
        self.lane = lane
        self.count = count
        self.oldest = oldest
    }
}

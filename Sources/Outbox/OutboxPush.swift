package import APNs

/// Whose connection a push goes over: one app in one of Apple's environments.
package struct Lane: Sendable, Hashable {
    /// The app's name in the relay.
    package var app: String
    /// Which of Apple's environments.
    package var environment: PushEnvironment

    /// A lane from its parts.
    package init(app: String, environment: PushEnvironment) {
        self.app = app
        self.environment = environment
    }
}

/// Which of Apple's two environments a push is for.
package enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    case production
    case development
}

/// How a push stands among those that wait in its lane: `apns-priority` in three classes.
package enum Urgency: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Priority 10, which is also what APNs takes a missing one for.
    case immediate
    /// Priority 5.
    case powerAware
    /// Priority 1.
    case powerFirst

    /// The class that the text of `apns-priority` belongs to.
    package init(priority: String?) {
        self =
            switch priority {
            case "1": .powerFirst
            case "5": .powerAware
            default: .immediate
            }
    }

    /// Whether one goes before another.
    package static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
}

/// Who a push is for.
package enum PushDestination: Sendable, Hashable {
    /// One app on one device, or one Live Activity.
    case device(DeviceToken)
    /// Everybody who listens on a channel of the app with this bundle identifier.
    case channel(ChannelID, bundle: String)
}

/// A push that was accepted, as it is kept: the words of its sender, and the payload's bytes as they came.
package struct OutboxPush: Sendable, Hashable {
    /// Whose connection it goes over.
    package var lane: Lane
    /// Its identifier, one in its app; it stays the same however often the push is sent.
    package var id: APNsID
    /// Whether the caller chose the identifier, and may have handed the push in before.
    package var hasCallersID: Bool
    /// Who it is for.
    package var destination: PushDestination
    /// The headers as they go to Apple, but for the identifier, which is ``id``.
    package var headers: PushHeaders
    /// The payload, byte for byte.
    package var payload: [UInt8]
    /// The order that ``headers`` and ``payload`` were made from; nil when the caller sent them itself.
    ///
    /// The push made from an order contains the time, so an order that is sent again gives other bytes. The comparison
    /// of two pushes with one identifier therefore uses the order. It is not stored.
    package var orderContent: [UInt8]?
    /// When it may be sent, at the earliest; nil for at once.
    package var notBefore: Int64?
    /// When it is of no use any more; nil when that never happens.
    package var expiresAt: Int64?
    /// What it keeps its order with; nil when it may overtake and be overtaken.
    package var orderKey: String?
    /// The W3C trace context that it came with.
    package var traceParent: String?

    /// A push from its parts; what is optional is not there by default.
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

    /// How it stands among others.
    package var urgency: Urgency { Urgency(priority: headers.priority) }
}

/// What the outbox says of a push that was handed in.
package enum Acceptance: Sendable, Hashable {
    /// It is kept.
    case accepted
    /// The same push with the same identifier has been accepted before: this is what is known of it.
    case duplicate(PushStatus)
    /// Another push has this identifier.
    case conflict
    /// Apple has called the token dead, and it has not been registered again since.
    case suppressed(DeadToken)
    /// So many pushes wait that no more are taken.
    case full
}

/// A push that is to be sent now, with what has been tried already.
package struct ClaimedPush: Sendable, Hashable {
    /// What the store knows it by.
    package var number: Int64
    /// The push.
    package var push: OutboxPush
    /// When it was accepted.
    package var acceptedAt: Int64
    /// Times that it was sent and answered, or might have been.
    package var attempts: Int
    /// Times that it was sent and never answered, or may have been when a process ended without order.
    package var unknownTries: Int

    /// A claimed push from its parts.
    package init(number: Int64, push: OutboxPush, acceptedAt: Int64, attempts: Int, unknownTries: Int) {
        self.number = number
        self.push = push
        self.acceptedAt = acceptedAt
        self.attempts = attempts
        self.unknownTries = unknownTries
    }
}

/// What a claim gave.
package struct Claim: Sendable, Hashable {
    /// The pushes, those that have waited longest first.
    package var pushes: [ClaimedPush]
    /// When the next one is due that was not given; nil when none is there.
    ///
    /// It lies in the past when the limit kept it back.
    package var nextDue: Int64?

    /// A claim from its parts.
    package init(pushes: [ClaimedPush], nextDue: Int64?) {
        self.pushes = pushes
        self.nextDue = nextDue
    }
}

/// What waits in a lane.
package struct Backlog: Sendable, Hashable {
    /// The lane.
    package var lane: Lane
    /// Pushes that have not ended.
    package var count: Int
    /// When the one became due that has waited longest; nil while all wait behind others.
    package var oldest: Int64?

    /// A backlog from its parts.
    package init(lane: Lane, count: Int, oldest: Int64?) {
        self.lane = lane
        self.count = count
        self.oldest = oldest
    }
}

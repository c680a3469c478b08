public import APNs
internal import Wire

/// What APNs gives for a push that it has accepted.
public struct PushReceipt: Sendable, Hashable {
    /// The push's identifier, as APNs returned it or, when it returned none, as it was sent.
    public let id: APNsID
    /// The key to the push's delivery log in Apple's console; only the development environment gives one.
    ///
    /// Source: "Handling notification responses from APNs".
    public let uniqueID: String?
    /// How many times the push was sent; 1 when the first try was accepted.
    public let attempts: Int
    /// Tries before the last that were sent and not answered: each of them may have been delivered, too.
    ///
    /// It is 0 unless ``RetryPolicy/unknownOutcome`` allows such tries, or something that is not APNs answered with
    /// status 500, 502 or 504.
    public let unknownTries: Int
    /// Where the time went.
    public let timing: SendTiming

    /// What the fields of an answer say of the push.
    init(_ fields: HTTPFields, of push: PendingPush) {
        id = fields.answeredID ?? push.id
        uniqueID = fields["apns-unique-id"]
        attempts = push.progress.attempts
        unknownTries = push.progress.unknownTries
        timing = push.progress.timing
    }
}

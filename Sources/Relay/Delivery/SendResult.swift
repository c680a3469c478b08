internal import APNs

/// How one try to send a push ended, as far as the relay has to know.
enum SendResult: Sendable, Hashable {
    /// Apple took it.
    case accepted(uniqueID: String?)
    /// Apple answered otherwise.
    case refused(status: Int, reason: Reason?, timestamp: Int64?, retryAfter: Int64?)
    /// It did not leave this machine, or Apple provably did not look at it: the connection is at fault, not the push.
    case neverSent(retryAfter: Int64?)
    /// It was sent and never answered.
    case unknown
}

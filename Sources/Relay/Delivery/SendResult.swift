internal import APNs

/// How one try to send a push ended, as far as the relay has to know.
enum SendResult: Sendable, Hashable {
    /// Apple took it.
    case accepted(uniqueID: String?)
    /// Apple answered otherwise.
    case refused(status: Int, reason: Reason?, timestamp: Int64?, retryAfter: Int64?)
    /// It did not leave this machine, or Apple provably did not look at it: the connection is at fault, not the push.
    ///
    /// The reason is the code of the client's error, such as `ConnectionFailed`, or Apple's reason if the client
    /// stopped because of that.
    case neverSent(reason: String, retryAfter: Int64?)
    /// It was sent and never answered.
    case unknown
}

extension SendResult {
    /// The reason of a failure, from a short list, for status and metrics; empty for a push that Apple accepted.
    var reason: String {
        switch self {
        case .accepted: ""
        case .refused(_, let reason, _, _): SendResult.listed(reason)
        case .neverSent(let reason, _): reason
        case .unknown: SendResult.noAnswer
        }
    }

    /// Whether the push was sent: Apple may have acted on it.
    var wasSent: Bool {
        if case .neverSent = self { false } else { true }
    }

    /// The reason of a try that Apple did not answer.
    static let noAnswer = "NoAnswer"

    /// A reason of Apple's; `other` for one that is not known, since servers could make up any number of them.
    static func listed(_ reason: Reason?) -> String {
        guard let reason else { return "" }
        return knownReasons.contains(reason) ? reason.rawValue : "other"
    }

    private static let knownReasons = Set(Reason.all)
}

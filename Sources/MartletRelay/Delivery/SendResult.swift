// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The result of an attempt to send a push.
enum SendResult: Sendable, Hashable {
    /// Apple accepted the push.
    case accepted(uniqueID: String?)
    /// Apple answered with another status.
    case refused(status: Int, reason: APNsReason?, timestamp: Int64?, retryAfter: Int64?)
    /// The push was not sent, or Apple certainly did not process it: the connection is at fault, not the push.
    ///
    /// The reason is the code of the client's error, such as `ConnectionFailed`, or Apple's reason if the client
    /// stopped because of that.
    case neverSent(reason: String, retryAfter: Int64?)
    /// The push was sent and not answered.
    case unknown
    /// The push was sent, and its connection or stream ended before the answer.
    case lost
}

extension SendResult {
    /// The reason of a failure, from a short list, for status and metrics; empty for a push that Apple accepted.
    var reason: String {
        switch self {
        case .accepted: ""
        case .refused(_, let reason, _, _): SendResult.listed(reason)
        case .neverSent(let reason, _): reason
        case .unknown: SendResult.noAnswer
        case .lost: LaneOutage.connectionLost
        }
    }

    /// The reason why a push is sent again, for people: Apple's status and reason, or that of a missing answer.
    var retryReason: String {
        switch self {
        case .refused(let status, let reason?, _, _): "\(status) \(reason.rawValue)"
        case .refused(let status, nil, _, _): "\(status)"
        case .accepted, .neverSent, .unknown, .lost: reason
        }
    }

    /// Whether the push was sent: Apple may have acted on it.
    var wasSent: Bool {
        if case .neverSent = self { false } else { true }
    }

    /// The reason of an attempt that Apple did not answer.
    static let noAnswer = "NoAnswer"

    /// Returns a reason of Apple; `other` for an unknown one, since the number of label values must be bounded.
    static func listed(_ reason: APNsReason?) -> String {
        guard let reason else { return "" }
        return knownReasons.contains(reason) ? reason.rawValue : "other"
    }

    private static let knownReasons = Set(APNsReason.all)
}

extension FailedAttempt {
    /// Creates the entry for the history of a push; nil if Apple accepted it.
    init?(_ result: SendResult, node: String, keyID: String, at now: Int64) {
        var status: Int?
        let reason: String
        switch result {
        case .accepted: return nil
        case .refused(let answered, let given, _, _):
            status = answered
            reason = given?.rawValue ?? ""
        case .neverSent, .unknown, .lost: reason = result.reason
        }
        self.init(time: now, node: node, keyID: keyID, status: status, reason: reason)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox

/// The numbers of attempts to send pushes and of outcomes since the start; ``RelayMetrics`` describes them.
struct DispatchCounts: Sendable {
    /// The labels of an answer to an attempt, each from a short list.
    struct Answer: Hashable {
        var lane: Lane
        var pushType: String
        var status: Int
        var reason: String
    }

    /// A lane, and a reason from a short list.
    struct Cause: Hashable {
        var lane: Lane
        var reason: String
    }

    /// The labels of delivery times: app and urgency.
    struct Class: Hashable {
        var app: String
        var urgency: Urgency
    }

    /// Consecutive attempts that Apple did not accept.
    struct Failing: Sendable, Hashable {
        /// The time of the first one, in milliseconds since 1970.
        var since: Int64
        /// The result of the last one, for people.
        var reason: String
    }

    /// A push that is sent again.
    private struct Retry {
        var id: APNsID
        /// The result of its last attempt, for people.
        var reason: String
    }

    /// The maximum number of pushes of a lane whose results are stored.
    private static let retryLimit = 32
    private static let pushTypes = Set(PushType.all.map(\.rawValue))

    private(set) var answers: [Answer: Int] = [:]
    private(set) var unsent: [Cause: Int] = [:]
    private(set) var retries: [Cause: Int] = [:]
    /// The attempts since Apple last accepted a push, by lane; none for a lane whose last attempt Apple accepted.
    private(set) var failing: [Lane: Failing] = [:]
    /// The latest pushes that are sent again, by lane, in the order of their last attempts.
    private var latestRetries: [Lane: [Retry]] = [:]
    /// The time that Apple took to answer, by lane.
    private(set) var answerTimes: [Lane: Histogram] = [:]
    /// The time from acceptance to Apple's final answer.
    private(set) var deliveryTimes: [Class: Histogram] = [:]
    private(set) var outcomes: [Lane: [Outcome.State: Int]] = [:]
    private(set) var deadLetters: [Cause: Int] = [:]
    /// Tokens that Apple has reported as unregistered, by app.
    private(set) var unregistered: [String: Int] = [:]

    /// The numbers of each lane since the start, for recent rates.
    private(set) var totals: [Lane: RecentRates.Totals] = [:]

    /// Pushes that were abandoned or found to be damaged, in all lanes.
    var abandoned: Int { outcomes.values.map { $0[.dead, default: 0] }.reduce(0, +) }

    /// Attempts to send a push, by lane; a push that was sent twice counts twice.
    var sent: [Lane: Int] {
        answers.reduce(into: [:]) { $0[$1.key.lane, default: 0] += $1.value }
    }

    /// The attempts that Apple did not accept, by lane and reason; an answer without a reason counts by its status.
    var failures: [Lane: [String: Int]] {
        var failures: [Lane: [String: Int]] = [:]
        for (answer, count) in answers where answer.status != 200 {
            let reason = answer.reason.isEmpty ? "Status \(answer.status)" : answer.reason
            failures[answer.lane, default: [:]][reason, default: 0] += count
        }
        for (cause, count) in unsent { failures[cause.lane, default: [:]][cause.reason, default: 0] += count }
        return failures
    }

    /// Returns the result of the last attempt, for people, of one of a lane's pushes that are sent again; nil if that
    /// is not known.
    func retryReason(of lane: Lane) -> String? { latestRetries[lane]?.last?.reason }

    mutating func answered(
        _ claimed: ClaimedPush,
        _ result: SendResult,
        _ decision: DeliveryPolicy.Decision?,
        _ time: Duration,
        at now: Int64
    ) {
        let (push, status) = (claimed.push, result.status)
        failing[push.lane] =
            status == 200 ? nil : Failing(since: failing[push.lane]?.since ?? now, reason: result.retryReason)
        recordRetry(claimed, result, decision)
        totals[push.lane, default: RecentRates.Totals()].attempted(wasSent: result.wasSent, isAccepted: status == 200)
        guard result.wasSent else {
            unsent[Cause(lane: push.lane, reason: result.reason), default: 0] += 1
            return
        }
        let pushType = push.headers.pushType ?? PushType.alert.rawValue
        let isKnown = DispatchCounts.pushTypes.contains(pushType)
        let type = isKnown ? pushType : "other"
        answers[Answer(lane: push.lane, pushType: type, status: status ?? 0, reason: result.reason), default: 0] += 1
        if status != nil { answerTimes[push.lane, default: .times].observe(time) }
        guard case .settle(let settlement) = decision else { return }
        if settlement.outcome == nil {
            retries[Cause(lane: push.lane, reason: result.reason), default: 0] += 1
        }
        if settlement.isTokenUnregistered { unregistered[push.lane.app, default: 0] += 1 }
    }

    /// Stores the result of an attempt after which the push is sent again, in place of that of an earlier one.
    private mutating func recordRetry(
        _ claimed: ClaimedPush,
        _ result: SendResult,
        _ decision: DeliveryPolicy.Decision?
    ) {
        guard let decision, !decision.isFinal else { return }
        // A failure of the lane, such as a missing connection, is not an attempt of the push.
        let isOfPush = if case .settle = decision { true } else { false }
        guard isOfPush || claimed.attempts > 0 else { return }
        let push = claimed.push
        forgetRetry(push.id, push.lane)
        latestRetries[push.lane, default: []].append(Retry(id: push.id, reason: result.retryReason))
        if latestRetries[push.lane].map({ $0.count > DispatchCounts.retryLimit }) ?? false {
            latestRetries[push.lane]?.removeFirst()
        }
    }

    /// Forgets a push that is not sent again, because it has ended.
    mutating func forgetRetry(_ id: APNsID, _ lane: Lane) {
        // Most pushes are not found, and nothing is searched before the first retry.
        guard let index = latestRetries[lane]?.firstIndex(where: { $0.id == id }) else { return }
        latestRetries[lane]?.remove(at: index)
    }

    mutating func ended(_ outcome: Outcome, _ lane: Lane) {
        outcomes[lane, default: [:]][outcome.state, default: 0] += 1
        if outcome.state == .delivered { totals[lane, default: RecentRates.Totals()].delivered += 1 }
        guard outcome.state == .dead else { return }
        let reason: String =
            switch outcome.reason {
            case SendResult.noAnswer: SendResult.noAnswer
            case LaneOutage.connectionLost: LaneOutage.connectionLost
            case Outcome.damagedReason: Outcome.damagedReason
            default: SendResult.listed(outcome.reason.map(APNsReason.init(rawValue:)))
            }
        deadLetters[Cause(lane: lane, reason: reason), default: 0] += 1
    }

    /// Measures the delivery time of a push that has ended with an answer of Apple.
    mutating func measure(_ push: ClaimedPush, _ outcome: Outcome, at now: Int64) {
        guard outcome.status != nil else { return }
        let time = Duration.milliseconds(now - push.acceptedAt)
        deliveryTimes[Class(app: push.push.lane.app, urgency: push.push.urgency), default: .times].observe(time)
    }
}

extension SendResult {
    /// Apple's status; nil without an answer.
    fileprivate var status: Int? {
        switch self {
        case .accepted: 200
        case .refused(let status, _, _, _): status
        case .neverSent, .unknown, .lost: nil
        }
    }
}

internal import APNs
internal import APNsClient
internal import Outbox

/// What a relay has counted since it was started.
struct RelayCounts {
    /// What an answer to a try is counted under; all of it comes from short lists.
    struct Answer: Hashable {
        var lane: Lane
        var pushType: String
        var status: Int
        var reason: String
    }

    /// Something that is counted by lane, and by a reason from a short list.
    struct Cause: Hashable {
        var lane: Lane
        var reason: String
    }

    /// What is measured by app and urgency.
    struct Class: Hashable {
        var app: String
        var urgency: Urgency
    }

    /// What an answer to a caller is measured under; all of it comes from short lists.
    struct Request: Hashable {
        var route: String
        var method: String
        var status: Int
    }

    /// What an export is counted under.
    struct Export: Hashable {
        var signal: TelemetrySignal
        var result: String
    }

    /// Pushes that were accepted, by app.
    var accepted: [String: Int] = [:]
    /// Pushes that were handed in again with the same identifier, by app.
    var duplicates: [String: Int] = [:]
    /// Pushes with the identifier of another, by app.
    var conflicts: [String: Int] = [:]
    /// Pushes for dead tokens, by app.
    var suppressed: [String: Int] = [:]
    /// Pushes that were not taken for want of room.
    private(set) var shed = 0
    /// Requests by caller.
    var callers = CallerCounts()
    /// Reports to webhooks, by app.
    var webhooks: [String: (succeeded: Int, failed: Int)] = [:]
    /// Callers that were refused.
    var refusedCallers = 0
    /// Connections with an unusual provider token, by its deviation from Apple's documentation.
    var unusualTokens: [ProviderTokenDeviation: Int] = [:]
    /// Requests about channels that Apple has accepted.
    var channelRequests = 0
    /// Pushes that were sent, by how the try ended.
    var answers: [Answer: Int] = [:]
    /// Tries that did not reach Apple, by the reason.
    var unsent: [Cause: Int] = [:]
    /// Tries after which there is to be another.
    var retries: [Cause: Int] = [:]
    /// How long Apple took to answer, by lane.
    var answerTimes: [Lane: Histogram] = [:]
    /// How long it took from acceptance to Apple's last word.
    var deliveryTimes: [Class: Histogram] = [:]
    /// How pushes ended, by lane.
    var outcomes: [Lane: [Outcome.State: Int]] = [:]
    /// Why pushes were given up.
    var deadLetters: [Cause: Int] = [:]
    /// Tokens that Apple has called dead, by app.
    var unregistered: [String: Int] = [:]
    /// How long callers waited for their answers.
    var requests: [Request: Histogram] = [:]
    /// Exports of spans and numbers, by how they ended.
    var exports: [Export: Int] = [:]
    /// Spans that a collector has taken.
    var spansExported = 0
    /// Spans that a collector has left out.
    var spansRejected = 0
    /// Spans that were given up, since no collector took them.
    var spansLost = 0
    /// How late the loop was for a timer.
    var loopLag = Histogram.times

    /// Pushes that were sent, by lane; a push that was sent twice counts twice.
    var sent: [Lane: Int] {
        answers.reduce(into: [:]) { $0[$1.key.lane, default: 0] += $1.value }
    }

    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    private static let pushTypes = Set(PushType.all.map(\.rawValue))

    /// A push was handed to the outbox, which has answered.
    mutating func noted(_ answer: Result<Acceptance, OutboxError>, _ app: String) {
        switch answer {
        case .success(.accepted): accepted[app, default: 0] += 1
        case .success(.duplicate): duplicates[app, default: 0] += 1
        case .success(.conflict): conflicts[app, default: 0] += 1
        case .success(.suppressed): suppressed[app, default: 0] += 1
        case .success(.full), .failure: break
        }
    }

    /// Pushes of a caller were not taken for want of room.
    mutating func shed(_ count: Int, by caller: String) {
        shed += count
        callers.shed(count, by: caller)
    }

    /// A try to send has ended.
    mutating func answered(
        _ push: OutboxPush,
        _ result: SendResult,
        _ verdict: DeliveryPolicy.Verdict?,
        _ time: Duration
    ) {
        guard result.wasSent else {
            unsent[Cause(lane: push.lane, reason: result.reason), default: 0] += 1
            return
        }
        let pushType = push.headers.pushType ?? PushType.alert.rawValue
        let isKnown = RelayCounts.pushTypes.contains(pushType)
        let status = result.status
        answers[
            Answer(
                lane: push.lane,
                pushType: isKnown ? pushType : "other",
                status: status ?? 0,
                reason: result.reason
            ),
            default: 0
        ] += 1
        if status != nil { answerTimes[push.lane, default: .times].observe(time) }
        if case .again = verdict { retries[Cause(lane: push.lane, reason: result.reason), default: 0] += 1 }
        if case .end(_, isTokenDead: true) = verdict { unregistered[push.lane.app, default: 0] += 1 }
    }

    /// A request was answered.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - route: The path without identifiers.
    ///   - status: The HTTP status.
    ///   - time: The time that it took.
    ///   - caller: The name of the caller; nil for a request that needs none.
    mutating func answered(_ method: String, _ route: String, status: Int, _ time: Duration, by caller: String?) {
        if let caller { callers.answered(caller, status: status) }
        let method = RelayCounts.methods.contains(method) ? method : "_OTHER"
        requests[Request(route: route, method: method, status: status), default: .times].observe(time)
    }

    /// A collector was asked to take an export.
    mutating func exported(
        _ signal: TelemetrySignal,
        _ answer: ExportAnswer,
        _ verdict: ExportSchedule.Verdict,
        spans: Int
    ) {
        let result: String
        switch verdict {
        case .taken:
            result = "taken"
            let rejected = signal == .traces ? min(Int(clamping: answer.rejected), spans) : 0
            spansRejected += rejected
            spansExported += spans - rejected
        case .again:
            result = "again"
        case .givenUp:
            result = "given up"
            spansLost += spans
        }
        exports[Export(signal: signal, result: result), default: 0] += 1
    }

    /// A push has ended.
    mutating func ended(_ outcome: Outcome, _ lane: Lane) {
        outcomes[lane, default: [:]][outcome.state, default: 0] += 1
        guard outcome.state == .dead else { return }
        let reason =
            outcome.reason == SendResult.noAnswer
            ? SendResult.noAnswer : SendResult.listed(outcome.reason.map(Reason.init(rawValue:)))
        deadLetters[Cause(lane: lane, reason: reason), default: 0] += 1
    }

    /// Apple has said its last word about a push, or the relay has.
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
        case .neverSent, .unknown: nil
        }
    }
}

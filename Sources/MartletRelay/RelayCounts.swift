internal import Martlet
internal import MartletCore
internal import MartletOutbox

/// The counters of a relay since it was started.
struct RelayCounts {
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

    /// The labels of an answer to a caller, each from a short list.
    struct Request: Hashable {
        var route: String
        var method: String
        var status: Int
    }

    /// The labels of an export.
    struct Export: Hashable {
        var signal: TelemetrySignal
        var result: String
    }

    /// Pushes that were accepted, by app.
    var accepted: [String: Int] = [:]
    /// Pushes that were submitted again with the same identifier, by app.
    var duplicates: [String: Int] = [:]
    /// Pushes with the identifier of another, by app.
    var conflicts: [String: Int] = [:]
    /// Pushes to tokens that Apple has reported as unregistered, by app.
    var suppressed: [String: Int] = [:]
    /// Pushes that were not accepted because of overload or the limit of the outbox.
    private(set) var shed = 0
    /// Requests by caller.
    var callers = CallerCounts()
    /// Reports to webhooks, by app.
    var webhooks: [String: (succeeded: Int, failed: Int)] = [:]
    /// Callers that were rejected.
    var refusedCallers = 0
    /// Clients whose TLS handshake failed.
    var failedHandshakes = 0
    /// Connections with an unusual provider token, by its deviation from Apple's documentation.
    var unusualTokens: [ProviderTokenDeviation: Int] = [:]
    /// Requests about channels that Apple has accepted.
    var channelRequests = 0
    /// Attempts to send a push, by their result.
    var answers: [Answer: Int] = [:]
    /// Attempts that did not reach Apple, by the reason.
    var unsent: [Cause: Int] = [:]
    /// Attempts after which the push is to be sent again.
    var retries: [Cause: Int] = [:]
    /// The time that Apple took to answer, by lane.
    var answerTimes: [Lane: Histogram] = [:]
    /// The time from acceptance to Apple's final answer.
    var deliveryTimes: [Class: Histogram] = [:]
    /// Outcomes of pushes, by lane.
    var outcomes: [Lane: [Outcome.State: Int]] = [:]
    /// Dead letters, by reason.
    var deadLetters: [Cause: Int] = [:]
    /// Tokens that Apple has reported as unregistered, by app.
    var unregistered: [String: Int] = [:]
    /// The time that callers waited for their answers.
    var requests: [Request: Histogram] = [:]
    /// Exports of spans and metrics, by their result.
    var exports: [Export: Int] = [:]
    /// Spans that a collector has accepted.
    var spansExported = 0
    /// Spans that a collector has rejected in an accepted export.
    var spansRejected = 0
    /// Spans that were dropped because no collector accepted them.
    var spansLost = 0
    /// The delay of the event loop's timers.
    var loopLag = Histogram.times

    /// Attempts to send a push, by lane; a push that was sent twice counts twice.
    var sent: [Lane: Int] {
        answers.reduce(into: [:]) { $0[$1.key.lane, default: 0] += $1.value }
    }

    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    private static let pushTypes = Set(PushType.all.map(\.rawValue))

    /// Counts the answer of the outbox to a submitted push.
    mutating func noted(_ answer: Result<Acceptance, OutboxError>, _ app: String) {
        switch answer {
        case .success(.accepted): accepted[app, default: 0] += 1
        case .success(.duplicate): duplicates[app, default: 0] += 1
        case .success(.conflict): conflicts[app, default: 0] += 1
        case .success(.suppressed): suppressed[app, default: 0] += 1
        case .success(.full), .failure: break
        }
    }

    /// Counts pushes of a caller that were not accepted because of overload or the limit of the outbox.
    mutating func shed(_ count: Int, by caller: String) {
        shed += count
        callers.shed(count, by: caller)
    }

    /// Counts pushes of a caller that were refused before they were looked at.
    mutating func refused(_ count: Int, by caller: String, _ refusal: LoadGate.Refusal) {
        switch refusal {
        case .storeDoesNotAnswer: callers.notStored(count, by: caller)
        case .outboxIsFull, .tooManyIncoming: shed(count, by: caller)
        }
    }

    /// Counts an attempt to send a push.
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

    /// Counts an answered request.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - route: The path without identifiers.
    ///   - status: The HTTP status.
    ///   - time: The duration of the request.
    ///   - caller: The name of the caller; nil for a request that needs none.
    mutating func answered(_ method: String, _ route: String, status: Int, _ time: Duration, by caller: String?) {
        if let caller { callers.answered(caller, status: status) }
        let method = RelayCounts.methods.contains(method) ? method : "_OTHER"
        requests[Request(route: route, method: method, status: status), default: .times].observe(time)
    }

    /// Counts an export to a collector.
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

    /// Counts a push that has ended.
    mutating func ended(_ outcome: Outcome, _ lane: Lane) {
        outcomes[lane, default: [:]][outcome.state, default: 0] += 1
        guard outcome.state == .dead else { return }
        let reason =
            outcome.reason == SendResult.noAnswer
            ? SendResult.noAnswer : SendResult.listed(outcome.reason.map(Reason.init(rawValue:)))
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
        case .neverSent, .unknown: nil
        }
    }
}

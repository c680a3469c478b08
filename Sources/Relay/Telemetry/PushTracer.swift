internal import APNs
internal import Outbox

/// Makes the spans of pushes whose traces are recorded, and keeps them until they are exported: a value, no clock.
///
/// A push has one span from when it came in until it was kept, and one for each try to send it, all in the trace of its
/// caller: the push itself carries the trace across the outbox. Times are in microseconds since 1970.
struct PushTracer {
    /// A push that has come in and is recorded.
    struct Arrival {
        fileprivate var span: Span
    }

    /// Spans that wait; what comes on top is dropped.
    static let limit = 20_000

    /// The share of traces that is recorded of those that begin here, 0 to 1.
    private let share: Double
    private var spans: [Span] = []
    /// Spans that were dropped, since nobody took the others in time.
    private(set) var dropped = 0

    init(share: Double) {
        self.share = share
    }

    /// A push has come in.
    ///
    /// - Parameters:
    ///   - push: The push, which is given the trace to carry.
    ///   - time: The time.
    ///   - generator: The source of identifiers and of chance.
    /// - Returns: What ``kept(_:_:at:)`` is to be given; nil for a push that is not recorded.
    func arrived(
        _ push: inout OutboxPush,
        at time: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Arrival? {
        let caller = push.traceParent.flatMap(TraceContext.init)
        if let caller, !caller.isSampled { return nil }
        if caller == nil, !(Double.random(in: 0..<1, using: &generator) < share) { return nil }
        let context = TraceContext(
            traceID: caller?.traceID ?? hexadecimal(generator.next()) + hexadecimal(generator.next()),
            spanID: hexadecimal(generator.next()),
            isSampled: true
        )
        push.traceParent = context.text
        let span = Span(
            name: "push publish",
            kind: .producer,
            context: context,
            parentID: caller?.spanID,
            start: time,
            end: time,
            attributes: PushTracer.attributes(of: push, "create")
        )
        return Arrival(span: span)
    }

    /// The outbox has answered for a push.
    mutating func kept(_ arrival: Arrival, _ answer: Result<Acceptance, OutboxError>, at time: Int64) {
        var span = arrival.span
        span.end = time
        switch answer {
        case .success(.accepted): break
        case .success(.duplicate): span.attributes.append(Attribute("martlet.acceptance", "duplicate"))
        case .success(.conflict): span.error = "conflict"
        case .success(.suppressed): span.error = "suppressed"
        case .success(.full): span.error = "full"
        case .failure: span.error = "unavailable"
        }
        add(span)
    }

    /// A try to send a push has ended.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - result: How it ended.
    ///   - server: Whom it was sent to.
    ///   - duration: How long that took, in microseconds.
    ///   - time: The time.
    ///   - generator: The source of identifiers.
    mutating func sent(
        _ push: ClaimedPush,
        _ result: SendResult,
        to server: String,
        took duration: Int64,
        at time: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        guard let arrival = push.push.traceParent.flatMap(TraceContext.init), arrival.isSampled else { return }
        var span = Span(
            name: "push send",
            kind: .client,
            context: TraceContext(traceID: arrival.traceID, spanID: hexadecimal(generator.next()), isSampled: true),
            parentID: arrival.spanID,
            start: time - duration,
            end: time,
            attributes: PushTracer.attributes(of: push.push, "send")
        )
        span.attributes += [
            Attribute("http.request.method", "POST"), Attribute("server.address", server),
            Attribute("network.protocol.version", "2"), Attribute("martlet.attempt", push.attempts + 1),
        ]
        if push.unknownTries > 0 { span.attributes.append(Attribute("martlet.unknown_tries", push.unknownTries)) }
        switch result {
        case .accepted: span.attributes.append(Attribute("http.response.status_code", 200))
        case .refused(let status, let reason, _, _):
            span.attributes.append(Attribute("http.response.status_code", status))
            span.error = reason?.rawValue ?? String(status)
        case .neverSent(let reason, _): span.error = reason
        case .unknown: span.error = "NoAnswer"
        }
        add(span)
    }

    /// The spans that have waited longest.
    mutating func take(_ limit: Int) -> [Span] {
        defer { spans.removeFirst(min(limit, spans.count)) }
        return Array(spans.prefix(limit))
    }

    private mutating func add(_ span: Span) {
        guard spans.count < PushTracer.limit else {
            dropped += 1
            return
        }
        spans.append(span)
    }

    /// What is told of a push: no token and no payload.
    private static func attributes(of push: OutboxPush, _ operation: String) -> [Attribute] {
        let bundle: String
        switch push.destination {
        case .device: bundle = Topic(push.headers.topic ?? "").bundleIdentifier
        case .channel(_, let name): bundle = name
        }
        return [
            Attribute("messaging.system", "apns"), Attribute("messaging.operation.type", operation),
            Attribute("messaging.destination.name", bundle),
            Attribute("messaging.message.id", push.id.description),
            Attribute("messaging.message.body.size", push.payload.count), Attribute("martlet.app", push.lane.app),
            Attribute("martlet.environment", push.lane.environment.rawValue),
        ]
    }

    /// 16 hexadecimal digits, not all of them 0, which would be no identifier.
    private func hexadecimal(_ number: UInt64) -> String {
        let digits = String(max(number, 1), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

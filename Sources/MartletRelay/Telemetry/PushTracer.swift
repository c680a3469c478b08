// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// A recorder of spans for sampled pushes, which buffers them until they are exported.
///
/// A push has one span from its arrival until it is stored, and one for each attempt to send it, all in the trace of
/// the caller's request. The trace context is stored with the push. Times are in microseconds since 1970.
struct PushTracer {
    /// A sampled push that has arrived.
    struct Arrival: Sendable {
        fileprivate var span: Span
    }

    /// The maximum number of buffered spans; further spans are dropped.
    static let limit = 20_000

    /// The fraction of traces to sample among those that begin in the relay, 0 to 1.
    private let share: Double
    /// The source of identifiers and of the random sample.
    private var generator: SplitMix64
    private var spans: [Span] = []
    /// The number of spans that were dropped because the buffer was full.
    private(set) var dropped = 0

    init(share: Double, seed: UInt64) {
        self.share = share
        generator = SplitMix64(state: seed)
    }

    /// Begins the span of a push that has arrived, and sets its trace context; returns nil if it is not sampled.
    mutating func arrived(_ push: inout OutboxPush, at time: Int64) -> Arrival? {
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

    /// Records the span of a push for which the outbox has answered.
    mutating func stored(_ arrival: Arrival, _ answer: Result<Acceptance, OutboxError>, at time: Int64) {
        var span = arrival.span
        span.end = time
        switch answer {
        case .success(.accepted), .success(.superseding): break
        case .success(.duplicate): span.attributes.append(Attribute("martlet.acceptance", "duplicate"))
        case .success(.conflict): span.error = "conflict"
        case .success(.suppressed): span.error = "suppressed"
        case .success(.formerUser): span.error = "former-user"
        case .success(.limited): span.error = "limited"
        case .success(.full): span.error = "full"
        case .success(.vanished): span.error = "vanished"
        case .success(.contested): span.error = "contested"
        case .failure: span.error = "unavailable"
        }
        add(span)
    }

    /// Records the span of an attempt to send a push to a host, which took this time in microseconds.
    mutating func sent(
        _ push: ClaimedPush,
        _ result: SendResult,
        to server: String,
        took duration: Int64,
        at time: Int64
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
        case .neverSent, .unknown, .lost: span.error = result.reason
        }
        add(span)
    }

    /// Removes and returns the oldest spans.
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

    /// Returns the attributes of a push, without its token and its payload.
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

    /// Returns 16 hexadecimal digits, not all of them 0, which would be an invalid identifier.
    private func hexadecimal(_ number: UInt64) -> String {
        let digits = String(max(number, 1), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

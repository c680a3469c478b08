internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport
internal import Synchronization

/// The recorder of the spans of a relay, which the exporter reads on a thread of its own.
final class SpanRecorder: Sendable {
    private let tracer: Mutex<PushTracer>
    private let clock: WallClock

    /// Creates a recorder that samples a fraction of the traces that begin in the relay.
    init(share: Double, clock: WallClock) {
        tracer = Mutex(PushTracer(share: share, seed: .random(in: .min ... .max)))
        self.clock = clock
    }

    /// The number of spans that were dropped because the buffer was full.
    var dropped: Int { tracer.withLock { $0.dropped } }

    /// Begins the span of a push that has arrived, and returns the push with the trace context of the span.
    func arrived(_ push: OutboxPush) -> (push: OutboxPush, arrival: PushTracer.Arrival?) {
        let time = clock.microsecondsSince1970()
        return tracer.withLock { tracer in
            var push = push
            let arrival = tracer.arrived(&push, at: time)
            return (push, arrival)
        }
    }

    func stored(_ arrival: PushTracer.Arrival, _ answer: Result<Acceptance, OutboxError>) {
        let time = clock.microsecondsSince1970()
        tracer.withLock { $0.stored(arrival, answer, at: time) }
    }

    /// Records the span of an attempt to send a push, which took this time in microseconds.
    func sent(_ push: ClaimedPush, _ result: SendResult, to server: String, took duration: Int64) {
        let time = clock.microsecondsSince1970()
        tracer.withLock { $0.sent(push, result, to: server, took: duration, at: time) }
    }

    /// Removes and returns the oldest spans.
    func take(_ limit: Int) -> [Span] { tracer.withLock { $0.take(limit) } }
}

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport
internal import Synchronization

/// The recorder of the spans of a relay, which the exporter reads on a thread of its own.
final class SpanRecorder: Sendable {
    private struct State {
        var tracer: PushTracer
        var generator = SplitMix64(state: .random(in: .min ... .max))
    }

    private let state: Mutex<State>
    private let clock: WallClock

    /// Creates a recorder that samples a fraction of the traces that begin in the relay.
    init(share: Double, clock: WallClock) {
        state = Mutex(State(tracer: PushTracer(share: share)))
        self.clock = clock
    }

    /// The number of spans that were dropped because the buffer was full.
    var dropped: Int { state.withLock { $0.tracer.dropped } }

    /// Begins the span of a push that has arrived.
    ///
    /// - Returns: The push with the trace context of the span, and the value to pass to ``stored(_:_:)``; nil for a
    ///   push that is not sampled.
    func arrived(_ push: OutboxPush) -> (push: OutboxPush, arrival: PushTracer.Arrival?) {
        let time = clock.microsecondsSince1970()
        return state.withLock { state in
            var push = push
            let arrival = state.tracer.arrived(&push, at: time, using: &state.generator)
            return (push, arrival)
        }
    }

    func stored(_ arrival: PushTracer.Arrival, _ answer: Result<Acceptance, OutboxError>) {
        let time = clock.microsecondsSince1970()
        state.withLock { $0.tracer.stored(arrival, answer, at: time) }
    }

    /// Records the span of an attempt to send a push, which took this time in microseconds.
    func sent(_ push: ClaimedPush, _ result: SendResult, to server: String, took duration: Int64) {
        let time = clock.microsecondsSince1970()
        state.withLock { state in
            state.tracer.sent(
                push,
                result,
                to: server,
                took: duration,
                at: time,
                using: &state.generator
            )
        }
    }

    /// Removes and returns the oldest spans.
    func take(_ limit: Int) -> [Span] { state.withLock { $0.tracer.take(limit) } }
}

internal import Synchronization

/// Passes what happens to a client on to everybody who listens.
final class EventFeed: Sendable {
    private struct State {
        var listeners: [AsyncStream<ClientEvent>.Continuation] = []
        var isFinished = false
    }

    /// Events that are held for a listener that has not read them.
    private static let backlogLimit = 1_000

    private let state = Mutex(State())

    /// What happens from now on.
    func listen() -> AsyncStream<ClientEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ClientEvent.self,
            bufferingPolicy: .bufferingNewest(EventFeed.backlogLimit)
        )
        state.withLock { state in
            if state.isFinished { continuation.finish() } else { state.listeners.append(continuation) }
        }
        return stream
    }

    /// Tells everybody.
    func report(_ event: ClientEvent) {
        state.withLock { state in
            state.listeners.removeAll { listener in
                if case .terminated = listener.yield(event) { true } else { false }
            }
        }
    }

    /// Nothing more will happen.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [] }
            state.isFinished = true
            return state.listeners
        }
        for listener in listeners { listener.finish() }
    }
}

internal import Synchronization

/// The distribution of a client's events to all listeners.
final class EventFeed: Sendable {
    private struct State {
        var listeners: [AsyncStream<ClientEvent>.Continuation] = []
        var isFinished = false
    }

    /// The maximum number of unread events that are stored for a listener.
    private static let backlogLimit = 1_000

    private let state = Mutex(State())

    /// Returns a stream of the events from now on.
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

    /// Sends an event to all listeners.
    func report(_ event: ClientEvent) {
        state.withLock { state in
            state.listeners.removeAll { listener in
                if case .terminated = listener.yield(event) { true } else { false }
            }
        }
    }

    /// Finishes the streams of all listeners.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [] }
            state.isFinished = true
            return state.listeners
        }
        for listener in listeners { listener.finish() }
    }
}

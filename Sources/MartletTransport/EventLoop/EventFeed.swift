// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A distribution of events to listeners, each of which reads them as an asynchronous sequence.
package final class EventFeed<Event: Sendable>: Sendable {
    private struct Listener {
        /// Passes an event on; returns false when the sequence has ended.
        let pass: @Sendable (Event) -> Bool
        let finish: @Sendable () -> Void
    }

    private struct State {
        var listeners: [Listener] = []
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Creates a feed without listeners.
    package init() {}

    /// The number of listeners, including those that have stopped reading since the last event.
    package var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// Returns a sequence of the events from now on, until ``finish()``.
    ///
    /// - Parameters:
    ///   - policy: The buffering policy for unread elements.
    ///   - endsWhenFull: Whether the sequence ends when an element does not fit into the buffer; false by default.
    ///   - earlier: The elements that the sequence begins with; none by default.
    ///   - transform: Returns the element for an event; nil to leave the event out.
    /// - Returns: The sequence, for one reader.
    package func listen<Element: Sendable>(
        buffering policy: AsyncStream<Element>.Continuation.BufferingPolicy,
        endsWhenFull: Bool = false,
        after earlier: [Element] = [],
        _ transform: @escaping @Sendable (Event) -> Element?
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        for element in earlier { continuation.yield(element) }
        let listener = Listener(
            pass: { event in
                guard let element = transform(event) else { return true }
                switch continuation.yield(element) {
                case .enqueued: return true
                case .dropped: return !endsWhenFull
                case .terminated: return false
                @unknown default: return false
                }
            },
            finish: { continuation.finish() }
        )
        let isFinished = state.withLock { state in
            if !state.isFinished { state.listeners.append(listener) }
            return state.isFinished
        }
        if isFinished { continuation.finish() }
        return stream
    }

    package func report(_ event: Event) {
        report(contentsOf: CollectionOfOne(event))
    }

    /// Passes events to all listeners, in order.
    package func report(contentsOf events: some Collection<Event>) {
        let ended = state.withLock { state in
            var ended: [Listener] = []
            state.listeners.removeAll { listener in
                guard !events.allSatisfy(listener.pass) else { return false }
                ended.append(listener)
                return true
            }
            return ended
        }
        for listener in ended { listener.finish() }
    }

    /// Ends the sequences of all listeners, and those of later ones.
    package func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [] }
            state.isFinished = true
            return state.listeners
        }
        for listener in listeners { listener.finish() }
    }
}

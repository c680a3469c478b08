/// The server-sent events of one listener: first the stored events that it missed, then further ones as they happen.
///
/// The stored events are read and encoded in pieces, when the listener's connection has room for the next one. A client
/// that does not read costs nothing, and pushes are handled between the pieces.
struct OutcomeStream: AsyncSequence, Sendable {
    /// The part of the stored events that a listener has not read yet.
    struct Replay: Sendable {
        /// The number of the next event.
        var next: Int
        /// The number of the last event that happened before the listener was added.
        let last: Int
        /// Whether events were missed that are not stored any more, which the listener does not know yet.
        var hasGap = false

        /// Whether no event is left.
        var isOver: Bool { next > last && !hasGap }
        /// The number of events to look through.
        var count: Int { Swift.max(0, last - next + 1) }
    }

    let relay: PushRelay
    /// The number of the listener.
    let listener: Int
    let replay: Replay
    /// The events that happen after the listener was added.
    let further: AsyncStream<[UInt8]>

    func makeAsyncIterator() -> Iterator {
        Iterator(relay: relay, listener: listener, replay: replay, further: further.makeAsyncIterator())
    }

    /// Reads the stored events, then the further ones.
    struct Iterator: AsyncIteratorProtocol {
        fileprivate let relay: PushRelay
        fileprivate let listener: Int
        fileprivate var replay: Replay
        fileprivate var further: AsyncStream<[UInt8]>.Iterator
        /// Whether the stream ended during the replay, so that further events would leave a gap.
        private var hasEnded = false

        fileprivate init(
            relay: PushRelay,
            listener: Int,
            replay: Replay,
            further: AsyncStream<[UInt8]>.Iterator
        ) {
            self.relay = relay
            self.listener = listener
            self.replay = replay
            self.further = further
        }

        mutating func next() async -> [UInt8]? { await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async -> [UInt8]? {
            while !hasEnded, !replay.isOver {
                guard let piece = await relay.events.piece(of: replay, for: listener) else {
                    hasEnded = true
                    break
                }
                replay = piece.rest
                // Encoded here, away from the relay's loop.
                let bytes = piece.bytes
                if !bytes.isEmpty { return bytes }
            }
            return hasEnded ? nil : await further.next(isolation: actor)
        }
    }
}

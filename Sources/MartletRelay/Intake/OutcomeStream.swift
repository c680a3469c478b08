// SPDX-License-Identifier: Apache-2.0

/// The server-sent events of one listener: first the stored events that it missed, then further events as they occur.
///
/// The stored events are read and encoded in pieces, each when the listener's connection can accept more output. A
/// client that does not read therefore costs nothing, and pushes are processed between the pieces.
struct OutcomeStream: AsyncSequence, Sendable {
    /// The part of the stored events that a listener has not read yet.
    struct Replay: Sendable {
        /// The number of the next event.
        var next: Int
        /// The number of the last event before the listener was added.
        let last: Int
        /// Whether the listener has yet to be informed that it missed events that are not stored any more.
        var hasGap = false

        /// Whether no event is left.
        var isOver: Bool { next > last && !hasGap }
        /// The number of events to search.
        var count: Int { Swift.max(0, last - next + 1) }
    }

    let intake: Intake
    let listener: Int
    let replay: Replay
    /// The events after the listener was added.
    let further: AsyncStream<[UInt8]>

    func makeAsyncIterator() -> Iterator {
        Iterator(intake: intake, listener: listener, replay: replay, further: further.makeAsyncIterator())
    }

    /// An iterator over the stored events and then the further ones.
    struct Iterator: AsyncIteratorProtocol {
        fileprivate let intake: Intake
        fileprivate let listener: Int
        fileprivate var replay: Replay
        fileprivate var further: AsyncStream<[UInt8]>.Iterator
        /// Whether the stream ended during the replay, so that further events would leave a gap.
        fileprivate var hasEnded = false

        mutating func next() async -> [UInt8]? { await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async -> [UInt8]? {
            while !hasEnded, !replay.isOver {
                guard let piece = await intake.events.piece(of: replay, for: listener) else {
                    hasEnded = true
                    break
                }
                replay = piece.rest
                // Encoded here, off the relay's event loop.
                let bytes = piece.bytes
                if !bytes.isEmpty { return bytes }
            }
            return hasEnded ? nil : await further.next(isolation: actor)
        }
    }
}

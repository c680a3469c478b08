extension HTTP2Connection {
    /// What a connection reports to its owner.
    package enum Event {
        /// The TLS handshake is done and requests may be sent.
        case ready
        /// A client asks (servers only): the whole request is in the stream, see ``HTTP2Stream/isBodyTooLong``.
        case request(HTTP2Stream)
        /// The stream of a request has ended (clients only): each has this once, with whoever sent it.
        case ended(HTTP2Stream, sender: AnyObject?, StreamOutcome)
        /// The stream of a request that was reported has ended (servers only), before ``closed(_:)``; `isAnswered` tells
        /// whether all of an answer was written to the connection.
        case served(HTTP2Stream, isAnswered: Bool)
        /// The peer's settings have arrived or changed; see ``peerConcurrentStreams``.
        case settings
        /// The peer takes no more streams.
        case goAway(HTTP2GoAway)
        /// The peer answered ``ping()``.
        case pong
        /// The connection is over, in order or by an error; what was open on it ends right after.
        case closed(WireError)
        /// All has been told that arrived together, always the last event, also after `closed`: the time to act on many
        /// ends of streams at once.
        case caughtUp
    }
}

extension HTTP2Connection {
    /// What a connection reports to its owner.
    package enum Event {
        /// The TLS handshake is done and requests may be sent.
        case ready
        /// A client asks (servers only): the whole request is in the stream, see ``HTTP2Stream/isBodyTooLong``.
        case request(HTTP2Stream)
        /// The stream of a request has ended (clients only): each has this once, with whoever sent it.
        case ended(HTTP2Stream, sender: AnyObject?, StreamOutcome)
        /// The stream of a request has ended (servers only), before ``closed(_:)``; `isAnswered` tells whether all of
        /// an answer was written to the connection.
        ///
        /// A request that is not ``HTTP2Stream/isReported`` ended without ``request(_:)``, because it is malformed, or
        /// because its fields were too long, which is answered with status 431.
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

    /// Reports an event of the session.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - isWritten: Whether all output that led to it has been written.
    ///   - owner: The handler at the time of the event: the owner may end the connection on the way.
    func report(_ event: HTTP2Event, _ isWritten: Bool, to owner: ((Event) -> Void)?) {
        switch event {
        case .request(let stream):
            guard session.takes(stream) else { return }
            guard !stream.areFieldsTooLong else {
                return session.answer(stream, with: HTTP2Connection.fieldsTooLong)
            }
            session.reported(stream)
            onEvent?(.request(stream))
        case .closed(let stream, let code):
            guard role == .client else {
                if stream.isCounted { owner?(.served(stream, isAnswered: isWritten && stream.isAnswerWritten)) }
                return
            }
            owner?(.ended(stream, sender: stream.sender.take(), session.outcome(of: stream, closedWith: code)))
        case .goAway(let goAway):
            onEvent?(.goAway(goAway))
        case .settings:
            watch?.greeted()
            onEvent?(.settings)
        case .refused:
            break
        case .pong:
            if announcedDebugData == nil { onEvent?(.pong) } else { finishShutdown() }
        }
    }

    /// Request Header Fields Too Large (RFC 6585 §5), the answer that RFC 9113 §10.5.1 suggests.
    private static let fieldsTooLong = HTTPResponse(status: 431)
}

// SPDX-License-Identifier: Apache-2.0

extension HTTP2Connection {
    /// An event that a connection reports to its owner.
    package enum Event {
        /// The TLS handshake is complete and requests may be sent.
        case ready
        /// A client has sent a complete request (servers only), or a body that is too long; see
        /// ``HTTP2Stream/isBodyTooLong``.
        case request(HTTP2Stream)
        /// The stream of a request has ended (clients only); reported once per request, with the sender passed to
        /// ``send(_:body:for:)``.
        case ended(HTTP2Stream, sender: AnyObject?, StreamOutcome)
        /// The stream of a request has ended (servers only); reported before ``closed(_:)``. `isAnswered` states
        /// whether a complete response was written to the connection.
        ///
        /// A request that is not ``HTTP2Stream/isReported`` ended without ``request(_:)``: it was malformed, or its
        /// fields were too long, which is answered with status 431.
        case served(HTTP2Stream, isAnswered: Bool)
        /// The peer's settings have arrived or changed; see ``peerConcurrentStreams``.
        case settings
        /// The peer accepts no further streams.
        case goAway(HTTP2GoAway)
        /// The peer has answered ``ping()``.
        case pong
        /// The connection is closed, in order or by an error; the ends of its open requests follow immediately.
        case closed(TransportError)
        /// All events that arrived together have been reported. This is always the last event, also after `closed`, at
        /// which the owner can handle many ended streams at once.
        case caughtUp
    }

    /// Reports an event of the session to the owner.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - isWritten: Whether all output that led to the event has been written.
    ///   - owner: The event handler at the start of reporting; the owner may close the connection in between.
    func report(_ event: HTTP2Event, _ isWritten: Bool, to owner: ((Event) -> Void)?) {
        switch event {
        case .request(let stream):
            guard session.takes(stream) else { return }
            guard !stream.areFieldsTooLong else {
                return session.answer(stream, with: HTTP2Connection.fieldsTooLong)
            }
            session.callbackState.reported(stream)
            onEvent?(.request(stream))
        case .closed(let stream, let code):
            if role == .client {
                owner?(.ended(stream, sender: stream.sender.take(), session.outcome(of: stream, closedWith: code)))
            } else if stream.isCounted {
                owner?(.served(stream, isAnswered: isWritten && stream.isAnswerWritten))
            }
        case .goAway(let goAway):
            onEvent?(.goAway(goAway))
        case .settings:
            served?.timeouts.receivedSettings()
            onEvent?(.settings)
        case .refused:
            break
        case .pong:
            if !finishShutdown() { onEvent?(.pong) }
        }
    }

    /// Request Header Fields Too Large (RFC 6585 §5), the response that RFC 9113 §10.5.1 suggests.
    private static let fieldsTooLong = HTTPResponse(status: 431)
}

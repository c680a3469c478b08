// SPDX-License-Identifier: Apache-2.0

/// The operations and statistics of a connection; output is written at the end of the turn.
extension HTTP2Connection {
    /// Whether requests may be sent.
    package var isOpen: Bool {
        if case .open = phase { true } else { false }
    }

    /// The properties of the peer's certificate; nil when it has presented none.
    package var peerCertificate: CertificateFacts? { transport?.value.peerCertificate }

    /// The parameters negotiated in the TLS handshake; nil in cleartext, and when the connection is closed.
    package var security: TransportSecurity? { transport?.value.security }

    package var openStreamCount: Int { session.callbackState.openStreamCount }

    /// The number of the peer's streams that were refused because a limit was reached (servers only).
    package var refusedStreamCount: Int { session.callbackState.bounds.refusedStreamCount }

    package var resetStreamCount: Int { session.callbackState.resetStreamCount }

    /// The last GOAWAY frame that was written to the peer; nil when none was written.
    package var goAwaySent: HTTP2GoAway? { session.callbackState.goAwaySent }

    /// The maximum number of concurrent streams that the peer allows, by its last settings.
    package var peerConcurrentStreams: UInt32 { session.peerConcurrentStreams }

    /// Answers a request (servers only); has no effect when its stream has ended.
    package func answer(_ stream: HTTP2Stream, with response: HTTPResponse) {
        stream.began = loop.now
        session.answer(stream, with: response)
        scheduleFlush()
    }

    /// Resets a stream; a client's is then reported as ended without a response.
    package func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        session.reset(stream, code)
        scheduleFlush()
    }

    /// Changes the maximum number of concurrent streams of the peer.
    package func allow(concurrentStreams: UInt32) {
        session.allow(concurrentStreams: concurrentStreams)
        scheduleFlush()
    }

    /// Sends a PING; its acknowledgement is reported as ``Event/pong``.
    package func ping() {
        session.ping()
        scheduleFlush()
    }

    /// Changes the flow-control window of streams, in octets.
    package func allow(octetsPerStream: UInt32) {
        session.allow(octetsPerStream: octetsPerStream)
        scheduleFlush()
    }

    /// Sends a GOAWAY and closes the connection when the streams up to `lastStreamID`, by default all existing ones,
    /// have ended.
    package func goAway(_ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = [], lastStreamID: Int32? = nil) {
        // nghttp2 would write the frame before the DATA of responses that wait for the end of the turn, and some
        // clients stop reading after a GOAWAY.
        if role == .server { flush() }
        session.goAway(code, debugData: debugData, lastStreamID: lastStreamID)
        scheduleFlush()
    }

    /// Shuts down gracefully (servers only; RFC 9113 §6.8): announces a GOAWAY, sends the final one when the client has
    /// answered a PING, so that it includes every stream that was being opened, and closes when the open streams have
    /// ended.
    package func shutDown(debugData: [UInt8]) {
        guard served?.announceShutdown(debugData: debugData) == true else { return }
        flush()
        session.announceGoAway()
        // The PING must follow the GOAWAY, but nghttp2 writes queued PINGs first.
        flush()
        ping()
        loop.schedule(after: HTTP2Connection.drainingLimit) { [weak self] in self?.finishShutdown() }
    }

    /// Sends the final GOAWAY of a graceful shutdown; returns false when none was announced.
    @discardableResult
    func finishShutdown() -> Bool {
        guard let debugData = served?.finishShutdown() else { return false }
        if isOpen { goAway(debugData: debugData) }
        return true
    }
}

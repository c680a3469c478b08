/// What owners ask about a connection, and what they have it send at the end of the turn.
extension HTTP2Connection {
    /// How many streams are open.
    package var openStreamCount: Int { session.openStreamCount }

    /// The number of streams of the peer that were refused because too many were open (servers only).
    package var refusedStreamCount: Int { session.refusedStreamCount }

    /// The number of streams that the peer has reset.
    package var resetStreamCount: Int { session.resetStreamCount }

    /// The last GOAWAY frame that was written to the peer; nil when there was none.
    package var goAwaySent: HTTP2GoAway? { session.goAwaySent }

    /// Streams the peer allows at once, by its last settings.
    package var peerConcurrentStreams: UInt32 { session.peerConcurrentStreams }

    /// Ends a stream that is no longer wanted, which is reported as any other end, with a failure.
    package func cancel(_ stream: HTTP2Stream) {
        reset(stream, .cancel)
    }

    /// Answers a request (servers only); does nothing when its stream has gone.
    package func answer(_ stream: HTTP2Stream, with response: HTTPResponse) {
        stream.began = loop.now
        session.answer(stream, with: response)
        scheduleFlush()
    }

    /// Ends a stream with a code.
    package func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        session.reset(stream, code)
        scheduleFlush()
    }

    /// Changes how many streams the peer may open at once.
    package func allow(concurrentStreams: UInt32) {
        session.allow(concurrentStreams: concurrentStreams)
        scheduleFlush()
    }

    /// Asks the peer for a sign of life, which is reported as ``Event/pong``.
    package func ping() {
        session.ping()
        scheduleFlush()
    }

    /// Changes how many octets the peer may send on a stream before it has to wait for more room.
    package func allow(octetsPerStream: UInt32) {
        session.allow(octetsPerStream: octetsPerStream)
        scheduleFlush()
    }

    /// Takes no more streams from the peer and closes when those up to `lastStreamID` are over, by default all it has.
    package func goAway(_ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = [], lastStreamID: Int32? = nil) {
        flushAnswers()
        session.goAway(code, debugData: debugData, lastStreamID: lastStreamID)
        scheduleFlush()
    }

    /// Shuts down gracefully (servers only; RFC 9113 §6.8): announces a GOAWAY, and sends it when the client has
    /// answered a PING, so that no stream under way is left out; closes when the open streams are over.
    ///
    /// - Parameter debugData: The debug data of the last GOAWAY.
    package func shutDown(debugData: [UInt8]) {
        guard announcedDebugData == nil else { return }
        announcedDebugData = debugData
        flushAnswers()
        session.announceGoAway()
        // The PING has to follow the GOAWAY, and nghttp2 writes waiting PINGs first.
        flush()
        ping()
        loop.schedule(after: HTTP2Connection.partingLimit) { [weak self] in self?.finishShutdown() }
    }

    /// Writes the answers that wait for the end of the turn (servers only).
    ///
    /// nghttp2 writes a GOAWAY before their DATA, and some clients read nothing after a GOAWAY.
    private func flushAnswers() {
        if role == .server { flush() }
    }

    /// Sends the last GOAWAY of a graceful shutdown.
    func finishShutdown() {
        guard isOpen, let debugData = announcedDebugData.take() else { return }
        goAway(debugData: debugData)
    }
}

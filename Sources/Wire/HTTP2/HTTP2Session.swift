internal import CNghttp2

/// What a session tells its owner, in the order of arrival.
enum HTTP2Event {
    /// A client's request is complete, or its body passed the bound (see `isBodyTooLong`).
    case request(HTTP2Stream)
    /// The stream is over.
    case closed(HTTP2Stream, HTTP2ErrorCode)
    /// The peer will take no more streams, and has acted on none above the last one it names (RFC 9113 §6.8).
    case goAway(HTTP2GoAway)
    /// A stream of the client's was refused, because too many are open.
    case refused
    /// The peer's settings have changed.
    case settings
    /// The peer answered a PING.
    case pong
}

/// A GOAWAY frame.
package struct HTTP2GoAway: Sendable, Hashable {
    /// The highest stream the peer may have acted on.
    package var lastStreamID: Int32
    /// Why it goes.
    package var errorCode: HTTP2ErrorCode
    /// Whatever the peer added; APNs puts a JSON object with a `reason` here.
    package var debugData: [UInt8]

    init(_ frame: nghttp2_goaway) {
        lastStreamID = frame.last_stream_id
        errorCode = HTTP2ErrorCode(rawValue: frame.error_code)
        debugData = Array(UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len))
    }

    /// A frame from its parts.
    package init(lastStreamID: Int32, errorCode: HTTP2ErrorCode, debugData: [UInt8]) {
        self.lastStreamID = lastStreamID
        self.errorCode = errorCode
        self.debugData = debugData
    }
}

/// What a session allows its peer.
package struct HTTP2Limits: Sendable {
    /// Streams the peer may have open at once.
    package var concurrentStreams: UInt32
    /// Bytes of one message's body that are kept; a longer one is cut off and marked.
    package var bodyBytes: Int
    /// The size of one message's fields (RFC 9113 §6.5.2), as SETTINGS_MAX_HEADER_LIST_SIZE tells the peer: a request
    /// with more is answered with status 431, one with more than twice as much ends the connection, and the stream of
    /// an answer is reset.
    package var fieldBytes: Int

    /// Limits with these values.
    package init(concurrentStreams: UInt32, bodyBytes: Int, fieldBytes: Int) {
        self.concurrentStreams = concurrentStreams
        self.bodyBytes = bodyBytes
        self.fieldBytes = fieldBytes
    }
}

/// One side of an HTTP/2 connection without any I/O: bytes in, events and bytes out; owns an `nghttp2_session`.
///
/// nghttp2 calls back only while ``receive(_:)`` or ``writeFrame(to:)`` runs. The callbacks do nothing but note what
/// happened in the inbox, so nothing can enter the session a second time.
struct HTTP2Session: ~Copyable {
    /// Which side of the connection this is.
    enum Role {
        case client
        case server
    }

    /// Octets both sides may have in flight on the whole connection; the protocol's 65 535 would stall a server
    /// after sixteen large payloads.
    private static let connectionWindow: Int32 = 1 << 20

    private let raw: OpaquePointer
    /// Held only to live as long as nghttp2's session, whose blocks it owns.
    private let memory: HTTP2Memory
    private let inbox: HTTP2Inbox
    private let fieldList = FieldList()
    /// What encodes a client's requests; nghttp2 encodes a server's answers by itself.
    private let encoder: HPACKEncoder?

    init(_ role: Role, limits: HTTP2Limits) throws(WireError) {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&option) == 0 else {
            throw WireError(.system, "no memory for an HTTP/2 session")
        }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(option)
        }
        HTTP2Session.setCallbacks(callbacks)
        // Closed streams are kept only for a priority scheme that APNs ignores.
        nghttp2_option_set_no_closed_streams(option, 1)
        // Beyond this nghttp2 ends the connection. The connection stops reading earlier, when 1 000 frames wait for the
        // peer; one more read holds up to 910 empty SETTINGS.
        nghttp2_option_set_max_outbound_ack(option, 2_000)

        let inbox = HTTP2Inbox(role: role, limits: limits)
        let context = Unmanaged.passUnretained(inbox).toOpaque()
        let memory = HTTP2Memory()
        var functions = memory.functions
        var session: OpaquePointer?
        let status =
            switch role {
            case .client: nghttp2_session_client_new3(&session, callbacks, context, option, &functions)
            case .server: nghttp2_session_server_new3(&session, callbacks, context, option, &functions)
            }
        guard status == 0, let session else {
            throw WireError(.system, "cannot make an HTTP/2 session: \(nghttp2Message(status))")
        }
        raw = session
        self.memory = memory
        self.inbox = inbox
        encoder = role == .client ? HPACKEncoder() : nil
        var settings = [
            nghttp2_settings_entry(
                settings_id: CInt(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(clamping: limits.fieldBytes)
            )
        ]
        switch role {
        case .client:
            settings.append(
                nghttp2_settings_entry(settings_id: CInt(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)
            )
        case .server:
            settings.append(HTTP2StreamLimit.entry(limits.concurrentStreams))
            inbox.streamLimit.sent(limits.concurrentStreams)
        }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        nghttp2_session_set_local_window_size(
            session,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            0,
            HTTP2Session.connectionWindow
        )
    }

    deinit {
        nghttp2_session_del(raw)
    }

    // MARK: Bytes

    /// Takes in bytes from the peer; what they meant is then in ``takeEvents(_:)``.
    ///
    /// - Throws: ``WireError`` of kind `.protocolViolation` when the connection cannot go on. A violation that
    ///   HTTP/2 has an answer for does not throw: the answer is among the output, and then ``isOver`` is true.
    func receive(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) throws(WireError) {
        inbox.now = now
        guard inbox.role == .client || inbox.frameBudget.admits(bytes, at: now) else {
            return inbox.terminate(raw, .enhanceYourCalm, because: HTTP2FrameBudget.complaint)
        }
        let count = nghttp2_session_mem_recv(raw, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        guard count >= 0 else {
            throw WireError(.protocolViolation, "the peer broke HTTP/2: \(nghttp2Message(CInt(count)))")
        }
    }

    /// What happened since the last call, in exchange for an empty list whose memory is used again.
    func takeEvents(_ events: inout [HTTP2Event]) {
        swap(&inbox.events, &events)
    }

    /// Adds the next frame to write to the output; false when there is none.
    func writeFrame(to output: inout [UInt8]) -> Bool {
        var pointer: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(raw, &pointer)
        guard count > 0 else { return false }
        let frame = UnsafeRawBufferPointer(start: pointer, count: count)
        let start = output.count
        output.append(contentsOf: frame)
        guard let encoder else {
            HTTP2StreamLimit.writeIdentifier(into: &output, from: start)
            return true
        }
        if let headers = HTTP2HeadersFrame(frame, at: start) { writeFields(into: headers, with: encoder, to: &output) }
        return true
    }

    /// Completes the frame of a request, which nghttp2 has made without fields: there is nothing in its block but
    /// changes of the table's size, if the peer wants any.
    private func writeFields(
        into frame: HTTP2HeadersFrame,
        with encoder: HPACKEncoder,
        to output: inout [UInt8]
    ) {
        if output.count > frame.blockStart { encoder.resizeTable(output[frame.blockStart...]) }
        HTTP2Session.withStream(raw, frame.streamID) { stream in
            // They are not needed any more, while it may be long until the request is answered.
            var fields = HTTPFields()
            swap(&fields, &stream.outgoingFields)
            encoder.encode(fields, to: &output)
        }
        frame.complete(in: &output)
    }

    /// How many frames wait to be written.
    var outputFrameCount: Int { nghttp2_session_get_outbound_queue_size(raw) }

    /// Whether neither side has anything more to say.
    var isOver: Bool {
        nghttp2_session_want_read(raw) == 0 && nghttp2_session_want_write(raw) == 0
    }

    /// What the peer did against the rules, in nghttp2's words, if it did.
    var violation: WireError? {
        inbox.violation.map { WireError(.protocolViolation, "HTTP/2 was broken: \($0)") }
    }

    // MARK: Streams

    /// Opens a stream for the request.
    ///
    /// - Throws: ``WireError`` when the session takes no more streams.
    func open(_ stream: HTTP2Stream) throws(WireError) {
        let context = Unmanaged.passUnretained(stream).toOpaque()
        // The fields follow when it is written.
        let id: Int32
        if stream.outgoingBody.isEmpty {
            id = nghttp2_submit_request(raw, nil, nil, 0, nil, context)
        } else {
            var body = bodyProvider(context)
            id = nghttp2_submit_request(raw, nil, nil, 0, &body, context)
        }
        guard id > 0 else {
            throw WireError(.closedLocally, "the connection takes no more requests: \(nghttp2Message(id))")
        }
        stream.id = id
        inbox.add(stream)
    }

    /// How many streams are open.
    var openStreamCount: Int { inbox.openStreamCount }

    /// What became of a request whose stream the peer has closed (clients only).
    func outcome(of stream: HTTP2Stream, closedWith code: HTTP2ErrorCode) -> StreamOutcome {
        // A server may answer in full and then ask, without an error, for the rest of the request to be left out.
        if stream.isMessageComplete { return .answered }
        let cause = WireError(.closedByPeer, "the peer reset the stream (\(code))")
        return code == .refusedStream
            ? .broken(StreamFailure(isUnprocessed: true, cause: cause)) : outcome(of: stream, brokenBy: cause)
    }

    /// What became of a request whose connection has ended, or that was reset (clients only).
    func outcome(of stream: HTTP2Stream, brokenBy cause: WireError) -> StreamOutcome {
        let hasSent = stream.id <= inbox.lastSentStreamID
        return .broken(StreamFailure(isUnprocessed: !hasSent, cause: cause))
    }

    /// The streams that are open, which the session forgets: its end is theirs.
    func takeOpenStreams() -> [HTTP2Stream] {
        inbox.takeOpenStreams()
    }

    /// Requests that began at this time or before and are not complete, and those that were answered then and whose
    /// answer the client has not made room for (servers only).
    func requestsUnfinished(since time: MonotonicTime) -> [HTTP2Stream] {
        inbox.requestsUnfinished(since: time)
    }

    /// The number of requests that the owner has been given and has not answered (servers only).
    var requestsInProgress: Int { inbox.requestsInProgress }

    /// The highest number of a stream whose request the owner has been given (servers only).
    var lastReportedStreamID: Int32 { inbox.lastReportedStreamID }

    /// Notes that the owner is given a request (servers only).
    func reported(_ stream: HTTP2Stream) { inbox.reported(stream) }

    /// Answers the request of a stream; one that has closed in the meantime is let go.
    func answer(_ stream: HTTP2Stream, with response: HTTPResponse) {
        guard !stream.isClosed else { return }
        inbox.answered(stream, bodyBytes: response.body.count)
        stream.outgoingFields = response.fields
        stream.outgoingBody = response.body
        let status = fieldList.withNameValues(of: stream.outgoingFields) { fields in
            // A response to HEAD has no content, whatever it describes (RFC 9110 §9.3.2).
            guard !response.body.isEmpty, stream.incomingFields[":method"] != "HEAD" else {
                return nghttp2_submit_response(raw, stream.id, fields.baseAddress, fields.count, nil)
            }
            var body = bodyProvider(Unmanaged.passUnretained(stream).toOpaque())
            return nghttp2_submit_response(raw, stream.id, fields.baseAddress, fields.count, &body)
        }
        if status != 0 { reset(stream, .internalError) }
    }

    /// Ends a stream at once.
    func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        guard !stream.isClosed else { return }
        nghttp2_submit_rst_stream(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
    }

    // MARK: Connection

    /// The last GOAWAY frame that was written, whoever asked for it; nil when there was none.
    var goAwaySent: HTTP2GoAway? { inbox.goAwaySent }

    /// The number of streams of the peer that were refused because too many were open, or too many answers waited
    /// (servers only).
    var refusedStreamCount: Int { inbox.refusedStreamCount }

    /// The number of streams that the peer has reset.
    var resetStreamCount: Int { inbox.resetStreamCount }

    /// Whether a stream of the peer's is acted on: no GOAWAY has left it out.
    func takes(_ stream: HTTP2Stream) -> Bool { stream.id <= inbox.lastTakenStreamID }

    /// Streams the peer allows at once.
    var peerConcurrentStreams: UInt32 {
        nghttp2_session_get_remote_settings(raw, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    }

    /// Changes how many streams the peer may have open at once (servers only); further ones are refused.
    ///
    /// Sends nothing when the last SETTINGS frame allows the same number.
    func allow(concurrentStreams: UInt32) {
        guard concurrentStreams != inbox.streamLimit.latest else { return }
        inbox.streamLimit.sent(concurrentStreams)
        submit(HTTP2StreamLimit.entry(concurrentStreams))
    }

    /// Changes how many octets the peer may send on a stream before it has to wait for more room.
    func allow(octetsPerStream: UInt32) {
        let entry = nghttp2_settings_entry(
            settings_id: CInt(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
            value: octetsPerStream
        )
        inbox.streamLimit.sent()
        submit(entry)
    }

    /// Sends a SETTINGS frame, or ends the connection when the peer acknowledges none (RFC 9113 §6.5.3).
    private func submit(_ entry: nghttp2_settings_entry) {
        guard inbox.streamLimit.isOverdue else {
            nghttp2_submit_settings(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), [entry], 1)
            return
        }
        inbox.terminate(raw, .settingsTimeout, because: "the peer does not acknowledge SETTINGS frames")
    }

    /// Asks the peer for a sign of life.
    func ping() {
        nghttp2_submit_ping(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Tells the peer that no more streams are taken; those up to `lastStreamID` still end in order, by default all it
    /// has opened so far.
    func goAway(_ code: HTTP2ErrorCode, debugData: [UInt8] = [], lastStreamID: Int32? = nil) {
        let last = min(lastStreamID ?? nghttp2_session_get_last_proc_stream_id(raw), inbox.lastTakenStreamID)
        // nghttp2 lets streams begin until the frame has gone out.
        inbox.lastTakenStreamID = last
        nghttp2_submit_goaway(
            raw,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            last,
            code.rawValue,
            debugData,
            debugData.count
        )
    }

    /// Announces a GOAWAY, with the highest stream there can be, while streams of the peer may be under way (servers
    /// only; RFC 9113 §6.8).
    func announceGoAway() {
        nghttp2_submit_shutdown_notice(raw)
    }

    // MARK: nghttp2's forms

    /// What nghttp2 calls for the next piece of a stream's body.
    private func bodyProvider(_ stream: UnsafeMutableRawPointer) -> nghttp2_data_provider {
        var provider = nghttp2_data_provider()
        provider.source.ptr = stream
        provider.read_callback = { _, _, buffer, capacity, flags, source, _ in
            guard let context = source?.pointee.ptr, let buffer, let flags else {
                return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
            }
            return Unmanaged<HTTP2Stream>.fromOpaque(context)._withUnsafeGuaranteedRef { stream in
                let (count, isLast) = stream.takeBody(
                    into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
                )
                if isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
                return count
            }
        }
        return provider
    }
}

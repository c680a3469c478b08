// SPDX-License-Identifier: Apache-2.0

internal import CMartletNghttp2

/// An event that a session reports to its owner, in the order of arrival.
enum HTTP2Event {
    /// A client's request is complete, or its body exceeds the limit (see `isBodyTooLong`).
    case request(HTTP2Stream)
    /// A stream has ended.
    case closed(HTTP2Stream, HTTP2ErrorCode)
    /// The peer accepts no further streams, and has processed none above the last one in the frame (RFC 9113 §6.8).
    case goAway(HTTP2GoAway)
    /// A stream of the client was refused because too many were open, or too many responses were pending.
    case refused
    /// The peer's settings have changed.
    case settings
    /// The peer has answered a PING.
    case pong
}

/// A GOAWAY frame.
package struct HTTP2GoAway: Sendable, Hashable {
    /// The highest stream that the peer may have processed.
    package var lastStreamID: Int32
    package var errorCode: HTTP2ErrorCode
    /// The peer's additional data; APNs sends a JSON object with a `reason`.
    package var debugData: [UInt8]
}

extension HTTP2GoAway {
    init(_ frame: nghttp2_goaway) {
        lastStreamID = frame.last_stream_id
        errorCode = HTTP2ErrorCode(rawValue: frame.error_code)
        debugData = Array(UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len))
    }
}

/// One side of an HTTP/2 connection without I/O, based on an `nghttp2_session`: it consumes the peer's bytes, and
/// produces events and output.
///
/// nghttp2 calls back only while ``receive(_:at:)`` or ``writeFrame(to:)`` runs. The callbacks only record events in
/// the state, so the session is never entered recursively.
struct HTTP2Session: ~Copyable {
    /// The side of the connection.
    enum Role {
        case client
        case server
    }

    /// The flow-control window of the connection in octets; the protocol's default of 65,535 would stall a server after
    /// sixteen large payloads.
    private static let connectionWindow: Int32 = 1 << 20

    private static var noFlags: UInt8 { UInt8(NGHTTP2_FLAG_NONE.rawValue) }

    private let raw: OpaquePointer
    /// Retained because it owns the memory blocks of nghttp2's session.
    private let allocator: HTTP2Allocator
    let callbackState: HTTP2CallbackState
    private let fieldList = FieldList()
    /// The encoder of a client's requests; a server's responses are encoded by nghttp2.
    private let encoder: HPACKEncoder?

    init(_ role: Role, limits: HTTP2Limits) throws(TransportError) {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&option) == 0 else {
            throw TransportError(.system, "no memory for an HTTP/2 session")
        }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(option)
        }
        HTTP2Session.setCallbacks(callbacks)
        // Closed streams would be retained only for a priority scheme that APNs ignores.
        nghttp2_option_set_no_closed_streams(option, 1)
        // The limit above which nghttp2 ends the connection. The connection stops reading earlier, when 1,000 frames
        // are queued for the peer; one more read holds up to 910 empty SETTINGS.
        nghttp2_option_set_max_outbound_ack(option, 2_000)

        let callbackState = HTTP2CallbackState(role: role, limits: limits)
        let context = Unmanaged.passUnretained(callbackState).toOpaque()
        let allocator = HTTP2Allocator()
        var functions = allocator.functions
        var session: OpaquePointer?
        let status =
            switch role {
            case .client: nghttp2_session_client_new3(&session, callbacks, context, option, &functions)
            case .server: nghttp2_session_server_new3(&session, callbacks, context, option, &functions)
            }
        guard status == 0, let session else {
            throw TransportError(.system, "cannot create an HTTP/2 session: \(nghttp2Message(status))")
        }
        raw = session
        self.allocator = allocator
        self.callbackState = callbackState
        encoder = role == .client ? HPACKEncoder() : nil
        var settings = [HTTP2Session.entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: limits.fieldBytes))]
        switch role {
        case .client:
            settings.append(HTTP2Session.entry(NGHTTP2_SETTINGS_ENABLE_PUSH, 0))
        case .server:
            settings.append(HTTP2StreamLimit.entry(limits.concurrentStreams))
            callbackState.bounds.streamLimit.sent(limits.concurrentStreams)
        }
        nghttp2_submit_settings(session, HTTP2Session.noFlags, settings, settings.count)
        nghttp2_session_set_local_window_size(session, HTTP2Session.noFlags, 0, HTTP2Session.connectionWindow)
    }

    deinit {
        nghttp2_session_del(raw)
    }

    // MARK: Bytes

    /// Processes bytes from the peer; their events are then available from ``takeEvents(_:)``.
    ///
    /// - Throws: ``TransportError`` of kind `.notHTTP2` for a client that does not begin with the HTTP/2 preface, and
    ///   of kind `.protocolViolation` when the connection cannot continue. A violation that
    ///   HTTP/2 answers with a frame does not throw: the frame is added to the output, and then ``isOver`` is true.
    func receive(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) throws(TransportError) {
        callbackState.now = now
        guard callbackState.role == .client || callbackState.bounds.frameBudget.admits(bytes, at: now) else {
            return callbackState.terminate(raw, .enhanceYourCalm, because: HTTP2FrameBudget.excess)
        }
        let count = nghttp2_session_mem_recv(raw, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        if count == Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue) {
            // A record of the TLS handshake begins with 22 (RFC 8446 §5.1).
            let data = bytes.first == 22 ? "a TLS handshake to a port without TLS" : "data that is not HTTP/2"
            throw TransportError(.notHTTP2, "the client sent \(data)")
        }
        guard count >= 0 else {
            throw TransportError(.protocolViolation, "the peer violated HTTP/2: \(nghttp2Message(CInt(count)))")
        }
    }

    /// Returns the events since the last call, in exchange for an empty list whose storage is reused.
    func takeEvents(_ events: inout [HTTP2Event]) {
        swap(&callbackState.events, &events)
    }

    /// Appends the next frame to the output; returns false when there is none.
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

    /// Completes the HEADERS frame of a request.
    ///
    /// nghttp2 has created it without fields: its block contains only changes of the table's size, if the peer
    /// requested any. ``HPACKEncoder`` writes the fields with a table of its own: nghttp2's encoder never indexes
    /// `authorization`, and was measured to spend a tenth of the cost of a push on writing the provider token.
    private func writeFields(into frame: HTTP2HeadersFrame, with encoder: HPACKEncoder, to output: inout [UInt8]) {
        if output.count > frame.blockStart { encoder.resizeTable(output[frame.blockStart...]) }
        HTTP2Session.withStream(raw, frame.streamID) { stream in
            // The fields are released now, because the response may take a long time.
            var fields = HTTPFields()
            swap(&fields, &stream.outgoingFields)
            encoder.encode(fields, to: &output)
        }
        frame.complete(in: &output)
    }

    var outputFrameCount: Int { nghttp2_session_get_outbound_queue_size(raw) }

    /// Whether both sides have finished.
    var isOver: Bool {
        nghttp2_session_want_read(raw) == 0 && nghttp2_session_want_write(raw) == 0
    }

    /// The peer's violation of the protocol with nghttp2's message; nil when there is none.
    var violation: TransportError? {
        callbackState.violation.map { TransportError(.protocolViolation, "HTTP/2 was violated: \($0)") }
    }

    // MARK: Streams

    /// Opens a stream for the request.
    ///
    /// - Throws: ``TransportError`` when the session accepts no more streams.
    func open(_ stream: HTTP2Stream) throws(TransportError) {
        let context = Unmanaged.passUnretained(stream).toOpaque()
        // The fields are added when the frame is written; see `writeFields`.
        let id: Int32
        if stream.outgoingBody.isEmpty {
            id = nghttp2_submit_request(raw, nil, nil, 0, nil, context)
        } else {
            var body = bodyProvider(context)
            id = nghttp2_submit_request(raw, nil, nil, 0, &body, context)
        }
        guard id > 0 else {
            throw TransportError(.closedLocally, "the connection accepts no more requests: \(nghttp2Message(id))")
        }
        stream.id = id
        callbackState.add(stream)
    }

    /// Returns the outcome of a request whose stream the peer has closed (clients only).
    func outcome(of stream: HTTP2Stream, closedWith code: HTTP2ErrorCode) -> StreamOutcome {
        // A server may answer completely and then reset the stream without an error to stop the rest of the request.
        if stream.isMessageComplete { return .answered }
        let cause = TransportError(.closedByPeer, "the peer reset the stream (\(code))")
        return code == .refusedStream
            ? .broken(StreamFailure(isUnprocessed: true, cause: cause)) : outcome(of: stream, brokenBy: cause)
    }

    /// Returns the outcome of a request whose connection has ended, or that was reset (clients only).
    func outcome(of stream: HTTP2Stream, brokenBy cause: TransportError) -> StreamOutcome {
        let hasSent = stream.id <= callbackState.lastSentStreamID
        return .broken(StreamFailure(isUnprocessed: !hasSent, cause: cause))
    }

    /// Answers the request of a stream; has no effect when the stream has closed in the meantime.
    func answer(_ stream: HTTP2Stream, with response: HTTPResponse) {
        guard !stream.isClosed else { return }
        callbackState.answered(stream, bodyBytes: response.body.count)
        stream.outgoingFields = response.fields
        stream.outgoingBody = response.body
        let status = fieldList.withNameValues(of: stream.outgoingFields) { fields in
            // A response to HEAD has no content, whatever its fields describe (RFC 9110 §9.3.2).
            guard !response.body.isEmpty, stream.incomingFields[":method"] != "HEAD" else {
                return nghttp2_submit_response(raw, stream.id, fields.baseAddress, fields.count, nil)
            }
            var body = bodyProvider(Unmanaged.passUnretained(stream).toOpaque())
            return nghttp2_submit_response(raw, stream.id, fields.baseAddress, fields.count, &body)
        }
        if status != 0 { reset(stream, .internalError) }
    }

    func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        if !stream.isClosed { HTTP2Session.reset(raw, stream.id, code) }
    }

    static func reset(_ session: OpaquePointer?, _ id: Int32, _ code: HTTP2ErrorCode) {
        nghttp2_submit_rst_stream(session, noFlags, id, code.rawValue)
    }

    // MARK: Connection

    /// Returns whether the peer's stream is processed: no GOAWAY has excluded it.
    func takes(_ stream: HTTP2Stream) -> Bool { stream.id <= callbackState.lastTakenStreamID }

    /// The maximum number of concurrent streams that the peer allows.
    var peerConcurrentStreams: UInt32 {
        nghttp2_session_get_remote_settings(raw, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    }

    /// Changes the maximum number of streams that the peer may have open at once (servers only); further ones are
    /// refused.
    ///
    /// Sends nothing when the last SETTINGS frame has the same number.
    func allow(concurrentStreams: UInt32) {
        guard concurrentStreams != callbackState.bounds.streamLimit.latest else { return }
        callbackState.bounds.streamLimit.sent(concurrentStreams)
        submit(HTTP2StreamLimit.entry(concurrentStreams))
    }

    /// Changes the flow-control window of the peer's streams, in octets.
    func allow(octetsPerStream: UInt32) {
        callbackState.bounds.streamLimit.sent()
        submit(HTTP2Session.entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, octetsPerStream))
    }

    private static func entry(_ setting: nghttp2_settings_id, _ value: UInt32) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: CInt(setting.rawValue), value: value)
    }

    /// Sends a SETTINGS frame, or ends the connection when the peer does not acknowledge them (RFC 9113 §6.5.3).
    private func submit(_ entry: nghttp2_settings_entry) {
        if callbackState.bounds.streamLimit.isOverdue {
            callbackState.terminate(raw, .settingsTimeout, because: "the peer does not acknowledge SETTINGS frames")
        } else {
            nghttp2_submit_settings(raw, HTTP2Session.noFlags, [entry], 1)
        }
    }

    func ping() {
        nghttp2_submit_ping(raw, HTTP2Session.noFlags, nil)
    }

    /// Sends a GOAWAY; streams up to `lastStreamID`, by default all that the peer has opened so far, are still
    /// processed.
    func goAway(_ code: HTTP2ErrorCode, debugData: [UInt8] = [], lastStreamID: Int32? = nil) {
        let last = min(lastStreamID ?? nghttp2_session_get_last_proc_stream_id(raw), callbackState.lastTakenStreamID)
        // nghttp2 accepts new streams until the frame has been written.
        callbackState.lastTakenStreamID = last
        nghttp2_submit_goaway(raw, HTTP2Session.noFlags, last, code.rawValue, debugData, debugData.count)
    }

    /// Announces a GOAWAY with the highest possible stream identifier, because the peer may be opening streams (servers
    /// only; RFC 9113 §6.8).
    func announceGoAway() {
        nghttp2_submit_shutdown_notice(raw)
    }

    // MARK: Conversion for nghttp2

    /// Returns the callback from which nghttp2 reads a stream's body.
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

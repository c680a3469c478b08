// SPDX-License-Identifier: Apache-2.0

internal import CMartletNghttp2

/// The state that nghttp2's callbacks update: the open streams and their events.
final class HTTP2CallbackState {
    let role: HTTP2Session.Role
    let limits: HTTP2Limits
    @exclusivity(unchecked) var events: [HTTP2Event] = []
    /// The arrival time of the bytes that nghttp2 is parsing.
    @exclusivity(unchecked) var now = MonotonicTime.zero
    /// The size in bytes of the largest fields so far, used as the initial capacity for the next message.
    @exclusivity(unchecked) private var usualFieldBytes = 256
    /// The last error that nghttp2 reported, or the reason why the session was terminated.
    private var lastError = "no details"
    /// Whether the session was terminated by ``terminate(_:_:because:)``.
    private var isTerminated = false
    /// The peer's violation of the protocol that ended the connection.
    private(set) var violation: String?
    /// The last stream on which a HEADERS frame was sent; a client sends in the order of stream identifiers.
    @exclusivity(unchecked) private(set) var lastSentStreamID: Int32 = 0
    /// The last GOAWAY frame that was written, also by nghttp2 itself; nil when there was none.
    private(set) var goAwaySent: HTTP2GoAway?
    @exclusivity(unchecked) var bounds = HTTP2ServerBounds()
    /// The last of the peer's streams that is processed; the peer retries streams that a GOAWAY excludes elsewhere.
    var lastTakenStreamID = Int32.max
    /// The stream whose fields are being received, kept here because nghttp2 would search for it for each field.
    ///
    /// The list of open streams owns it.
    @exclusivity(unchecked) private var receiving: Unmanaged<HTTP2Stream>?
    /// Whether the fields being received are trailers (servers only).
    @exclusivity(unchecked) private var isReceivingTrailers = false
    /// The number of requests that were reported to the owner and have not been answered (servers only).
    @exclusivity(unchecked) private(set) var requestsInProgress = 0
    /// The highest identifier of a stream whose request was reported to the owner (servers only).
    @exclusivity(unchecked) private(set) var lastReportedStreamID: Int32 = 0
    private(set) var resetStreamCount = 0
    /// The open streams; each stores its index, so that adding and removing need no search.
    @exclusivity(unchecked) private var open: [HTTP2Stream] = []

    init(role: HTTP2Session.Role, limits: HTTP2Limits) {
        self.role = role
        self.limits = limits
    }

    /// Calls `body` with the state in a callback's context; returns 0 when there is none.
    ///
    /// The session retains the state during the callback, so that no further retain is needed for each callback.
    static func with(_ context: UnsafeMutableRawPointer?, _ body: (HTTP2CallbackState) -> CInt) -> CInt {
        guard let context else { return 0 }
        return Unmanaged<HTTP2CallbackState>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    var openStreamCount: Int { open.count }

    /// Records that a request is reported to the owner (servers only).
    func reported(_ stream: HTTP2Stream) {
        stream.isReported = true
        stream.isInProgress = true
        requestsInProgress += 1
        lastReportedStreamID = max(lastReportedStreamID, stream.id)
    }

    /// Records that a request is answered with a body of this size (servers only).
    func answered(_ stream: HTTP2Stream, bodyBytes: Int) {
        settle(stream)
        bounds.answered(stream, bodyBytes: bodyBytes)
    }

    /// Records that a request is answered, or that its stream has ended without a response (servers only).
    private func settle(_ stream: HTTP2Stream) {
        guard stream.isInProgress else { return }
        stream.isInProgress = false
        requestsInProgress -= 1
    }

    func add(_ stream: HTTP2Stream) {
        stream.index = open.count
        open.append(stream)
    }

    /// Removes a stream that has ended from the open ones, and adds the event.
    func closed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        guard !stream.isClosed, stream.index < open.count else { return }
        stream.isClosed = true
        settle(stream)
        if role == .server { bounds.closed(stream) }
        // A header block can be split into several pieces, and its stream can end in between.
        if receiving?.toOpaque() == Unmanaged.passUnretained(stream).toOpaque() { receiving = nil }
        let index = stream.index
        open.withUnsafeMutableBufferPointer { open in
            open[open.count - 1].index = index
            open.swapAt(index, open.count - 1)
        }
        events.append(.closed(open.removeLast(), code))
    }

    /// Returns the requests that began at this time or before and are not complete, and those that were answered by
    /// then and whose response the client has not accepted (servers only).
    func requestsUnfinished(since time: MonotonicTime) -> [HTTP2Stream] {
        open.filter { $0.isClientsTurn && $0.began <= time }
    }

    func takeOpenStreams() -> [HTTP2Stream] {
        defer { open = [] }
        receiving = nil
        for stream in open {
            stream.isClosed = true
            settle(stream)
            bounds.released(stream)
        }
        return open
    }

    func sent(_ frame: nghttp2_frame) {
        switch nghttp2_frame_type(UInt32(frame.hd.type)) {
        case NGHTTP2_HEADERS: lastSentStreamID = frame.hd.stream_id
        case NGHTTP2_DATA: bounds.frameBudget.sentData()
        case NGHTTP2_GOAWAY:
            goAwaySent = HTTP2GoAway(frame.goaway)
            if frame.goaway.error_code != HTTP2ErrorCode.noError.rawValue { violation = lastError }
        default: break
        }
    }

    /// Stores an error message of nghttp2, unless the session was already terminated for another reason.
    func recordError(_ message: String) {
        if !isTerminated { lastError = message }
    }

    /// Ends the connection with a GOAWAY frame; nghttp2 then ignores all further input.
    func terminate(_ session: OpaquePointer?, _ code: HTTP2ErrorCode, because reason: String) {
        recordError(reason)
        isTerminated = true
        nghttp2_session_terminate_session(session, code.rawValue)
    }

    /// Ends the connection when a HEADERS frame is for a stream that is neither open nor new (RFC 9113 §5.1.1), because
    /// nghttp2 ignores such a frame.
    ///
    /// A stream that ended before its request was complete is an exception, because the client may not know yet.
    func began(_ session: OpaquePointer?, _ header: nghttp2_frame_hd) {
        guard role == .server, header.type == UInt8(NGHTTP2_HEADERS.rawValue), !header.stream_id.isMultiple(of: 2)
        else { return }
        guard !bounds.permitsHeaders(on: header.stream_id), lastTakenStreamID == .max,
            nghttp2_session_get_stream_user_data(session, header.stream_id) == nil
        else { return }
        let reason = "HEADERS on stream \(header.stream_id), which is not open and not new"
        terminate(session, .protocolError, because: reason)
    }

    func beganFields(_ session: OpaquePointer?, _ frame: nghttp2_frame) -> CInt {
        guard frame.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) else { return 0 }
        bounds.beganBlock()
        isReceivingTrailers = role == .server && frame.headers.cat != NGHTTP2_HCAT_REQUEST
        if role == .server, frame.headers.cat == NGHTTP2_HCAT_REQUEST {
            guard bounds.admitsStream(frame.hd.stream_id, openCount: open.count) else {
                events.append(.refused)
                HTTP2Session.reset(session, frame.hd.stream_id, .refusedStream)
                // Makes nghttp2 decode the remaining fields for its table, and report nothing about the stream.
                return CInt(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
            }
            let stream = HTTP2Stream()
            receiving = Unmanaged.passUnretained(stream)
            stream.incomingFields = HTTPFields(capacity: usualFieldBytes)
            stream.id = frame.hd.stream_id
            stream.began = now
            nghttp2_session_set_stream_user_data(session, stream.id, Unmanaged.passUnretained(stream).toOpaque())
            add(stream)
            bounds.opened(stream)
        } else {
            HTTP2Session.withStream(session, frame.hd.stream_id) { stream in
                receiving = Unmanaged.passUnretained(stream)
                // The final response replaces an interim response (RFC 9110 §15.2).
                if role == .client, (100..<200).contains(stream.incomingFields.status) {
                    stream.incomingFields = HTTPFields()
                }
            }
        }
        return 0
    }

    /// Ends the connection of a client whose header block is far larger than the limit (servers only).
    ///
    /// A reference to a table entry takes one octet, but its field is decoded and validated in full, so a block of 15
    /// kB can take as long as one of 60 MB (RFC 7541 §7.3, RFC 9113 §10.5.1). A field with an illegal value is not
    /// counted, because nghttp2 resets its stream and validates nothing in the rest of the block.
    ///
    /// - Returns: The status for nghttp2, which stops decoding the block when the connection ends.
    func count(_ session: OpaquePointer?, fieldBytes: Int) -> CInt {
        guard role == .server, !bounds.admitsField(octets: fieldBytes, limit: limits.fieldBytes) else { return 0 }
        let reason = """
            a header block with more than \(2 * limits.fieldBytes) bytes of fields, twice \
            SETTINGS_MAX_HEADER_LIST_SIZE (\(limits.fieldBytes))
            """
        terminate(session, .enhanceYourCalm, because: reason)
        return CInt(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }

    func received(_ field: HTTPFields.Field) -> CInt {
        guard let receiving else { return 0 }
        return receiving._withUnsafeGuaranteedRef { stream in
            guard role == .client else {
                receivedByServer(field, on: stream)
                return 0
            }
            stream.incomingFields.append(field)
            let isTooLong = stream.incomingFields.listSize > limits.fieldBytes
            return isTooLong ? CInt(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) : 0
        }
    }

    /// Adds a field; when a request has too many, discards all of them, and the request is answered with status 431.
    private func receivedByServer(_ field: HTTPFields.Field, on stream: HTTP2Stream) {
        guard !isReceivingTrailers else {
            if stream.trailers.listSize < limits.fieldBytes { stream.trailers.append(field) }
            return
        }
        guard !stream.areFieldsTooLong else { return }
        stream.incomingFields.append(field)
        guard stream.incomingFields.listSize > limits.fieldBytes else { return }
        stream.areFieldsTooLong = true
        stream.incomingFields = HTTPFields()
    }

    func received(_ bytes: UnsafeBufferPointer<UInt8>, on stream: HTTP2Stream) {
        // The response is sent at the end of the request, because clients fail when they are answered and reset
        // earlier.
        guard !stream.areFieldsTooLong, !stream.isBodyTooLong else { return }
        let room = limits.bodyBytes - stream.body.count
        let part = bytes.prefix(room)
        stream.body.append(contentsOf: UnsafeBufferPointer(rebasing: part))
        if role == .server { bounds.count(part.count, of: stream) }
        guard bytes.count > room else { return }
        stream.isBodyTooLong = true
        if role == .server { events.append(.request(stream)) }
    }

    func received(_ frame: nghttp2_frame, _ session: OpaquePointer?) {
        let isAcknowledgement = frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        switch nghttp2_frame_type(UInt32(frame.hd.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            receiving = nil
            let isLast = frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            guard isLast || role == .server && nghttp2_frame_type(UInt32(frame.hd.type)) == NGHTTP2_HEADERS else {
                return
            }
            HTTP2Session.withStream(session, frame.hd.stream_id) { stream in
                guard isLast else { return bounds.count(stream.incomingFields.byteCount, of: stream) }
                if role == .server { bounds.completed(stream) }
                stream.isMessageComplete = true
                usualFieldBytes = max(usualFieldBytes, stream.incomingFields.byteCount)
                // The event was already added when the body became too long.
                if role == .server, !stream.isBodyTooLong { events.append(.request(stream)) }
            }
        case NGHTTP2_SETTINGS:
            if isAcknowledgement { bounds.streamLimit.acknowledge() } else { events.append(.settings) }
        case NGHTTP2_RST_STREAM:
            resetStreamCount += 1
        case NGHTTP2_PING where isAcknowledgement:
            events.append(.pong)
        case NGHTTP2_GOAWAY:
            // After this callback nghttp2 closes the streams above the last identifier in the frame with
            // REFUSED_STREAM. The peer has not processed these requests (RFC 9113 §6.8), so the pool sends them again
            // on another connection; streams up to the identifier continue on this one.
            events.append(.goAway(HTTP2GoAway(frame.goaway)))
        default:
            break
        }
    }
}

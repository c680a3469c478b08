// SPDX-License-Identifier: Apache-2.0

internal import CMartletNghttp2

/// The callbacks of nghttp2, which it calls while it reads or writes frames. Each records an event and returns.
///
/// The user data of each stream in nghttp2 is its `HTTP2Stream`, which the state owns until the stream closes.
extension HTTP2Session {
    static func setCallbacks(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { session, header, context in
            HTTP2CallbackState.with(context) { callbackState in
                if let header { callbackState.began(session, header.pointee) }
                return 0
            }
        }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, context in
            HTTP2CallbackState.with(context) { callbackState in
                guard let frame else { return 0 }
                return callbackState.beganFields(session, frame.pointee)
            }
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            session,
            _,
            name,
            nameLength,
            value,
            valueLength,
            _,
            context in
            HTTP2CallbackState.with(context) { callbackState in
                let status = callbackState.count(session, fieldBytes: nameLength + valueLength)
                guard status == 0 else { return status }
                let field = HTTPFields.Field(
                    name: UnsafeBufferPointer(start: name, count: nameLength),
                    value: UnsafeBufferPointer(start: value, count: valueLength),
                    isIndexed: true
                )
                return callbackState.received(field)
            }
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            session,
            _,
            id,
            bytes,
            count,
            context in
            HTTP2CallbackState.with(context) { callbackState in
                HTTP2Session.withStream(session, id) { stream in
                    callbackState.received(UnsafeBufferPointer(start: bytes, count: count), on: stream)
                }
                return 0
            }
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, context in
            HTTP2CallbackState.with(context) { callbackState in
                guard let frame else { return 0 }
                callbackState.received(frame.pointee, session)
                return 0
            }
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { session, frame, context in
            HTTP2CallbackState.with(context) { callbackState in
                guard let frame else { return 0 }
                callbackState.sent(frame.pointee)
                if callbackState.role == .server {
                    HTTP2Session.recordAnswer(session, frame.pointee.hd)
                    HTTP2Session.recordMalformed(session, frame.pointee)
                }
                return 0
            }
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, id, code, context in
            HTTP2CallbackState.with(context) { callbackState in
                HTTP2Session.withStream(session, id) { stream in
                    callbackState.closed(stream, HTTP2ErrorCode(rawValue: code))
                }
                return 0
            }
        }
        nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, message, length, context in
            HTTP2CallbackState.with(context) { callbackState in
                guard let message else { return 0 }
                let bytes = UnsafeRawBufferPointer(start: message, count: length)
                callbackState.recordError(String(decoding: bytes, as: UTF8.self))
                return 0
            }
        }
    }

    /// Calls `body` with the stream of this identifier, if there is one.
    ///
    /// The state owns the stream, so that no retain is needed for each callback.
    static func withStream(_ session: OpaquePointer?, _ id: Int32, _ body: (HTTP2Stream) -> Void) {
        guard let context = nghttp2_session_get_stream_user_data(session, id) else { return }
        Unmanaged<HTTP2Stream>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    /// Records a request whose stream nghttp2 resets because the request is malformed (RFC 9113 §8.1.1).
    private static func recordMalformed(_ session: OpaquePointer?, _ frame: nghttp2_frame) {
        guard frame.hd.type == UInt8(NGHTTP2_RST_STREAM.rawValue),
            frame.rst_stream.error_code == HTTP2ErrorCode.protocolError.rawValue
        else { return }
        withStream(session, frame.hd.stream_id) { stream in
            if !stream.isReported { stream.isMalformed = true }
        }
    }

    /// Records the end of a response; the rest of an incomplete request is then cancelled (RFC 9113 §8.1).
    private static func recordAnswer(_ session: OpaquePointer?, _ frame: nghttp2_frame_hd) {
        let endsStream = frame.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        let isAnswer = frame.type == UInt8(NGHTTP2_HEADERS.rawValue) || frame.type == UInt8(NGHTTP2_DATA.rawValue)
        guard endsStream, isAnswer else { return }
        withStream(session, frame.stream_id) { stream in
            stream.isAnswerWritten = true
            if !stream.isMessageComplete { HTTP2Session.reset(session, frame.stream_id, .noError) }
        }
    }
}

/// Returns nghttp2's message for one of its (negative) status codes.
func nghttp2Message(_ status: CInt) -> String {
    nghttp2_strerror(status).map { String(cString: $0) } ?? "error \(status)"
}

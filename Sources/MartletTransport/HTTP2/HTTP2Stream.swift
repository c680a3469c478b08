// SPDX-License-Identifier: Apache-2.0

/// A request and its response on an HTTP/2 connection; used only on the connection's loop.
///
/// A client's stream sends the request and collects the response, a server's the reverse.
package final class HTTP2Stream {
    /// The stream identifier (RFC 9113 §5.1.1); 0 before it is assigned.
    @exclusivity(unchecked) package internal(set) var id: Int32 = 0
    /// The fields received so far, pseudo-header fields first.
    package var fields: HTTPFields { incomingFields }
    /// The body received so far, up to the session's limit.
    @exclusivity(unchecked) package internal(set) var body: [UInt8] = []
    /// Whether the body exceeded the session's limit and was truncated.
    @exclusivity(unchecked) package internal(set) var isBodyTooLong = false
    @exclusivity(unchecked) package internal(set) var isMessageComplete = false
    @exclusivity(unchecked) package internal(set) var isClosed = false

    /// A number by which the owner identifies the stream when it has ended (servers only).
    @exclusivity(unchecked) package var tag = 0
    /// The status of the response; 0 before there is one (servers only).
    package var answerStatus: Int { outgoingFields.status }
    /// The names of the trailer fields received so far (servers only).
    package var trailerNames: [String] { trailers.isEmpty ? [] : trailers.map(\.name) }

    /// The storage of ``fields``, a separate property because other modules would check each access for exclusivity.
    @exclusivity(unchecked) var incomingFields = HTTPFields()
    /// The trailer fields of a request, which have no effect on its meaning (RFC 9110 §6.5.1; servers only).
    @exclusivity(unchecked) var trailers = HTTPFields()
    /// Whether the fields of the request exceed the limit (servers only).
    @exclusivity(unchecked) var areFieldsTooLong = false
    /// Whether the request was reported to the owner (servers only).
    @exclusivity(unchecked) package internal(set) var isReported = false
    /// Whether the request was reported to the owner and has not been answered (servers only).
    @exclusivity(unchecked) var isInProgress = false
    /// Whether the request was malformed (RFC 9113 §8.1.1), so that its stream was reset (servers only).
    @exclusivity(unchecked) package internal(set) var isMalformed = false
    /// Whether the last frame of the response has been written (servers only).
    @exclusivity(unchecked) var isAnswerWritten = false
    /// The fields to send, which are encoded when their frame is written.
    @exclusivity(unchecked) var outgoingFields: HTTPFields
    /// The body to send, and the number of its bytes that were passed to nghttp2.
    @exclusivity(unchecked) var outgoingBody: [UInt8]
    @exclusivity(unchecked) var outgoingOffset = 0
    /// The memory in bytes for which the stream counts while its request is not complete or its response is pending
    /// (servers only).
    @exclusivity(unchecked) var heldBytes = 0
    /// The octets of the response's body that count as pending for the client (servers only).
    @exclusivity(unchecked) var pendingBytes = 0
    /// The arrival time of the first part of a request, and later the time at which it was answered (servers only).
    @exclusivity(unchecked) var began = MonotonicTime.zero
    /// Whether the client has to act: its request is not complete, or its response is pending (servers only).
    var isClientsTurn: Bool { !isMessageComplete || !outgoingFields.isEmpty }
    /// Whether the stream carried a request whose end is reported to the owner (servers only).
    var isCounted: Bool { isReported || isMalformed || areFieldsTooLong }
    /// The index in the session's list of open streams.
    @exclusivity(unchecked) var index = 0
    /// The object to report with the stream's end, until it has ended (clients only).
    @exclusivity(unchecked) var sender: AnyObject?

    init(sending fields: HTTPFields = HTTPFields(), body: [UInt8] = [], for sender: AnyObject? = nil) {
        outgoingFields = fields
        outgoingBody = body
        self.sender = sender
    }

    /// Releases the body of a request that the owner has read (servers only).
    package func releaseBody() {
        body = []
    }

    /// Copies as much of the remaining body as fits.
    ///
    /// - Returns: The number of bytes, and whether they are the last.
    func takeBody(into room: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
        let count = min(room.count, outgoingBody.count - outgoingOffset)
        outgoingBody.withUnsafeBytes { bytes in
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[outgoingOffset..<outgoingOffset + count]))
        }
        outgoingOffset += count
        return (count, outgoingOffset == outgoingBody.count)
    }
}

/// The result of a client's stream.
package enum StreamOutcome: Sendable {
    /// The server has answered completely.
    case answered
    /// The stream was reset, or the connection ended.
    case broken(StreamFailure)
}

/// The reason why a stream ended without a complete response.
package struct StreamFailure: Error, Sendable, Hashable {
    /// Whether the peer certainly did not process the request (RFC 9113 §8.7), so that it may be sent again.
    package var isUnprocessed: Bool
    package var cause: TransportError
}

/// An HTTP/2 error code (RFC 9113 §7).
package struct HTTP2ErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The numeric code.
    package let rawValue: UInt32

    /// Creates an error code, known or not.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A graceful shutdown.
    package static let noError = HTTP2ErrorCode(rawValue: 0)
    package static let protocolError = HTTP2ErrorCode(rawValue: 1)
    /// An error in the sender's implementation.
    package static let internalError = HTTP2ErrorCode(rawValue: 2)
    /// The peer does not acknowledge SETTINGS frames.
    package static let settingsTimeout = HTTP2ErrorCode(rawValue: 4)
    /// A stream that was not processed and may be retried.
    package static let refusedStream = HTTP2ErrorCode(rawValue: 7)
    /// A stream that is no longer needed.
    package static let cancel = HTTP2ErrorCode(rawValue: 8)
    /// Excessive load caused by the peer.
    package static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The name in RFC 9113, or the number.
    package var description: String {
        rawValue < UInt32(HTTP2ErrorCode.names.count) ? HTTP2ErrorCode.names[Int(rawValue)] : "code \(rawValue)"
    }
}

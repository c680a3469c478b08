/// One request with its response on an HTTP/2 connection, as far as it has come; lives on the connection's loop.
///
/// A client's stream sends the request and gathers the response, a server's the other way round.
package final class HTTP2Stream {
    /// The number on the wire (RFC 9113 §5.1.1); 0 before it has one.
    @exclusivity(unchecked) package internal(set) var id: Int32 = 0
    /// The fields that have arrived, pseudo fields first.
    package var fields: HTTPFields { incomingFields }
    /// The body that has arrived, up to the session's bound.
    @exclusivity(unchecked) package internal(set) var body: [UInt8] = []
    /// Whether more body arrived than the session's bound, and was dropped.
    @exclusivity(unchecked) package internal(set) var isBodyTooLong = false
    /// Whether the peer has sent all of its message.
    @exclusivity(unchecked) package internal(set) var isMessageComplete = false
    /// Whether nothing more can happen on the stream.
    @exclusivity(unchecked) package internal(set) var isClosed = false

    /// A number of the owner's, by which it recognizes the stream when it has ended (servers only).
    @exclusivity(unchecked) package var tag = 0
    /// The status of the answer; 0 before there is one (servers only).
    package var answerStatus: Int { outgoingFields.status }
    /// The names of the trailer fields that have arrived (servers only).
    package var trailerNames: [String] { trailers.isEmpty ? [] : trailers.map(\.name) }

    /// Stored under a name of their own, since other modules would have each look proved exclusive.
    @exclusivity(unchecked) var incomingFields = HTTPFields()
    /// The trailer fields of a request, which have no effect on its meaning (RFC 9110 §6.5.1; servers only).
    @exclusivity(unchecked) var trailers = HTTPFields()
    /// Whether the fields of the request exceed the limit (servers only).
    @exclusivity(unchecked) var areFieldsTooLong = false
    /// Whether the owner has been given the request (servers only).
    @exclusivity(unchecked) package internal(set) var isReported = false
    /// Whether the owner has been given the request and has not answered it (servers only).
    @exclusivity(unchecked) var isInProgress = false
    /// Whether the request broke the rules for messages (RFC 9113 §8.1.1), so that its stream was reset (servers only).
    @exclusivity(unchecked) package internal(set) var isMalformed = false
    /// Whether the last frame of the answer has been written (servers only).
    @exclusivity(unchecked) var isAnswerWritten = false
    /// The fields to send, which are read here when their frame is written.
    @exclusivity(unchecked) var outgoingFields: HTTPFields
    /// The body to send and how much of it has been handed to nghttp2.
    @exclusivity(unchecked) var outgoingBody: [UInt8]
    @exclusivity(unchecked) var outgoingOffset = 0
    /// The octets of the answer's body that count as waiting for the client (servers only).
    @exclusivity(unchecked) var heldBytes = 0
    /// When the first of a request arrived, and from its answer on, when it was answered (servers only).
    @exclusivity(unchecked) var began = MonotonicTime.zero
    /// Whether it is the client's turn: its request is not complete, or its answer waits to be taken (servers only).
    var isClientsTurn: Bool { !isMessageComplete || !outgoingFields.isEmpty }
    /// Whether the stream carried a request whose end the owner is told (servers only).
    var isCounted: Bool { isReported || isMalformed || areFieldsTooLong }
    /// Where the session keeps it among its open streams.
    @exclusivity(unchecked) var place = 0
    /// Whoever is told how it ended, until then (clients only).
    @exclusivity(unchecked) var sender: AnyObject?

    init(sending fields: HTTPFields = HTTPFields(), body: [UInt8] = [], for sender: AnyObject? = nil) {
        outgoingFields = fields
        outgoingBody = body
        self.sender = sender
    }

    /// Copies as much of the rest of the body as there is room for.
    ///
    /// - Returns: How many bytes, and whether they are the last.
    func takeBody(into room: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
        let count = min(room.count, outgoingBody.count - outgoingOffset)
        outgoingBody.withUnsafeBytes { bytes in
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[outgoingOffset..<outgoingOffset + count]))
        }
        outgoingOffset += count
        return (count, outgoingOffset == outgoingBody.count)
    }
}

/// How a client's stream ended.
package enum StreamOutcome: Sendable {
    /// The server answered in full.
    case answered
    /// The server, or the end of the connection, cut the stream off.
    case broken(StreamFailure)
}

/// Why a stream ended without a full answer.
package struct StreamFailure: Error, Sendable, Hashable {
    /// Whether the peer provably did not act on the request (RFC 9113 §8.7): it may be sent again.
    package var isUnprocessed: Bool
    /// What ended it.
    package var cause: WireError
}

/// An error code of HTTP/2, RFC 9113 §7.
package struct HTTP2ErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number on the wire.
    package let rawValue: UInt32

    /// Any code, known or not.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Graceful end.
    package static let noError = HTTP2ErrorCode(rawValue: 0)
    /// The peer broke the protocol.
    package static let protocolError = HTTP2ErrorCode(rawValue: 1)
    /// A fault on the sender's own side.
    package static let internalError = HTTP2ErrorCode(rawValue: 2)
    /// The peer does not acknowledge SETTINGS frames.
    package static let settingsTimeout = HTTP2ErrorCode(rawValue: 4)
    /// The stream was not processed and may be tried again.
    package static let refusedStream = HTTP2ErrorCode(rawValue: 7)
    /// The stream is no longer wanted.
    package static let cancel = HTTP2ErrorCode(rawValue: 8)
    /// The peer makes too much work.
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

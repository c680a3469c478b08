// SPDX-License-Identifier: Apache-2.0

/// The bounds that keep a client from occupying the memory and time of a server, without I/O; a client's session does
/// not use them.
struct HTTP2ServerBounds {
    /// The limit in octets for pending responses of a client, enough for those to 1,000 pushes; when it is exceeded,
    /// further streams are refused.
    static let answerBytesLimit = 1 << 20
    /// The memory of a stream without fields and body, in bytes.
    private static let emptyStreamBytes = 1_024
    /// The number of ended streams that are remembered.
    private static let endedEarlyLimit = 100

    /// The limit on the number of streams that the client may have open at once.
    var streamLimit = HTTP2StreamLimit()
    /// The budget of frames without effect that the client may still send.
    var frameBudget = HTTP2FrameBudget()
    /// The memory of the requests that are not complete and of the responses that the client has not accepted, in
    /// bytes.
    private(set) var heldBytes = 0
    /// The number of streams that were refused because too many were open, or too many responses were pending.
    private(set) var refusedStreamCount = 0
    /// The size in octets of the response bodies whose streams are open because the client has not read them.
    private var answerBytes = 0
    /// The size of the fields that are coming in, as RFC 9113 §6.5.2 counts it.
    private var blockSize = 0
    /// The highest identifier of a stream that the client has opened.
    private var lastOpenedStreamID: Int32 = 0
    /// The last streams on which the client may still be sending frames, because they ended before it had sent the
    /// complete request.
    private var endedEarly: [Int32] = []

    // MARK: Frames

    /// Records a HEADERS frame.
    ///
    /// - Returns: Whether the frame is permitted on a stream that is not open: it opens the stream, or the client may
    ///   not know yet that the stream has ended.
    mutating func permitsHeaders(on id: Int32) -> Bool {
        guard id <= lastOpenedStreamID else {
            lastOpenedStreamID = id
            return true
        }
        return endedEarly.contains(id)
    }

    /// Begins to count the fields of a header block.
    mutating func beganBlock() {
        blockSize = 0
    }

    /// Counts a field of the header block; returns false when the block exceeds twice the limit.
    mutating func admitsField(octets: Int, limit: Int) -> Bool {
        // Each field counts as 32 bytes more (RFC 9113 §6.5.2).
        blockSize += octets + 32
        return blockSize <= 2 * limit
    }

    // MARK: Streams

    /// Returns whether the client may open a stream while so many are open; counts it as refused otherwise.
    mutating func admitsStream(_ id: Int32, openCount: Int) -> Bool {
        // Nothing else limits a client that does not read responses: the server must continue to read, because the
        // WINDOW_UPDATE frames arrive on the same connection.
        if openCount < streamLimit.current, answerBytes <= HTTP2ServerBounds.answerBytesLimit { return true }
        refusedStreamCount += 1
        recordEarlyEnd(of: id)
        return false
    }

    mutating func opened(_ stream: HTTP2Stream) {
        count(HTTP2ServerBounds.emptyStreamBytes, of: stream)
    }

    /// Counts memory of a stream on which the client has to act: it completes its request, or accepts the response.
    mutating func count(_ bytes: Int, of stream: HTTP2Stream) {
        stream.heldBytes += bytes
        heldBytes += bytes
    }

    mutating func completed(_ stream: HTTP2Stream) {
        // A body that is too long is answered before its end, and the client may not have accepted the response yet.
        if stream.outgoingFields.isEmpty { released(stream) }
    }

    mutating func released(_ stream: HTTP2Stream) {
        count(-stream.heldBytes, of: stream)
    }

    mutating func answered(_ stream: HTTP2Stream, bodyBytes: Int) {
        stream.pendingBytes = bodyBytes
        answerBytes += bodyBytes
        count(HTTP2ServerBounds.emptyStreamBytes + bodyBytes, of: stream)
    }

    mutating func closed(_ stream: HTTP2Stream) {
        released(stream)
        answerBytes -= stream.pendingBytes
        if !stream.isMessageComplete { recordEarlyEnd(of: stream.id) }
    }

    private mutating func recordEarlyEnd(of id: Int32) {
        if endedEarly.count == HTTP2ServerBounds.endedEarlyLimit { endedEarly.removeFirst() }
        endedEarly.append(id)
    }
}

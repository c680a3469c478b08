// SPDX-License-Identifier: Apache-2.0

/// The turns of a client whose requests arrive together, and the memory that they and its unread response take, without
/// I/O.
///
/// A request that has arrived with the one before it waits for its turn, so that a client that sends many does not
/// delay others.
struct HTTP1Turns {
    /// The number of bytes of further requests from which on no more is read while a request is handled, and from which
    /// on the held bytes are counted.
    static let readAhead = 4 * 1024

    /// Whether requests are being parsed.
    var isParsing = false
    /// Whether a request was answered since the start of the next one.
    private var hasAnswered = false
    /// Whether a request waits for its turn.
    private(set) var isWaiting = false
    /// The number of bytes of the head, of further requests and of the unread response for which the connection counts;
    /// 0 for few.
    private(set) var heldByteCount = 0

    /// Records that a request was answered.
    mutating func answered() {
        hasAnswered = true
    }

    /// Decides whether the next part of a request may be parsed; otherwise a request waits for its turn.
    ///
    /// - Parameters:
    ///   - isAtStart: Whether the next part is the beginning of a request.
    ///   - unread: The number of bytes that have arrived and are not parsed.
    /// - Returns: Whether it may be parsed.
    mutating func mayBegin(isAtStart: Bool, unread: Int) -> Bool {
        guard hasAnswered, isAtStart else { return true }
        hasAnswered = false
        isWaiting = unread > 0
        return !isWaiting
    }

    /// Ends the wait for a turn; returns false when no request waits.
    mutating func take() -> Bool {
        defer { isWaiting = false }
        return isWaiting
    }

    /// Updates the number of bytes for which the connection counts.
    ///
    /// - Parameter byteCount: The number of bytes of the head, of further requests and of the unread response.
    /// - Returns: The change; nil for none.
    mutating func count(_ byteCount: Int) -> Int? {
        let counted = byteCount < HTTP1Turns.readAhead ? 0 : byteCount
        guard counted != heldByteCount else { return nil }
        defer { heldByteCount = counted }
        return counted - heldByteCount
    }
}

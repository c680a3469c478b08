// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// A parser for the HTTP/1.1 requests of a connection (RFC 9112).
///
/// The driver appends bytes as they arrive and calls ``next()`` until it returns nil. When `next()` throws, the driver
/// has to close the connection, because the start of the next message is unknown.
struct HTTP1RequestParser {
    /// The limits for a head.
    struct Limits: Sendable {
        /// The maximum size of the request line in bytes.
        var requestLine = 16 * 1024
        /// The maximum size in bytes of all field lines, and also of the trailer fields after chunks.
        var head = 64 * 1024
        /// The maximum number of field lines.
        var fields = 128
    }

    /// A part of a request.
    enum Event: Equatable {
        case head(HTTP1RequestHead)
        /// A piece of the body, in order, never empty.
        case body([UInt8])
        case end
    }

    /// The part to which the next bytes belong.
    private enum Phase {
        /// Before or in the request line; one empty line before it is skipped (RFC 9112 §2.2).
        case requestLine(hasSkippedLine: Bool)
        case fields
        case body(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailer
        case end
    }

    private static let carriageReturn = UInt8(ascii: "\r")
    private static let lineFeed = UInt8(ascii: "\n")
    /// The maximum length in bytes of a line with a chunk's size and extensions.
    private static let chunkLine = 1_024
    /// The maximum number of digits of a chunk's size, few enough to fit an integer.
    private static let sizeDigits = 15

    private let limits: Limits
    private var phase = Phase.requestLine(hasSkippedLine: false)
    /// The head that is being parsed.
    private var draft: HTTP1RequestHead.Draft?
    private var buffer: [UInt8] = []
    /// The index of the first byte that has not been parsed.
    private var start = 0
    /// The index of the first byte that has not been searched for the end of a line.
    private var searched = 0
    /// The bytes and lines of the head, or of the trailer, that have been parsed.
    private var headBytes = 0
    private var fieldCount = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The number of bytes that have not been parsed.
    var unreadByteCount: Int { buffer.count - start }

    /// The number of bytes of a head that is arriving, and of further requests.
    var heldByteCount: Int { unreadByteCount + headBytes }

    /// Whether nothing of the next request has been parsed.
    var isAtStart: Bool {
        if case .requestLine(false) = phase { true } else { false }
    }

    /// Whether nothing of the next request has arrived.
    var isBetweenRequests: Bool { isAtStart && unreadByteCount == 0 }

    /// Appends bytes that have arrived.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            buffer.removeFirst(start)
            searched -= start
            start = 0
        }
        unsafe buffer.append(contentsOf: bytes)
    }

    /// Returns the next part of a request; nil until more bytes arrive.
    ///
    /// - Throws: ``HTTP1Violation`` with status 400, 413, 414, 417, 431, 501 or 505.
    mutating func next() throws(HTTP1Violation) -> Event? {
        while true {
            switch phase {
            case .requestLine(let hasSkippedLine):
                guard let line = try line(within: limits.requestLine, status: 414) else { return nil }
                if line.isEmpty, !hasSkippedLine {
                    phase = .requestLine(hasSkippedLine: true)
                } else {
                    draft = try HTTP1RequestHead.Draft(requestLine: line)
                    phase = .fields
                }
            case .fields:
                guard let line = try line(within: limits.head - headBytes, status: 431) else { return nil }
                if line.isEmpty, let draft = draft.take() { return .head(try finish(draft)) }
                try count(line)
                try draft?.add(line)
            case .body(let remaining):
                guard let piece = piece(upTo: remaining) else { return nil }
                phase = piece.count == remaining ? .end : .body(remaining: remaining - piece.count)
                return .body(piece)
            case .chunkSize:
                guard let line = try line(within: HTTP1RequestParser.chunkLine, status: 400) else { return nil }
                let size = try HTTP1RequestParser.chunkSize(line)
                phase = size == 0 ? .trailer : .chunk(remaining: size)
            case .chunk(let remaining):
                guard let piece = piece(upTo: remaining) else { return nil }
                phase = piece.count == remaining ? .chunkEnd : .chunk(remaining: remaining - piece.count)
                return .body(piece)
            case .chunkEnd:
                guard try skipChunkEnd() else { return nil }
                phase = .chunkSize
            case .trailer:
                guard let line = try line(within: limits.head - headBytes, status: 431) else { return nil }
                if line.isEmpty {
                    (headBytes, fieldCount) = (0, 0)
                    phase = .end
                } else {
                    try count(line)
                    // Validated and dropped: no interface of this server uses trailer fields (RFC 9110 §6.5.1).
                    _ = try HTTP1RequestHead.field(line)
                }
            case .end:
                phase = .requestLine(hasSkippedLine: false)
                if start == buffer.count {
                    // Frees the memory of an idle connection.
                    buffer = []
                    (start, searched) = (0, 0)
                }
                return .end
            }
        }
    }

    private mutating func finish(_ draft: HTTP1RequestHead.Draft) throws(HTTP1Violation) -> HTTP1RequestHead {
        let head = try draft.head()
        (headBytes, fieldCount) = (0, 0)
        switch head.bodyLength {
        case .known(0): phase = .end
        case .known(let length): phase = .body(remaining: length)
        case .chunked: phase = .chunkSize
        }
        return head
    }

    private mutating func count(_ line: ArraySlice<UInt8>) throws(HTTP1Violation) {
        headBytes += line.count + 2
        fieldCount += 1
        guard fieldCount <= limits.fields else {
            throw HTTP1Violation(431, "the request has more than \(limits.fields) fields")
        }
    }

    /// Takes a line without its CRLF; nil until it is complete.
    ///
    /// A line that ends with LF alone is rejected, although a recipient may accept it (RFC 9112 §2.2): a proxy that
    /// does not accept it would parse another message.
    private mutating func line(within limit: Int, status: Int) throws(HTTP1Violation) -> ArraySlice<UInt8>? {
        guard let end = buffer[searched...].firstIndex(of: HTTP1RequestParser.lineFeed) else {
            searched = buffer.count
            guard unreadByteCount <= limit + 1 else { throw HTTP1Violation.tooLong(status) }
            return nil
        }
        guard end > start, buffer[end - 1] == HTTP1RequestParser.carriageReturn else {
            throw HTTP1Violation(400, "a line does not end with CRLF")
        }
        let line = buffer[start..<end - 1]
        guard line.count <= limit else { throw HTTP1Violation.tooLong(status) }
        guard !line.contains(HTTP1RequestParser.carriageReturn) else {
            throw HTTP1Violation(400, "a line contains a carriage return")
        }
        start = end + 1
        searched = start
        return line
    }

    /// Takes available bytes of a body; nil until there are any.
    private mutating func piece(upTo limit: Int) -> [UInt8]? {
        let piece = Array(buffer[start...].prefix(limit))
        start += piece.count
        searched = start
        return piece.isEmpty ? nil : piece
    }

    /// Skips the CRLF after a chunk; returns false until both bytes have arrived.
    private mutating func skipChunkEnd() throws(HTTP1Violation) -> Bool {
        let end = [HTTP1RequestParser.carriageReturn, HTTP1RequestParser.lineFeed]
        let found = buffer[start...].prefix(end.count)
        guard end.starts(with: found) else { throw HTTP1Violation(400, "a chunk is longer than its size") }
        guard found.count == end.count else { return false }
        start += end.count
        searched = start
        return true
    }

    /// Parses a chunk's size and skips its extensions (RFC 9112 §7.1).
    private static func chunkSize(_ line: ArraySlice<UInt8>) throws(HTTP1Violation) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard (1...sizeDigits).contains(digits.count), digits.allSatisfy(\.isHexadecimalDigit),
            line.allSatisfy(\.isFieldValueByte), let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw HTTP1Violation(400, "the size of a chunk is not a hexadecimal number") }
        return size
    }
}

extension HTTP1Violation {
    /// Returns the violation of a line that is longer than its limit.
    fileprivate static func tooLong(_ status: Int) -> HTTP1Violation {
        switch status {
        case 414: HTTP1Violation(status, "the request line is too long")
        case 431: HTTP1Violation(status, "the fields of the request are too long")
        default: HTTP1Violation(status, "the size of a chunk is too long")
        }
    }
}

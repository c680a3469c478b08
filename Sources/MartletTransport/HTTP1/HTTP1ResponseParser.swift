// SPDX-License-Identifier: Apache-2.0

/// A parser for one HTTP/1.1 response (RFC 9112) that arrives in pieces.
///
/// Its work grows with the bytes, not with the number of pieces in which they arrive.
struct HTTP1ResponseParser {
    /// The maximum number of bytes of status lines and fields, including those of interim responses.
    private static let longestHead = 16 * 1024
    /// The maximum number of bytes of the line before a chunk.
    private static let longestChunkLine = 64

    /// The progress of a response.
    enum State {
        /// The bytes are the beginning of a response.
        case incomplete
        /// The response is complete.
        case complete(HTTPResponse)
        /// The bytes are not a response, or are too many.
        case invalid(Problem = .noResponse)
    }

    /// The reason why bytes are not a response.
    enum Problem: String {
        case noResponse = "did not send an HTTP/1 response"
        case longHead = "sent more than 16 KB of header fields"
        case interimResponses = "sent more than 16 KB of interim responses (1xx) without a final one"
        case longBody = "sent a response that is too long"
    }

    /// The part that is read next, by which the end of a body is found (RFC 9112 §6.3).
    private enum Phase {
        case head
        case body(length: Int)
        case chunks
        case untilTheEnd
    }

    /// The maximum number of bytes of the body.
    let longestBody: Int
    /// Whether the response includes a body; otherwise it is complete after its head.
    let readsBody: Bool

    private var phase = Phase.head
    private var response = HTTPResponse(status: 0)
    /// The number of bytes that have been parsed.
    private var position = 0

    init(longestBody: Int, readsBody: Bool = true) {
        self.longestBody = longestBody
        self.readsBody = readsBody
    }

    /// Parses the bytes that have been added since the last call.
    ///
    /// - Parameters:
    ///   - bytes: All bytes that have arrived.
    ///   - isAll: Whether no more will arrive.
    /// - Returns: The response once it is complete; a truncated one never is.
    mutating func state(of bytes: [UInt8], isAll: Bool) -> State {
        while case .head = phase {
            guard let end = HTTP1ResponseParser.endOfHead(bytes, from: position) else {
                guard HTTP1ResponseParser.mayBegin(bytes[position...]) else { return .invalid() }
                guard bytes.count > HTTP1ResponseParser.longestHead else { return .incomplete }
                return .invalid(position == 0 ? .longHead : .interimResponses)
            }
            guard let head = HTTP1ResponseParser.head(bytes[position..<end]) else { return .invalid() }
            response = head
            position = end
            if HTTP1ResponseParser.isInterim(head) { continue }
            guard readsBody else { return .complete(response) }
            guard let next = phase(after: head) else { return .invalid(.longBody) }
            phase = next
        }
        let rest = bytes[position...]
        switch phase {
        case .head: return .incomplete
        case .chunks: return chunks(of: bytes)
        case .body(let length):
            guard rest.count >= length else { return .incomplete }
            response.body = Array(rest.prefix(length))
        case .untilTheEnd:
            guard rest.count <= longestBody else { return .invalid(.longBody) }
            guard isAll else { return .incomplete }
            response.body = Array(rest)
        }
        return .complete(response)
    }

    /// Whether a head is that of an interim response; any number of them may precede the final one (RFC 9110 §15.2).
    private static func isInterim(_ head: HTTPResponse) -> Bool {
        (100..<200).contains(head.status) && head.status != 101
    }

    /// Returns the part that follows a head; nil when it declares a body that is too long or has no length.
    private func phase(after head: HTTPResponse) -> Phase? {
        if head.fields["transfer-encoding"]?.lowercased() == "chunked" { return .chunks }
        if head.status == 204 || head.status == 304 { return .body(length: 0) }
        guard let text = head.fields["content-length"] else { return .untilTheEnd }
        return Int(text).flatMap { (0...longestBody).contains($0) ? .body(length: $0) : nil }
    }

    /// Parses chunks of the body (RFC 9112 §7.1).
    private mutating func chunks(of bytes: [UInt8]) -> State {
        while true {
            let line = bytes[position...].prefix(HTTP1ResponseParser.longestChunkLine)
            guard let end = line.firstRange(of: Array("\r\n".utf8)) else {
                return line.count < HTTP1ResponseParser.longestChunkLine ? .incomplete : .invalid()
            }
            let size = String(decoding: line[..<end.lowerBound].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            let room = longestBody - response.body.count
            guard let count = Int(size, radix: 16), count >= 0 else { return .invalid() }
            guard count <= room else { return .invalid(.longBody) }
            if count == 0 { return .complete(response) }
            guard bytes.count - end.upperBound >= count + 2 else { return .incomplete }
            response.body += bytes[end.upperBound..<end.upperBound + count]
            position = end.upperBound + count + 2
        }
    }

    /// Whether these can be the first bytes of a response.
    private static func mayBegin(_ bytes: ArraySlice<UInt8>) -> Bool {
        zip(bytes, "HTTP/1.".utf8).allSatisfy { $0 == $1 }
    }

    /// Returns the end of the head that begins at a position; nil while the head is incomplete.
    private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
        bytes.prefix(longestHead).dropFirst(start).firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
    }

    /// Parses the status line and the fields (RFC 9112 §4, §5).
    private static func head(_ bytes: ArraySlice<UInt8>) -> HTTPResponse? {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
            let status = UInt16(words[1]), status >= 100
        else { return nil }
        var response = HTTPResponse(status: Int(status))
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            response.fields.append(line[..<colon].lowercased(), String(value))
        }
        return response
    }
}

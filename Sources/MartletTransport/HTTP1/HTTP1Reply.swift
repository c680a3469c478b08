// SPDX-License-Identifier: Apache-2.0

/// Reads a response in HTTP/1.1 (RFC 9112) while it arrives: a value without I/O.
///
/// Its work grows with the bytes, not with the number of pieces in which they arrive.
struct HTTP1Reply {
    /// Bytes that status lines and fields may have, those of interim answers included.
    private static let longestHead = 16 * 1024
    /// Bytes that the line before a chunk may have.
    private static let longestChunkLine = 64

    /// The progress of an answer.
    enum State {
        /// The beginning of an answer.
        case more
        /// A whole answer.
        case whole(HTTPResponse)
        /// Bytes that are not an answer, or are too many.
        case nonsense(Nonsense = .noAnswer)
    }

    /// The reason why bytes are not an answer.
    enum Nonsense: String {
        case noAnswer = "did not send an HTTP/1 response"
        case longHead = "sent more than 16 KB of header fields"
        case interimAnswers = "sent more than 16 KB of interim responses (1xx) without a final one"
        case longBody = "sent a response that is too long"
    }

    /// The part that is read next, by which the end of a body is found (RFC 9112 §6.3).
    private enum Phase {
        case head
        case body(length: Int)
        case chunks
        case untilTheEnd
    }

    /// Bytes that the body may have.
    let longestBody: Int
    /// Whether the answer includes its body; otherwise it is whole after its head.
    let readsBody: Bool

    private var phase = Phase.head
    private var response = HTTPResponse(status: 0)
    /// The number of bytes that have been read for good.
    private var position = 0

    init(longestBody: Int, readsBody: Bool = true) {
        self.longestBody = longestBody
        self.readsBody = readsBody
    }

    /// Reads what has been added since the last call.
    ///
    /// - Parameters:
    ///   - bytes: Everything that has arrived so far.
    ///   - isAll: Whether no more will arrive.
    /// - Returns: The answer, once it is whole; one that breaks off never is.
    mutating func state(of bytes: [UInt8], isAll: Bool) -> State {
        while case .head = phase {
            guard let end = HTTP1Reply.endOfHead(bytes, from: position) else {
                guard HTTP1Reply.mayBegin(bytes[position...]) else { return .nonsense() }
                guard bytes.count > HTTP1Reply.longestHead else { return .more }
                return .nonsense(position == 0 ? .longHead : .interimAnswers)
            }
            guard let head = HTTP1Reply.head(bytes[position..<end]) else { return .nonsense() }
            response = head
            position = end
            if HTTP1Reply.isInterim(head) { continue }
            guard readsBody else { return .whole(response) }
            guard let next = phase(after: head) else { return .nonsense(.longBody) }
            phase = next
        }
        let rest = bytes[position...]
        switch phase {
        case .head: return .more
        case .chunks: return chunks(of: bytes)
        case .body(let length):
            guard rest.count >= length else { return .more }
            response.body = Array(rest.prefix(length))
        case .untilTheEnd:
            guard rest.count <= longestBody else { return .nonsense(.longBody) }
            guard isAll else { return .more }
            response.body = Array(rest)
        }
        return .whole(response)
    }

    /// Whether a head is that of an interim answer, which comes before the real one (RFC 9110 §15.2), any number of
    /// times.
    private static func isInterim(_ head: HTTPResponse) -> Bool {
        (100..<200).contains(head.status) && head.status != 101
    }

    /// The part that follows a head; nil when it declares a body that is too long or has no length.
    private func phase(after head: HTTPResponse) -> Phase? {
        if head.fields["transfer-encoding"]?.lowercased() == "chunked" { return .chunks }
        if head.status == 204 || head.status == 304 { return .body(length: 0) }
        guard let text = head.fields["content-length"] else { return .untilTheEnd }
        return Int(text).flatMap { (0...longestBody).contains($0) ? .body(length: $0) : nil }
    }

    /// Reads chunks of the body (RFC 9112 §7.1).
    private mutating func chunks(of bytes: [UInt8]) -> State {
        while true {
            let line = bytes[position...].prefix(HTTP1Reply.longestChunkLine)
            guard let end = line.firstRange(of: Array("\r\n".utf8)) else {
                return line.count < HTTP1Reply.longestChunkLine ? .more : .nonsense()
            }
            let size = String(decoding: line[..<end.lowerBound].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            let room = longestBody - response.body.count
            guard let count = Int(size, radix: 16), count >= 0 else { return .nonsense() }
            guard count <= room else { return .nonsense(.longBody) }
            if count == 0 { return .whole(response) }
            guard bytes.count - end.upperBound >= count + 2 else { return .more }
            response.body += bytes[end.upperBound..<end.upperBound + count]
            position = end.upperBound + count + 2
        }
    }

    /// Whether these can be the first bytes of an answer.
    private static func mayBegin(_ bytes: ArraySlice<UInt8>) -> Bool {
        zip(bytes, "HTTP/1.".utf8).allSatisfy { $0 == $1 }
    }

    /// The end of the head that begins at a position; nil while the head goes on.
    private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
        bytes.prefix(longestHead).dropFirst(start).firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
    }

    /// Status line and fields (RFC 9112 §4, §5).
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

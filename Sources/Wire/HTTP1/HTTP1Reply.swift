/// Reads an answer in HTTP/1.1 (RFC 9112) from the bytes that have come so far: a value without I/O.
struct HTTP1Reply {
    /// Bytes of a status line and fields that are read before they count as none.
    private static let longestHead = 16 * 1024

    /// What the bytes are.
    enum State {
        /// The beginning of an answer.
        case more
        /// A whole answer.
        case whole(HTTPResponse)
        /// No answer.
        case nonsense
    }

    /// Bytes of a body that are read; what is longer is no answer.
    let longestBody: Int

    /// What the bytes are.
    ///
    /// - Parameters:
    ///   - bytes: Everything that has come so far.
    ///   - isAll: Whether no more will come.
    /// - Returns: The answer, once it is whole; one that breaks off never is.
    func state(of bytes: [UInt8], isAll: Bool) -> State {
        guard let end = HTTP1Reply.endOfHead(bytes) else {
            return bytes.count > HTTP1Reply.longestHead || !HTTP1Reply.mayBegin(bytes) ? .nonsense : .more
        }
        guard var response = HTTP1Reply.head(bytes[..<end]) else { return .nonsense }
        let rest = bytes[end...]
        // An interim answer (RFC 9110 §15.2) comes before the real one.
        if (100..<200).contains(response.status), response.status != 101 {
            return state(of: Array(rest), isAll: isAll)
        }
        if response.fields["transfer-encoding"]?.lowercased() == "chunked" {
            switch HTTP1Reply.unchunked(rest, limit: longestBody) {
            case .body(let body): response.body = body
            case .more: return .more
            case .nonsense: return .nonsense
            }
            return .whole(response)
        }
        if response.status == 204 || response.status == 304 { return .whole(response) }
        if let text = response.fields["content-length"] {
            guard let length = Int(text), (0...longestBody).contains(length) else { return .nonsense }
            guard rest.count >= length else { return .more }
            response.body = Array(rest.prefix(length))
            return .whole(response)
        }
        guard rest.count <= longestBody else { return .nonsense }
        response.body = Array(rest)
        return isAll ? .whole(response) : .more
    }

    /// Whether these can be the first bytes of an answer.
    private static func mayBegin(_ bytes: [UInt8]) -> Bool {
        zip(bytes, "HTTP/1.".utf8).allSatisfy { $0 == $1 }
    }

    /// Where the body begins; nil while the head goes on.
    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        bytes.prefix(longestHead).firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
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

    private enum Chunks {
        case body([UInt8])
        case more
        case nonsense
    }

    /// A body that comes in chunks (RFC 9112 §7.1).
    private static func unchunked(_ bytes: ArraySlice<UInt8>, limit: Int) -> Chunks {
        var body: [UInt8] = []
        var rest = bytes
        while let end = rest.firstRange(of: Array("\r\n".utf8)) {
            let size = String(decoding: rest[..<end.lowerBound].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard let count = Int(size, radix: 16), (0...limit - body.count).contains(count) else { return .nonsense }
            if count == 0 { return .body(body) }
            rest = rest[end.upperBound...]
            guard rest.count >= count + 2 else { return .more }
            body += rest.prefix(count)
            rest = rest.dropFirst(count + 2)
        }
        return rest.count > 64 ? .nonsense : .more
    }
}

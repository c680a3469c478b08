// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// A violation of HTTP/1.1, with the status code that reports it.
struct HTTP1Violation: Error, Equatable {
    /// The status code of the response.
    var status: Int
    /// The violated rule, as the detail of a problem for the client.
    var message: String

    init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The violation for a body that exceeds the memory for bodies.
    static let overloaded = HTTP1Violation(503, "the server is reading too many requests; try again in a second")
}

/// The request line and fields, with the properties of the message that they declare.
struct HTTP1RequestHead: Equatable {
    /// The length of the body that the fields declare (RFC 9112 §6.3).
    enum BodyLength: Equatable {
        case known(Int)
        case chunked
    }

    /// The request, without its body.
    var request: HTTPRequest
    var bodyLength: BodyLength
    /// Whether the client can send another request on the connection after this one.
    var keepsAlive: Bool
    /// Whether the client waits for status 100 before it sends the body (RFC 9110 §10.1.1).
    var expectsContinue: Bool
    /// Whether the client uses HTTP/1.0, which has no chunked coding.
    var isHTTP10: Bool
}

extension HTTP1RequestHead {
    /// A head that is parsed line by line.
    ///
    /// Everything that two servers could interpret differently is rejected, because a difference between a proxy and
    /// this server allows request smuggling (RFC 9112 §11.2).
    struct Draft {
        private let method: String
        private let target: String
        private let isHTTP10: Bool
        private var authority: String?
        private var fields = HTTPFields()
        private var hostCount = 0
        private var contentLength: Int?
        private var isChunked = false
        private var asksForClose = false
        private var asksForKeepAlive = false
        private var expectsContinue = false

        /// Parses a request line (RFC 9112 §3).
        ///
        /// - Throws: ``HTTP1Violation`` with status 400, or 505 for another version.
        init(requestLine line: ArraySlice<UInt8>) throws(HTTP1Violation) {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count == 3, (1...32).contains(words[0].count), words[0].allSatisfy(\.isTokenCharacter),
                !words[1].isEmpty, words[1].allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw HTTP1Violation(400, "the request line is not of the form METHOD TARGET HTTP/1.1") }
            switch String(decoding: words[2], as: UTF8.self) {
            case "HTTP/1.1": isHTTP10 = false
            case "HTTP/1.0": isHTTP10 = true
            case let version where version.hasPrefix("HTTP/"):
                throw HTTP1Violation(505, "the only supported version is HTTP/1.1")
            default: throw HTTP1Violation(400, "the request line does not end with HTTP/1.1")
            }
            method = String(decoding: words[0], as: UTF8.self)
            let text = String(decoding: words[1], as: UTF8.self)
            if text.hasPrefix("/") || text == "*" && method == "OPTIONS" {
                target = text
            } else if let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) }) {
                // The absolute form, which proxies send (RFC 9112 §3.2.2).
                let rest = text.dropFirst(scheme.count)
                let path = rest.drop { $0 != "/" && $0 != "?" }
                authority = String(rest.prefix { $0 != "/" && $0 != "?" })
                target = path.hasPrefix("/") ? String(path) : "/" + path
            } else {
                throw HTTP1Violation(400, "the target of the request does not begin with a slash")
            }
        }

        /// Parses a field line and adds the field (RFC 9112 §5).
        ///
        /// - Throws: ``HTTP1Violation`` with status 400, 413, 417 or 501.
        mutating func add(_ line: ArraySlice<UInt8>) throws(HTTP1Violation) {
            let (name, value) = try HTTP1RequestHead.field(line)
            switch name {
            case "host": try addHost(value)
            case "content-length": try addContentLength(value)
            case "transfer-encoding": try addTransferEncoding(value)
            case "connection":
                for option in value.lowercased().split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
                    if option == "close" { asksForClose = true }
                    if option == "keep-alive" { asksForKeepAlive = true }
                }
            case "expect":
                guard value.lowercased() == "100-continue" else {
                    throw HTTP1Violation(417, "the only supported expectation is 100-continue")
                }
                expectsContinue = true
            default: break
            }
            fields.append(name, value)
        }

        private mutating func addHost(_ value: String) throws(HTTP1Violation) {
            hostCount += 1
            guard hostCount == 1 else { throw HTTP1Violation(400, "the field Host occurs more than once") }
            // The value must not be a list or contain a path or user information (RFC 9110 §7.2).
            guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !",/\\@?#".utf8.contains($0) }) else {
                throw HTTP1Violation(400, "the field Host is not a host name with an optional port")
            }
        }

        private mutating func addContentLength(_ value: String) throws(HTTP1Violation) {
            guard contentLength == nil else {
                throw HTTP1Violation(400, "the field Content-Length occurs more than once")
            }
            let digits = value.utf8
            guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                throw HTTP1Violation(400, "the field Content-Length is not a number of bytes")
            }
            guard let length = Int(value) else { throw HTTP1Violation(413, "the body is too long") }
            contentLength = length
        }

        private mutating func addTransferEncoding(_ value: String) throws(HTTP1Violation) {
            guard !isChunked else { throw HTTP1Violation(400, "the field Transfer-Encoding occurs more than once") }
            guard value.lowercased() == "chunked" else {
                throw HTTP1Violation(501, "the only supported transfer coding is chunked")
            }
            isChunked = true
        }

        /// Returns the head when the empty line has been read.
        ///
        /// - Throws: ``HTTP1Violation`` with status 400 when fields are missing or contradict each other.
        func head() throws(HTTP1Violation) -> HTTP1RequestHead {
            guard isHTTP10 || hostCount == 1 else { throw HTTP1Violation(400, "the field Host is missing") }
            if isChunked {
                guard contentLength == nil else {
                    throw HTTP1Violation(400, "the request has both Content-Length and Transfer-Encoding")
                }
                guard !isHTTP10 else { throw HTTP1Violation(400, "HTTP/1.0 has no Transfer-Encoding") }
            }
            let request = HTTPRequest(
                method: method,
                scheme: "http",
                authority: authority ?? fields["host"] ?? "",
                target: target,
                fields: fields
            )
            return HTTP1RequestHead(
                request: request,
                bodyLength: isChunked ? .chunked : .known(contentLength ?? 0),
                keepsAlive: !asksForClose && (!isHTTP10 || asksForKeepAlive),
                expectsContinue: expectsContinue && !isHTTP10 && (isChunked || contentLength ?? 0 > 0),
                isHTTP10: isHTTP10
            )
        }
    }

    /// Returns the lower-case name and the value of a field line.
    ///
    /// - Throws: ``HTTP1Violation`` with status 400.
    static func field(_ line: ArraySlice<UInt8>) throws(HTTP1Violation) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(\.isTokenCharacter)
        else { throw HTTP1Violation(400, "a field line is not of the form NAME: VALUE") }
        let value = line[(colon + 1)...]
        guard value.allSatisfy(\.isFieldValueByte) else {
            throw HTTP1Violation(400, "a field's value contains a control character")
        }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        return (name, String(decoding: value.trimmed, as: UTF8.self))
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without leading and trailing spaces and tabs.
    fileprivate var trimmed: ArraySlice {
        let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let rest = drop(while: isSpace)
        return rest.prefix(upTo: rest.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? rest.startIndex)
    }
}

extension UInt8 {
    /// Whether the byte is allowed in a method or in a field's name (RFC 9110 §5.6.2).
    var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }

    /// Whether the byte is allowed in a field's value (RFC 9110 §5.5).
    var isFieldValueByte: Bool { self >= 0x20 && self != 0x7F || self == UInt8(ascii: "\t") }
}

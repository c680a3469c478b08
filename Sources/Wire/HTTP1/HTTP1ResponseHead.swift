/// A status line and fields as they travel (RFC 9112 §4).
struct HTTP1ResponseHead {
    /// The way in which the client learns where the body ends.
    enum Framing {
        /// There is no body by the status (RFC 9110 §6.4.1).
        case none
        case length(Int)
        case chunked
        /// The body ends with the connection, for clients without chunks.
        case close
    }

    var status: Int
    var fields: HTTPFields
    var framing: Framing
    /// Whether the connection serves another request afterwards.
    var keepsAlive: Bool
    /// Whether the client has to be told that the connection stays open.
    var isHTTP10: Bool
    /// The value of `date`.
    var date: String

    /// The status line, the fields and the empty line.
    var bytes: [UInt8] {
        var text = "HTTP/1.1 \(status) \(HTTP1ResponseHead.phrases[status] ?? "")\r\ndate: \(date)\r\n"
        // The framing is this server's to decide.
        for (name, value) in fields where !name.hasPrefix(":") && !HTTP1ResponseHead.ownFields.contains(name) {
            text += "\(name): \(value)\r\n"
        }
        switch framing {
        case .none, .close: break
        case .length(let length): text += "content-length: \(length)\r\n"
        case .chunked: text += "transfer-encoding: chunked\r\n"
        }
        if !keepsAlive { text += "connection: close\r\n" } else if isHTTP10 { text += "connection: keep-alive\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// Whether a response can be written (RFC 9110 §5.1, §5.5 and §15).
    static func canCarry(_ response: HTTPResponse) -> Bool {
        (200...599).contains(response.status)
            && response.fields.allSatisfy { name, value in
                name.hasPrefix(":")
                    || !name.isEmpty && name.utf8.allSatisfy(\.isTokenCharacter)
                        && value.utf8.allSatisfy(\.isFieldValueByte)
            }
    }

    private static let ownFields: Set<String> = ["connection", "content-length", "date", "transfer-encoding"]

    private static let phrases = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 304: "Not Modified", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type",
        417: "Expectation Failed", 422: "Unprocessable Content", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
        502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// A status line and fields, and their encoding (RFC 9112 §4).
struct HTTP1ResponseHead {
    /// The method by which the client finds the end of the body.
    enum Framing {
        /// The status allows no body (RFC 9110 §6.4.1).
        case none
        case length(Int)
        case chunked
        /// The end of the connection ends the body, for clients without chunked coding.
        case close
    }

    var status: Int
    var fields: HTTPFields
    var framing: Framing
    /// Whether the connection stays open for another request.
    var keepsAlive: Bool
    /// Whether the client uses HTTP/1.0 and has to be told that the connection stays open.
    var isHTTP10: Bool
    /// The value of the `date` field.
    var date: String

    /// The encoded status line and fields, with the empty line.
    var bytes: [UInt8] {
        var text = "HTTP/1.1 \(status) \(HTTP1ResponseHead.phrases[status] ?? "")\r\ndate: \(date)\r\n"
        // The server chooses the framing, so a handler's fields for it are dropped.
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

    /// Returns whether a response can be encoded (RFC 9110 §5.1, §5.5 and §15).
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

// SPDX-License-Identifier: Apache-2.0

package import MartletCore
package import MartletTransport

/// A problem that an HTTP interface reports in the format of RFC 9457.
package struct APIProblem: Error, JSONFieldError {
    /// The HTTP status.
    package var status: Int
    /// The problem, as a sentence without the final full stop.
    package var detail: String
    /// The location of the problem in the body, as a JSON Pointer (RFC 6901); nil when it is not in the body.
    package var pointer: String?
    /// The delay in seconds before a retry; nil when a retry would not help.
    package var retryAfter: Int?

    /// Further members of the problem, as RFC 9457 §3.2 permits.
    package var extensions: [JSONValue.Member] = []

    /// Creates a problem from its parts.
    package init(_ status: Int, _ detail: String, at pointer: String? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.detail = detail
        self.pointer = pointer
        self.retryAfter = retryAfter
    }

    /// Creates the problem of a value in a request's body.
    package init(_ message: String, at path: JSONPath) {
        self.init(400, message, at: path.pointer)
    }

    /// The problem as JSON.
    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("status", .integer(status)), .init("detail", .string(detail)),
        ]
        // A line of a batch response has no header fields, so the delay is also part of the JSON.
        if let retryAfter { members.append(.init("retry-after", .integer(retryAfter))) }
        if let pointer {
            members.append(.init("errors", [["pointer": .string(pointer), "detail": .string(detail)]]))
        }
        return .object(members + extensions)
    }

    /// The problem as an answer of a handler.
    package var answer: HTTP1Answer { .whole(response) }

    /// The problem as an HTTP response.
    package var response: HTTPResponse {
        var fields: HTTPFields = ["content-type": "application/problem+json", "cache-control": "no-store"]
        if let retryAfter { fields.append("retry-after", String(retryAfter)) }
        return HTTPResponse(status: status, fields: fields, body: json.encoded())
    }
}

extension HTTP1Answer {
    /// A response without a body, status 204.
    package static let done = HTTP1Answer.whole(HTTPResponse(status: 204))

    /// Returns a response with plain text.
    package static func text(_ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8")
        -> HTTP1Answer
    {
        .bytes(Array(text.utf8), status: status, type: type)
    }

    /// Returns a response with JSON.
    package static func json(_ value: JSONValue, status: Int = 200, type: String = "application/json") -> HTTP1Answer {
        .bytes(value.encoded(), status: status, type: type)
    }

    /// Returns a response with bytes.
    package static func bytes(_ bytes: [UInt8], status: Int = 200, type: String) -> HTTP1Answer {
        .whole(HTTPResponse(status: status, fields: ["content-type": type, "cache-control": "no-store"], body: bytes))
    }
}

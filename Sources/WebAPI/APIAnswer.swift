package import APNs
package import Wire

/// Why a request to an HTTP interface cannot be answered, as RFC 9457 has it told.
package struct APIProblem: Error {
    /// The HTTP status.
    package var status: Int
    /// What is wrong, in a sentence without the final stop.
    package var detail: String
    /// Where in the body it is wrong, as a JSON pointer (RFC 6901); nil when it is not there.
    package var pointer: String?
    /// When to come again, in seconds; nil when that would not help.
    package var retryAfter: Int?

    /// A problem from its parts.
    package init(_ status: Int, _ detail: String, at pointer: String? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.detail = detail
        self.pointer = pointer
        self.retryAfter = retryAfter
    }

    /// The problem in JSON.
    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("status", .number(JSONNumber(status))), .init("detail", .string(detail)),
        ]
        // In a line of a batch there is no field for it.
        if let retryAfter { members.append(.init("retry-after", .number(JSONNumber(retryAfter)))) }
        if let pointer {
            members.append(.init("errors", [["pointer": .string(pointer), "detail": .string(detail)]]))
        }
        return .object(members)
    }

    /// The problem as an answer.
    package var answer: HTTP1Answer { .whole(response) }

    /// The problem as a response.
    package var response: HTTPResponse {
        var fields: HTTPFields = ["content-type": "application/problem+json", "cache-control": "no-store"]
        if let retryAfter { fields.append("retry-after", String(retryAfter)) }
        return HTTPResponse(status: status, fields: fields, body: json.encoded())
    }
}

extension HTTP1Answer {
    /// An answer without a body.
    package static let done = HTTP1Answer.whole(HTTPResponse(status: 204))

    /// An answer in plain text.
    package static func text(_ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8")
        -> HTTP1Answer
    {
        .bytes(Array(text.utf8), status: status, type: type)
    }

    /// An answer in JSON.
    package static func json(_ value: JSONValue, status: Int = 200, type: String = "application/json") -> HTTP1Answer {
        .bytes(value.encoded(), status: status, type: type)
    }

    /// An answer of bytes.
    package static func bytes(_ bytes: [UInt8], status: Int = 200, type: String) -> HTTP1Answer {
        .whole(
            HTTPResponse(status: status, fields: ["content-type": type, "cache-control": "no-store"], body: bytes)
        )
    }
}

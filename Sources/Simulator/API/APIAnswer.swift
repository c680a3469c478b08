internal import APNs
internal import Wire

/// Why a request to the HTTP interface cannot be answered, as RFC 9457 has it told.
struct APIProblem: Error {
    var status: Int
    var detail: String

    init(_ status: Int, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    var answer: HTTP1Answer {
        .json(
            ["status": .number(JSONNumber(status)), "detail": .string(detail)],
            status: status,
            type: "application/problem+json"
        )
    }
}

extension HTTP1Answer {
    /// An answer without a body.
    static let done = HTTP1Answer.whole(HTTPResponse(status: 204))

    static func text(_ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8") -> HTTP1Answer {
        .bytes(Array(text.utf8), status: status, type: type)
    }

    static func json(_ value: JSONValue, status: Int = 200, type: String = "application/json") -> HTTP1Answer {
        .bytes(value.encoded(), status: status, type: type)
    }

    static func bytes(_ bytes: [UInt8], status: Int = 200, type: String) -> HTTP1Answer {
        .whole(
            HTTPResponse(status: status, fields: ["content-type": type, "cache-control": "no-store"], body: bytes)
        )
    }
}

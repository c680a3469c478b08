/// A whole HTTP response, the same for HTTP/2 and HTTP/1.1: fields, `:status` among them, and a body.
package struct HTTPResponse: Sendable, Hashable {
    /// All fields, `:status` first.
    package var fields: HTTPFields
    /// The whole body; empty when there is none.
    package var body: [UInt8]

    /// A response from fields that already hold `:status`.
    package init(fields: HTTPFields, body: [UInt8] = []) {
        self.fields = fields
        self.body = body
    }

    /// A response from its parts.
    package init(status: Int, fields: HTTPFields = [:], body: [UInt8] = []) {
        var all: HTTPFields = [":status": String(status)]
        all.append(contentsOf: fields)
        self.init(fields: all, body: body)
    }

    /// The status code; 0 when the peer sent none that is a number.
    package var status: Int { fields.status }
}

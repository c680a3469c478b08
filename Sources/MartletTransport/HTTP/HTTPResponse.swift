// SPDX-License-Identifier: Apache-2.0

/// A complete HTTP response for HTTP/2 and HTTP/1.1: fields, including `:status`, and a body.
package struct HTTPResponse: Sendable, Hashable {
    /// All fields, `:status` first.
    package var fields: HTTPFields
    /// The complete body; empty when there is none.
    package var body: [UInt8]

    /// Creates a response from fields that include `:status`.
    package init(fields: HTTPFields, body: [UInt8] = []) {
        self.fields = fields
        self.body = body
    }

    package init(status: Int, fields: HTTPFields = [:], body: [UInt8] = []) {
        var all: HTTPFields = [":status": String(status)]
        all.append(contentsOf: fields)
        self.init(fields: all, body: body)
    }

    /// The status code; 0 when it is missing or not a number of three digits.
    package var status: Int { fields.status }
}

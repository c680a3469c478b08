// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletTransport

/// A response of APNs ("Handling notification responses from APNs", "Handling error responses from APNs").
package struct APNsResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The reason why the request was rejected; nil when it was accepted.
    package var reason: APNsReason?
    /// The time at which the token was last confirmed as unregistered, in milliseconds since 1970, for status 410.
    package var timestamp: Int64?
    /// The identifiers and further fields.
    package var fields: [(name: String, value: String)]
    /// The body of a response that accepts the request.
    package var body: JSONValue?

    /// Creates a response from its parts.
    package init(
        status: Int,
        reason: APNsReason? = nil,
        timestamp: Int64? = nil,
        fields: [(name: String, value: String)],
        body: JSONValue? = nil
    ) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.fields = fields
        self.body = body
    }

    /// The usual size in bytes of the fields for an accepted push.
    private static let usualFieldBytes = 192

    /// The response as an HTTP response.
    var http: HTTPResponse {
        var fields = HTTPFields(capacity: APNsResponse.usualFieldBytes)
        fields.append(":status", String(status))
        for (name, value) in self.fields { fields.append(name, value, isIndexed: false) }
        guard let body = body ?? refusal else { return HTTPResponse(fields: fields) }
        fields.append("content-type", "application/json")
        return HTTPResponse(fields: fields, body: body.encoded())
    }

    private var refusal: JSONValue? {
        guard let reason else { return nil }
        var members = [JSONValue.Member("reason", .string(reason.rawValue))]
        if let timestamp { members.append(JSONValue.Member("timestamp", .number(JSONNumber(timestamp)))) }
        return .object(members)
    }
}

package import APNs
internal import Wire

/// An answer of APNs ("Handling notification responses from APNs", "Handling error responses from APNs").
package struct APNsResponse: Sendable {
    /// The HTTP status.
    package var status: Int
    /// Why the request was refused; nil when it was not.
    package var reason: Reason?
    /// With status 410: when the token was last confirmed dead, in milliseconds since 1970.
    package var timestamp: Int64?
    /// The identifiers and whatever else is told in fields.
    package var fields: [(name: String, value: String)]
    /// The body of an answer that is no refusal.
    package var body: JSONValue?

    /// An answer from its parts.
    package init(
        status: Int,
        reason: Reason? = nil,
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

    /// Bytes that the fields of an accepted push take.
    private static let usualFieldBytes = 192

    /// The answer as it travels.
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

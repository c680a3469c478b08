package import APNs
internal import Wire

/// An answer of APNs ("Handling notification responses from APNs").
package struct APNsResponse: Sendable, Hashable {
    /// The HTTP status.
    package var status: Int
    /// Why the push was refused; nil when it was not.
    package var reason: Reason?
    /// With status 410: when the token was last confirmed dead, in milliseconds since 1970.
    package var timestamp: Int64?
    /// The value of `apns-id`.
    package var id: String
    /// The value of `apns-unique-id`, which only the development environment gives.
    package var uniqueID: String?

    /// An answer from its parts.
    package init(status: Int, reason: Reason? = nil, timestamp: Int64? = nil, id: String, uniqueID: String? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.id = id
        self.uniqueID = uniqueID
    }

    /// The answer as it travels: accepted pushes have no body, refused ones a JSON object with the reason.
    var http: HTTPResponse {
        var fields: HTTPFields = [":status": String(status)]
        fields.append("apns-id", id, isIndexed: false)
        if let uniqueID { fields.append("apns-unique-id", uniqueID, isIndexed: false) }
        guard let reason else { return HTTPResponse(fields: fields) }
        fields.append("content-type", "application/json")
        var members = [JSONValue.Member("reason", .string(reason.rawValue))]
        if let timestamp { members.append(JSONValue.Member("timestamp", .number(JSONNumber(timestamp)))) }
        return HTTPResponse(fields: fields, body: JSONValue.object(members).encoded())
    }
}

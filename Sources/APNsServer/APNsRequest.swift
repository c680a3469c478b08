package import APNs
internal import Wire

/// A request to APNs as it came in: taken apart, but not judged.
package struct APNsRequest: Sendable {
    /// The HTTP method.
    package var method: String
    /// The path as it was sent.
    package var path: String
    /// The headers that describe a push.
    package var headers: PushHeaders
    /// The value of `authorization`.
    package var authorization: [UInt8]?
    /// The body, cut off when it is longer than the listener keeps.
    package var body: [UInt8]
    /// Whether the body was cut off.
    package var isBodyTooLong: Bool
    /// The first field that was sent more than once, if any.
    package var duplicatedField: String?

    init(_ stream: HTTP2Stream) {
        let fields = stream.fields
        method = fields[":method"] ?? ""
        path = fields[":path"] ?? ""
        headers = PushHeaders(
            pushType: fields["apns-push-type"],
            id: fields["apns-id"],
            expiration: fields["apns-expiration"],
            priority: fields["apns-priority"],
            topic: fields["apns-topic"],
            collapseID: fields["apns-collapse-id"]
        )
        authorization = fields.bytes(of: "authorization")
        body = stream.body
        isBodyTooLong = stream.isBodyTooLong
        duplicatedField =
            fields.firstDuplicate(startingWith: "apns-") ?? fields.firstDuplicate(startingWith: "authorization")
    }

    /// The text after `/3/device/`; nil when the path is another.
    package var deviceToken: Substring? {
        let prefix = "/3/device"
        guard path.hasPrefix(prefix) else { return nil }
        let rest = path.dropFirst(prefix.count)
        if rest.isEmpty { return rest }
        return rest.first == "/" ? rest.dropFirst() : nil
    }
}

/// Answers one request, once; lives on the listener's loop.
package struct APNsReply {
    private let connection: HTTP2Connection
    private let stream: HTTP2Stream

    init(_ connection: HTTP2Connection, _ stream: HTTP2Stream) {
        self.connection = connection
        self.stream = stream
    }

    /// Sends the answer; does nothing when the client has gone.
    package func send(_ response: APNsResponse) {
        connection.answer(stream, with: response.http)
    }
}

package import APNs
package import Wire

/// A request to APNs as it came in: taken apart, but not judged.
package struct APNsRequest: Sendable {
    /// The HTTP method.
    package var method: String
    /// What the path is about; nil when APNs knows no such path.
    package let target: Target?
    /// The headers that describe a push.
    package var headers: PushHeaders
    /// `apns-channel-id`.
    package var channelID: String?
    /// `apns-request-id`, which broadcasts and requests about channels have in place of `apns-id`.
    package var requestID: String?
    /// `x-martlet-namespace`, with which a client says which test a push belongs to; APNs itself overlooks it.
    package var namespace: String?
    /// Whether the client would rather be answered at once than wait (`prefer: respond-async`, RFC 7240 §4.1); APNs
    /// itself overlooks it.
    package var prefersAsync: Bool
    /// `traceparent`, the trace that the request is part of; APNs itself overlooks it.
    package var traceParent: String?
    /// The value of `authorization`.
    package var authorization: String?
    /// `content-encoding`; APNs itself does not decompress.
    package var contentEncoding: String?
    /// The body, cut off when it is longer than the listener keeps.
    package var body: [UInt8]
    /// Whether the body was cut off.
    package var isBodyTooLong: Bool
    /// The number of bytes of a body that was cut off; nil for other bodies, and when the client did not declare it.
    package var declaredBodyByteCount: Int?
    /// The first field that was sent more than once, if any.
    package var duplicatedField: String?
    /// The names of fields of APNs that were sent as trailers; they have no effect (RFC 9110 §6.5.1).
    package let trailers: [String]
    /// The request as a whole when its path is none of APNs', for an owner that serves more than that.
    package var other: HTTPRequest?

    init(_ stream: HTTP2Stream) {
        self.init(
            stream.fields,
            body: stream.body,
            isBodyTooLong: stream.isBodyTooLong,
            trailers: stream.trailerNames.filter { $0.hasPrefix("apns-") || $0 == "authorization" }
        )
    }

    /// A request with these fields, pseudo fields among them.
    package init(_ fields: HTTPFields, body: [UInt8], isBodyTooLong: Bool = false, trailers: [String] = []) {
        self.trailers = trailers
        method = fields[":method"] ?? ""
        // Nearly every request is one of these, and its path need not be taken apart.
        if let device = fields.text(of: ":path", after: "/3/device/") {
            target = device.utf8.contains(UInt8(ascii: "/")) ? nil : .device(device)
        } else {
            target = Target(path: fields[":path"] ?? "")
        }
        headers = PushHeaders { fields[$0] }
        // Bytes that are not UTF-8 were replaced, and the replacement is longer than what it stands for.
        if headers.collapseID?.unicodeScalars.contains("\u{FFFD}") == true,
            let bytes = fields.bytes(of: "apns-collapse-id"), String(validating: bytes, as: UTF8.self) == nil
        {
            headers.collapseIDByteCount = bytes.count
        }
        channelID = fields["apns-channel-id"]
        requestID = fields["apns-request-id"]
        namespace = fields["x-martlet-namespace"]
        prefersAsync = fields["prefer"] == "respond-async"
        traceParent = fields["traceparent"]
        authorization = fields["authorization"]
        contentEncoding = fields["content-encoding"]
        self.body = body
        self.isBodyTooLong = isBodyTooLong
        declaredBodyByteCount = isBodyTooLong ? fields["content-length"].flatMap { Int($0) } : nil
        other = target == nil ? HTTPRequest(fields: fields, body: body) : nil
        duplicatedField = fields.firstDuplicate(startingWith: "apns-", or: "authorization")
    }

    /// Whether the request has `apns-request-id` in place of `apns-id`, by the beginning of its path.
    package var hasRequestID: Bool {
        switch target {
        case .device: false
        case .broadcast, .channels, .allChannels: true
        case nil: other.map { $0.path.hasPrefix("/1/") || $0.path.hasPrefix("/4/") } ?? false
        }
    }

    /// What a path is about.
    package enum Target: Equatable, Sendable {
        /// A device, by the text after `/3/device/`.
        case device(String)
        /// Everybody who listens on a channel of an app.
        case broadcast(app: Substring)
        /// One channel of an app, or a new one.
        case channels(app: Substring)
        /// The list of an app's channels.
        case allChannels(app: Substring)
    }
}

extension APNsRequest.Target {
    /// What a path is about that names no device; nil when APNs knows no such path.
    fileprivate init?(path: String) {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        switch parts.count {
        case 2 where parts[0] == "3" && parts[1] == "device": self = .device("")
        case 4 where parts[0] == "4" && parts[1] == "broadcasts" && parts[2] == "apps" && !parts[3].isEmpty:
            self = .broadcast(app: parts[3])
        case 4 where parts[0] == "1" && parts[1] == "apps" && !parts[2].isEmpty:
            switch parts[3] {
            case "channels": self = .channels(app: parts[2])
            case "all-channels": self = .allChannels(app: parts[2])
            default: return nil
            }
        default: return nil
        }
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

    /// The number of the request's stream.
    package var streamID: Int32 { stream.id }

    /// A number of the owner's, with which the end of the stream is reported; 0 until it is set.
    package var tag: Int {
        get { stream.tag }
        nonmutating set { stream.tag = newValue }
    }

    /// Ends the request's stream without an answer.
    package func reset(_ code: HTTP2ErrorCode) {
        connection.reset(stream, code)
    }

    /// Sends an answer that is none of APNs'; does nothing when the client has gone.
    package func send(_ response: HTTPResponse) {
        connection.answer(stream, with: response)
    }

    /// Sends the answer; does nothing when the client has gone.
    package func send(_ response: APNsResponse) {
        connection.answer(stream, with: response.http)
    }
}

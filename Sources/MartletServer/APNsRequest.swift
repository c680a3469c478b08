// SPDX-License-Identifier: Apache-2.0

package import MartletCore
package import MartletTransport

/// A request to APNs, parsed but not validated.
package struct APNsRequest: Sendable {
    /// The HTTP method.
    package var method: String
    /// The target of the path; nil when APNs has no such path.
    package let target: Target?
    /// The headers that describe a push.
    package var headers: PushHeaders
    /// The value of `apns-channel-id`.
    package var channelID: String?
    /// The value of `apns-request-id`, which broadcasts and channel management requests have instead of `apns-id`.
    package var requestID: String?
    /// The value of `x-martlet-namespace`, the client's name of the test that a push belongs to; APNs ignores it.
    package var namespace: String?
    /// Whether the client prefers an immediate response to waiting (`prefer: respond-async`, RFC 7240 §4.1); APNs
    /// ignores it.
    package var prefersAsync: Bool
    /// The value of `traceparent`, the trace that the request is part of; APNs ignores it.
    package var traceParent: String?
    /// The value of `authorization`.
    package var authorization: String?
    /// The value of `content-encoding`; APNs does not decompress.
    package var contentEncoding: String?
    /// The body, truncated when it is longer than the listener's limit.
    package var body: [UInt8]
    /// Whether the body was truncated.
    package var isBodyTooLong: Bool
    /// The declared size of a truncated body in bytes; nil for other bodies, and when the client did not declare it.
    package var declaredBodyByteCount: Int?
    /// The first field that was sent more than once; nil when there is none.
    package var duplicatedField: String?
    /// The names of APNs fields that were sent as trailers, which have no effect (RFC 9110 §6.5.1).
    package let trailers: [String]
    /// The complete request when APNs has no such path, for an owner that serves further paths.
    package var other: HTTPRequest?

    init(_ stream: HTTP2Stream) {
        self.init(
            stream.fields,
            body: stream.body,
            isBodyTooLong: stream.isBodyTooLong,
            trailers: stream.trailerNames.filter { $0.hasPrefix("apns-") || $0 == "authorization" }
        )
    }

    /// Creates a request from its fields, including pseudo-header fields.
    package init(_ fields: HTTPFields, body: [UInt8], isBodyTooLong: Bool = false, trailers: [String] = []) {
        self.trailers = trailers
        method = fields[":method"] ?? ""
        // The fast path for nearly every request, without splitting the path.
        if let device = fields.text(of: ":path", after: "/3/device/") {
            target = device.utf8.contains(UInt8(ascii: "/")) ? nil : .device(device)
        } else {
            target = Target(path: fields[":path"] ?? "")
        }
        headers = PushHeaders { fields[$0] }
        // Bytes that are not UTF-8 were replaced, and the replacement may be longer than the original.
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

    /// Whether the request has `apns-request-id` instead of `apns-id`, according to the beginning of its path.
    package var hasRequestID: Bool {
        switch target {
        case .device: false
        case .broadcast, .channels, .allChannels: true
        case nil: other.map { $0.path.hasPrefix("/1/") || $0.path.hasPrefix("/4/") } ?? false
        }
    }

    /// The target of a path.
    package enum Target: Equatable, Sendable {
        /// A device, by the text after `/3/device/`.
        case device(String)
        /// All devices that are subscribed to a channel of an app.
        case broadcast(app: Substring)
        /// A channel of an app, or a new one.
        case channels(app: Substring)
        /// The list of an app's channels.
        case allChannels(app: Substring)
    }
}

extension APNsRequest.Target {
    /// Creates the target of a path without a device token; nil when APNs has no such path.
    fileprivate init?(path: String) {
        let slash = UInt8(ascii: "/")
        guard path.utf8.first == slash else { return nil }
        let parts = path.utf8.dropFirst().split(separator: slash, maxSplits: 4, omittingEmptySubsequences: false)
            .map(Substring.init)
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

// SPDX-License-Identifier: Apache-2.0

public import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A request as it would be sent, with the findings of the lint rules.
public struct RequestDescription: Sendable, CustomStringConvertible {
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// The value.
        public let value: String
    }

    /// A part of the payload and its size.
    public struct Part: Sendable, Hashable {
        /// The location of the part, as a JSON Pointer (RFC 6901).
        public let pointer: String
        /// The size in bytes, including the name.
        public let byteCount: Int
    }

    /// Every field except the provider token, pseudo-header fields first, in the order of transmission.
    public let fields: [Field]
    /// The body.
    public let body: [UInt8]
    /// The maximum size of the body in bytes; nil for requests without a limit.
    public let bodyLimit: Int?
    /// The findings of the lint rules, errors and likely surprises, in the order of the rules, headers first.
    public let findings: [PushLint.Finding]

    /// The push type, the size of the body and the findings, without the device token and the payload.
    public var description: String {
        let type = fields.first { $0.name == "apns-push-type" }?.value ?? "push without a type"
        return (["\(type) of \(body.count) bytes"] + findings.map(\.description)).joined(separator: "\n")
    }

    /// The path.
    public var path: String { fields.first { $0.name == ":path" }?.value ?? "" }

    /// The number of bytes by which the body may grow; negative when it is too long, nil for requests without a limit.
    public var bytesLeft: Int? { bodyLimit.map { $0 - body.count } }

    /// The members of the payload and separately those of `aps`, with their sizes in bytes; empty when the body is not
    /// JSON.
    public var parts: [Part] {
        let members = (try? JSONReader.read(body))?.members ?? []
        return members.flatMap { member in
            guard member.name == "aps", let inner = member.value.members else { return [part(member, in: [])] }
            return inner.map { part($0, in: ["aps"]) }
        }
    }

    init(_ fields: HTTPFields, body: [UInt8], bodyLimit: Int?, findings: [PushLint.Finding]) {
        self.fields = fields.map { Field(name: $0.name, value: $0.value) }
        self.body = body
        self.bodyLimit = bodyLimit
        self.findings = findings
    }

    /// Creates the description of a broadcast.
    init(_ broadcast: LiveActivityBroadcast, id: APNsID, _ requests: RequestWriter, at clock: WallClock) {
        self.init(
            requests.broadcast(broadcast, id: id),
            body: broadcast.payload,
            bodyLimit: PushLimits.broadcastPayloadByteCount,
            findings: PushLint.check(
                broadcastTo: broadcast.app.rawValue,
                channel: broadcast.channel.rawValue,
                headers: PushHeaders(broadcast),
                payload: broadcast.payload,
                at: Date(secondsSince1970: clock.secondsSince1970())
            )
        )
    }

    private func part(_ member: JSONValue.Member, in path: [String]) -> Part {
        // The size of the quoted name, the colon and the value.
        let count = JSONValue.string(member.name).encoded().count + 1 + member.value.encoded().count
        return Part(pointer: JSONPointer.path(path + [member.name]), byteCount: count)
    }
}

extension PushClient {
    /// Returns the request that ``send(_:to:topic:options:)`` would send, without sending it.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - token: The device.
    ///   - topic: The app's bundle identifier.
    /// - Returns: The request, with all findings of the lint rules.
    /// - Throws: ``APNsError`` with the code `invalid` when the payload cannot be encoded.
    public func describe(
        _ notification: PushNotification,
        to token: DeviceToken,
        topic: Topic
    ) throws(APNsError) -> RequestDescription {
        let id = notification.id ?? identifiers.next()
        let body = try writing(for: id, notification.payload.encoded)
        var headers = PushHeaders(notification, topic: topic)
        let fields = requests.request(to: .device(token), id: id, headers: headers, hasBody: true)
        headers.id = id.description
        return RequestDescription(
            fields,
            body: body,
            bodyLimit: notification.pushType?.payloadByteLimit ?? PushLimits.payloadByteCount,
            findings: PushLint.check(
                headers: headers,
                payload: body,
                at: Date(secondsSince1970: clock.secondsSince1970())
            )
        )
    }

    /// Returns the request that ``broadcast(_:to:topic:timestamp:priority:expiration:options:)`` would send, without
    /// sending it.
    ///
    /// - Parameter broadcast: The broadcast.
    /// - Returns: The request, with all findings of the lint rules.
    public func describe(_ broadcast: LiveActivityBroadcast) -> RequestDescription {
        RequestDescription(broadcast, id: identifiers.next(), requests, at: clock)
    }

    func describe(_ request: Channels.Request, of app: Topic) -> RequestDescription {
        let (target, body) = (request.target(of: app), request.body)
        let fields = channelRequests.request(to: target, id: identifiers.next(), hasBody: !body.isEmpty)
        return RequestDescription(fields, body: body, bodyLimit: nil, findings: [])
    }
}

// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletTransport

/// The resource of APNs that a request is about.
package enum RequestTarget: Sendable, Hashable {
    /// A push to a device, or to a Live Activity.
    case device(DeviceToken)
    /// A push to all devices that are subscribed to a channel of the app with this bundle identifier.
    case broadcast(ChannelID, bundle: String)
    /// A channel of an app, or its list of channels; the HTTP method selects the operation.
    case channels(method: String, bundle: String, ChannelID?, isList: Bool)
}

/// A writer of request fields, except for the provider token, which the connection adds.
///
/// Sources: "Sending notification requests to APNs", table of request headers; "Sending broadcast push notification
/// requests to APNs"; "Sending channel management requests to APNs".
struct RequestWriter: Sendable {
    /// The bytes of the fields of nearly every request, so that they are allocated once.
    private static let usualSize = 768

    private let commonFields: HTTPFields

    init(for endpoint: APNsEndpoint) {
        commonFields = [":scheme": endpoint.isEncrypted ? "https" : "http", ":authority": endpoint.authority]
    }

    /// The common fields of a notification's pushes.
    struct Template {
        /// The fields before the path, and those after the identifier.
        let head: HTTPFields
        let tail: HTTPFields

        func push(to token: DeviceToken, id: APNsID) -> HTTPFields {
            var fields = HTTPFields(capacity: RequestWriter.usualSize)
            fields.append(contentsOf: head)
            fields.append(to: token, id: id)
            fields.append(contentsOf: tail)
            return fields
        }
    }

    /// Returns the common fields of a notification's pushes.
    func template(for notification: PushNotification, topic: Topic) -> Template {
        var tail = HTTPFields()
        tail.append(PushHeaders(notification, topic: topic))
        return Template(head: fields(method: "POST"), tail: tail)
    }

    /// Returns all fields of a request, without `apns-id` of the headers.
    func request(
        to target: RequestTarget,
        id: APNsID,
        headers: PushHeaders = PushHeaders(),
        hasBody: Bool
    ) -> HTTPFields {
        var fields: HTTPFields
        switch target {
        case .device(let token):
            fields = self.fields(method: "POST")
            fields.append(to: token, id: id)
        case .broadcast(let channel, let bundle):
            fields = self.fields(method: "POST")
            fields.append(":path", "/4/broadcasts/apps/" + bundle)
            fields.append("apns-request-id", id.description, isIndexed: false)
            fields.append("apns-channel-id", channel.rawValue, isIndexed: false)
        case .channels(let method, let bundle, let channel, let isList):
            fields = self.fields(method: method)
            fields.append(":path", "/1/apps/" + bundle + (isList ? "/all-channels" : "/channels"))
            fields.append("apns-request-id", id.description, isIndexed: false)
            if let channel { fields.append("apns-channel-id", channel.rawValue, isIndexed: false) }
            if hasBody { fields.append("content-type", "application/json") }
        }
        fields.append(headers)
        return fields
    }

    func broadcast(_ broadcast: LiveActivityBroadcast, id: APNsID) -> HTTPFields {
        let target = RequestTarget.broadcast(broadcast.channel, bundle: broadcast.app.rawValue)
        return request(to: target, id: id, headers: PushHeaders(broadcast), hasBody: true)
    }

    private func fields(method: String) -> HTTPFields {
        var fields = HTTPFields(capacity: RequestWriter.usualSize)
        fields.append(":method", method)
        fields.append(contentsOf: commonFields)
        return fields
    }
}

extension HTTPFields {
    /// Appends the path of a push to a device, and the push's identifier.
    mutating func append(to token: DeviceToken, id: APNsID) {
        append(":path", after: "/3/device/", count: token.digitCount, isIndexed: false) { token.write(into: &$0) }
        append("apns-id", count: APNsID.textLength, isIndexed: false) { id.write(into: &$0) }
    }

    /// Appends the headers that describe a push, except for the identifier.
    fileprivate mutating func append(_ headers: PushHeaders) {
        if let type = headers.pushType { append("apns-push-type", type) }
        if let topic = headers.topic { append("apns-topic", topic) }
        if let priority = headers.priority { append("apns-priority", priority) }
        if let expiration = headers.expiration { append("apns-expiration", expiration, isIndexed: false) }
        if let collapseID = headers.collapseID { append("apns-collapse-id", collapseID, isIndexed: false) }
    }
}

extension PushHeaders {
    /// Creates the headers of a notification, except for the identifier.
    init(_ notification: PushNotification, topic: Topic) {
        self.init(
            pushType: notification.pushType?.rawValue,
            expiration: notification.expiration.map { String($0.secondsSince1970) },
            priority: notification.priority.map { String($0.rawValue) },
            topic: (notification.pushType.map(topic.qualified(for:)) ?? topic).rawValue,
            collapseID: notification.collapseID?.rawValue
        )
    }

    /// Creates the headers of a broadcast, except for the identifier.
    init(_ broadcast: LiveActivityBroadcast) {
        self.init(
            pushType: PushType.liveActivity.rawValue,
            expiration: String(broadcast.expiration.secondsSince1970),
            priority: String(broadcast.priority.rawValue)
        )
    }
}

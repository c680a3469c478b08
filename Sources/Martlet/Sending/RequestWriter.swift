internal import MartletCore
internal import MartletTransport

/// A writer of request fields, except for the provider token, which the connection adds.
///
/// Source: "Sending notification requests to APNs", table of request headers.
struct RequestWriter: Sendable {
    /// The fields that are the same in every request.
    private let commonFields: HTTPFields

    init(for endpoint: APNsEndpoint) {
        commonFields = [":scheme": endpoint.isEncrypted ? "https" : "http", ":authority": endpoint.authority]
    }

    /// Returns the fields of a push to a device.
    func push(_ notification: PushNotification, to token: DeviceToken, topic: Topic, id: APNsID) -> HTTPFields {
        template(for: notification, topic: topic).push(to: token, id: id)
    }

    /// The common fields of a notification's pushes.
    struct Template {
        /// The fields before the path, and those after the identifier.
        let head: HTTPFields
        let tail: HTTPFields

        /// Returns the fields of a push to a device.
        func push(to token: DeviceToken, id: APNsID) -> HTTPFields {
            var fields = HTTPFields(capacity: 768)
            fields.append(contentsOf: head)
            fields.append(to: token, id: id)
            fields.append(contentsOf: tail)
            return fields
        }
    }

    /// Returns the common fields of a notification's pushes.
    func template(for notification: PushNotification, topic: Topic) -> Template {
        Template(head: fields(method: "POST"), tail: RequestWriter.fields(of: notification, topic: topic))
    }

    /// Returns the fields that describe a notification.
    static func fields(of notification: PushNotification, topic: Topic) -> HTTPFields {
        var fields: HTTPFields = [:]
        if let type = notification.pushType {
            fields.append("apns-push-type", type.rawValue)
            fields.append("apns-topic", topic.qualified(for: type).rawValue)
        } else {
            fields.append("apns-topic", topic.rawValue)
        }
        if let priority = notification.priority { fields.append("apns-priority", String(priority.rawValue)) }
        if let expiration = notification.expiration {
            fields.append("apns-expiration", String(expiration.secondsSince1970), isIndexed: false)
        }
        if let collapseID = notification.collapseID {
            fields.append("apns-collapse-id", collapseID.rawValue, isIndexed: false)
        }
        return fields
    }

    /// Returns the fields of a broadcast ("Sending broadcast push notification requests to APNs").
    func broadcast(_ broadcast: Broadcast, id: APNsID) -> HTTPFields {
        var fields = fields(method: "POST")
        fields.append(":path", "/4/broadcasts/apps/\(broadcast.app)")
        fields.append("apns-request-id", id.description, isIndexed: false)
        fields.append("apns-channel-id", broadcast.channel.rawValue, isIndexed: false)
        fields.append(contentsOf: RequestWriter.fields(of: broadcast))
        return fields
    }

    /// Returns the fields that describe a broadcast.
    static func fields(of broadcast: Broadcast) -> HTTPFields {
        var fields: HTTPFields = [:]
        fields.append("apns-push-type", PushType.liveActivity.rawValue)
        fields.append("apns-priority", String(broadcast.priority.rawValue))
        fields.append("apns-expiration", String(broadcast.expiration.secondsSince1970), isIndexed: false)
        return fields
    }

    /// Returns the fields of a channel management request ("Sending channel management requests to APNs").
    func channel(_ request: ChannelRequest, id: APNsID) -> HTTPFields {
        var fields = fields(method: request.method)
        fields.append(":path", request.path)
        fields.append("apns-request-id", id.description, isIndexed: false)
        if let channel = request.channel { fields.append("apns-channel-id", channel.rawValue, isIndexed: false) }
        if !request.body.isEmpty { fields.append("content-type", "application/json") }
        return fields
    }

    /// Returns the fields at the beginning of every request.
    func fields(method: String) -> HTTPFields {
        var fields = HTTPFields(capacity: 768)
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
}

internal import APNs
internal import Wire

/// Writes all fields of a request but the provider token, which the connection adds.
///
/// Source: "Sending notification requests to APNs", table of request headers.
struct RequestWriter: Sendable {
    /// The fields that are the same in every request.
    private let commonFields: HTTPFields

    init(for endpoint: APNsEndpoint) {
        commonFields = [":scheme": endpoint.isEncrypted ? "https" : "http", ":authority": endpoint.authority]
    }

    /// A push to a device.
    func push(_ notification: PushNotification, to token: DeviceToken, topic: Topic, id: APNsID) -> HTTPFields {
        var text: [UInt8] = []
        return template(for: notification, topic: topic).push(to: token, id: id, using: &text)
    }

    /// What the pushes of a notification to many devices have in common; each of them holds on to it.
    final class Template: Sendable {
        /// What stands before the path, and behind the identifier.
        private let head: HTTPFields
        private let tail: HTTPFields

        fileprivate init(head: HTTPFields, tail: HTTPFields) {
            self.head = head
            self.tail = tail
        }

        /// A push to a device; `text` is memory for what has to be put together.
        func push(to token: DeviceToken, id: APNsID, using text: inout [UInt8]) -> HTTPFields {
            var fields = HTTPFields(capacity: 768)
            fields.append(contentsOf: head)
            // Path and identifier are written one after the other into the same bytes.
            text.removeAll(keepingCapacity: true)
            text.reserveCapacity(256)
            text.append(contentsOf: "/3/device/".utf8)
            text.append(contentsOf: token.hex.utf8)
            let pathEnd = text.count
            id.write(into: &text)
            fields.append(":path", text[..<pathEnd], isIndexed: false)
            fields.append("apns-id", text[pathEnd...], isIndexed: false)
            fields.append(contentsOf: tail)
            return fields
        }
    }

    /// What the pushes of a notification have in common.
    func template(for notification: PushNotification, topic: Topic) -> Template {
        var tail: HTTPFields = [:]
        if let type = notification.pushType {
            tail.append("apns-push-type", type.rawValue)
            tail.append("apns-topic", topic.qualified(for: type).rawValue)
        } else {
            tail.append("apns-topic", topic.rawValue)
        }
        if let priority = notification.priority { tail.append("apns-priority", String(priority.rawValue)) }
        if let expiration = notification.expiration {
            tail.append("apns-expiration", String(expiration.secondsSince1970), isIndexed: false)
        }
        if let collapseID = notification.collapseID {
            tail.append("apns-collapse-id", collapseID.rawValue, isIndexed: false)
        }
        return Template(head: fields(method: "POST"), tail: tail)
    }

    /// A broadcast ("Sending broadcast push notification requests to APNs").
    func broadcast(_ broadcast: Broadcast, id: APNsID) -> HTTPFields {
        var fields = fields(method: "POST")
        fields.append(":path", "/4/broadcasts/apps/\(broadcast.app)")
        fields.append("apns-request-id", id.description, isIndexed: false)
        fields.append("apns-channel-id", broadcast.channel.rawValue, isIndexed: false)
        fields.append("apns-push-type", PushType.liveActivity.rawValue)
        fields.append("apns-priority", String(broadcast.priority.rawValue))
        fields.append("apns-expiration", String(broadcast.expiration.secondsSince1970), isIndexed: false)
        return fields
    }

    /// A request about channels ("Sending channel management requests to APNs").
    func channel(_ request: ChannelRequest, id: APNsID) -> HTTPFields {
        var fields = fields(method: request.method)
        fields.append(":path", request.path)
        fields.append("apns-request-id", id.description, isIndexed: false)
        if let channel = request.channel { fields.append("apns-channel-id", channel.rawValue, isIndexed: false) }
        if !request.body.isEmpty { fields.append("content-type", "application/json") }
        return fields
    }

    /// What every request begins with.
    func fields(method: String) -> HTTPFields {
        var fields = HTTPFields(capacity: 768)
        fields.append(":method", method)
        fields.append(contentsOf: commonFields)
        return fields
    }
}

package import MartletCore
internal import MartletTransport

/// The target of a request that is forwarded.
package enum ForwardingTarget: Sendable, Hashable {
    /// A push to a device, or to a Live Activity.
    case device(DeviceToken)
    /// A push to all devices that are subscribed to a channel of the app with this bundle identifier.
    case broadcast(ChannelID, bundle: String)
    /// A channel of an app, or its list of channels; the HTTP method selects the operation.
    case channels(method: String, bundle: String, ChannelID?, isList: Bool)
}

extension PushClient {
    /// Sends a request with the headers and body of another client, unchanged and without checking its content.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - id: The request's identifier.
    ///   - headers: The headers except for the identifier.
    ///   - body: The body.
    /// - Returns: The response of APNs.
    /// - Throws: ``APNsError``, for the same reasons as ``send(_:to:topic:options:)``.
    package func forward(
        to target: ForwardingTarget,
        id: APNsID,
        headers: PushHeaders = PushHeaders(),
        body: [UInt8]
    ) async throws(APNsError) -> AcceptedResponse {
        let isAboutChannels = if case .channels = target { true } else { false }
        let writer = isAboutChannels ? channelRequests : requests
        let draft = PushDraft(
            writer.forwarded(to: target, id: id, headers, hasBody: !body.isEmpty),
            body: body,
            limits: limits(of: SendOptions(), isUrgent: headers.priority ?? "10" == "10")
        )
        return try await (isAboutChannels ? channelPool : pool).send(PendingPush(draft, id: id))
    }
}

extension RequestWriter {
    /// Returns the fields of a forwarded request.
    fileprivate func forwarded(
        to target: ForwardingTarget,
        id: APNsID,
        _ headers: PushHeaders,
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
        if let type = headers.pushType { fields.append("apns-push-type", type) }
        if let topic = headers.topic { fields.append("apns-topic", topic) }
        if let priority = headers.priority { fields.append("apns-priority", priority) }
        if let expiration = headers.expiration { fields.append("apns-expiration", expiration, isIndexed: false) }
        if let collapseID = headers.collapseID { fields.append("apns-collapse-id", collapseID, isIndexed: false) }
        return fields
    }
}

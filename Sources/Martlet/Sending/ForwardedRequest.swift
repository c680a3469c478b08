package import MartletCore
package import MartletTransport

/// A request with the headers and body of another client, which are sent to APNs unchanged.
package struct ForwardedRequest: Sendable {
    /// The target of a request.
    package enum Target: Sendable, Hashable {
        /// A push to a device, or to a Live Activity.
        case device(DeviceToken)
        /// A push to all devices that are subscribed to a channel of the app with this bundle identifier.
        case broadcast(ChannelID, bundle: String)
        /// A channel of an app, or its list of channels; the HTTP method selects the operation.
        case channels(method: String, bundle: String, ChannelID?, isList: Bool)
    }

    /// The target of the request.
    package var target: Target
    /// The request's identifier.
    package var id: APNsID
    /// The headers except for the identifier.
    package var headers: PushHeaders
    /// The body, which is sent unchanged.
    package var body: [UInt8]

    /// Creates a request from its parts.
    package init(_ target: Target, id: APNsID, headers: PushHeaders = PushHeaders(), body: [UInt8]) {
        self.target = target
        self.id = id
        self.headers = headers
        self.body = body
    }
}

/// The response of APNs to a forwarded request that it has accepted.
package struct ForwardedAnswer: Sendable {
    /// All fields, including `:status`.
    package var fields: HTTPFields
    /// The body.
    package var body: [UInt8]
}

extension PushClient {
    /// Sends a request unchanged and without checking its content.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - options: The differences from the configuration.
    /// - Returns: The response of APNs.
    /// - Throws: ``APNsError``, for the same reasons as ``send(_:to:topic:options:)``.
    package func forward(
        _ request: ForwardedRequest,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> ForwardedAnswer {
        let isAboutChannels = if case .channels = request.target { true } else { false }
        let writer = isAboutChannels ? channelRequests : requests
        let draft = PushDraft(
            writer.forwarded(request),
            body: request.body,
            limits: limits(of: options, isUrgent: request.headers.priority ?? "10" == "10")
        )
        let acceptance = try await (isAboutChannels ? channelPool : pool).send(PendingPush(draft, id: request.id))
        return ForwardedAnswer(fields: acceptance.fields, body: acceptance.body)
    }
}

extension RequestWriter {
    /// Returns the fields of a forwarded request.
    fileprivate func forwarded(_ request: ForwardedRequest) -> HTTPFields {
        let headers = request.headers
        var fields: HTTPFields
        switch request.target {
        case .device(let token):
            fields = self.fields(method: "POST")
            fields.append(to: token, id: request.id)
        case .broadcast(let channel, let bundle):
            fields = self.fields(method: "POST")
            fields.append(":path", "/4/broadcasts/apps/" + bundle)
            fields.append("apns-request-id", request.id.description, isIndexed: false)
            fields.append("apns-channel-id", channel.rawValue, isIndexed: false)
        case .channels(let method, let bundle, let channel, let isList):
            fields = self.fields(method: method)
            fields.append(":path", "/1/apps/" + bundle + (isList ? "/all-channels" : "/channels"))
            fields.append("apns-request-id", request.id.description, isIndexed: false)
            if let channel { fields.append("apns-channel-id", channel.rawValue, isIndexed: false) }
            if !request.body.isEmpty { fields.append("content-type", "application/json") }
        }
        if let type = headers.pushType { fields.append("apns-push-type", type) }
        if let topic = headers.topic { fields.append("apns-topic", topic) }
        if let priority = headers.priority { fields.append("apns-priority", priority) }
        if let expiration = headers.expiration { fields.append("apns-expiration", expiration, isIndexed: false) }
        if let collapseID = headers.collapseID { fields.append("apns-collapse-id", collapseID, isIndexed: false) }
        return fields
    }
}

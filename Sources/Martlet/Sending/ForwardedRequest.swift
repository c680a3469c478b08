package import MartletCore
package import MartletTransport

/// A request with the headers and body of another client, which are sent to APNs unchanged.
package struct ForwardedRequest: Sendable {
    package typealias Target = RequestTarget

    package var target: Target
    package var id: APNsID
    /// The headers except for the identifier.
    package var headers: PushHeaders
    /// The body, which is sent unchanged.
    package var body: [UInt8]

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
            writer.request(
                to: request.target,
                id: request.id,
                headers: request.headers,
                hasBody: !request.body.isEmpty
            ),
            body: request.body,
            limits: limits(of: options, isUrgent: request.headers.priority ?? "10" == "10")
        )
        let acceptance = try await (isAboutChannels ? channelPool : pool).send(PendingPush(draft, id: request.id))
        return ForwardedAnswer(fields: acceptance.fields, body: acceptance.body)
    }
}

// SPDX-License-Identifier: Apache-2.0

package import MartletCore

extension PushClient {
    /// Sends a request with the headers and body of another client, unchanged and without checking its content.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - id: The request's identifier.
    ///   - headers: The headers except for the identifier.
    ///   - body: The body.
    ///   - startTimeout: The maximum time before the request is on a connection; nil for that of the configuration. A
    ///     request that is not on a connection by then fails with the code `overloaded`, and was not sent.
    /// - Returns: The response of APNs.
    /// - Throws: ``APNsError``, for the same reasons as ``send(_:to:topic:options:)``.
    package func forward(
        to target: RequestTarget,
        id: APNsID,
        headers: PushHeaders = PushHeaders(),
        body: [UInt8],
        startTimeout: Duration? = nil
    ) async throws(APNsError) -> AcceptedResponse {
        let isAboutChannels = if case .channels = target { true } else { false }
        let writer = isAboutChannels ? channelRequests : requests
        let draft = PushDraft(
            writer.request(to: target, id: id, headers: headers, hasBody: !body.isEmpty),
            body: body,
            limits: limits(of: SendOptions(), isUrgent: headers.priority ?? "10" == "10", startTimeout: startTimeout)
        )
        return try await (isAboutChannels ? channelPool : pool).send(PendingPush(draft, id: id))
    }
}

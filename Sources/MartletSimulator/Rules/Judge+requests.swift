// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletServer

/// Refusals for the path, the method and repeated fields of a request, and reasons that depend on the path.
extension RequestEvaluator {
    /// The refusal of a path that APNs does not know.
    static let badPath = Refusal(
        .badPath,
        .requestPathUnknown,
        .header(":path"),
        "the path must be /3/device/ and a device token, /4/broadcasts/apps/ and a bundle identifier, or, for"
            + " channels, /1/apps/…/channels or /1/apps/…/all-channels"
    )

    /// The refusal of a request to the port for channels about anything else.
    static let notAboutChannels = Refusal(
        .badPath,
        .requestPathUnknown,
        .header(":path"),
        "this port is for the management of channels: the path must be /1/apps/…/channels or /1/apps/…/all-channels;"
            + " send pushes and broadcasts to the port for pushes"
    )

    /// Returns the reason for refused credentials: two are answers to pushes to devices only ("Handling error responses
    /// from APNs").
    static func reason(_ reason: APNsReason, _ target: APNsRequest.Target) -> APNsReason {
        if case .device = target { return reason }
        return [.unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken].contains(reason) ? .invalidProviderToken : reason
    }

    /// Returns the refusal of credentials that are not for the app in the path.
    static func topicMismatch(_ app: Substring) -> Refusal {
        let shown = ShownValue(String(app))
        let text = "the signing key or the certificate of this connection is not for the app \(shown)"
        return Refusal(.topicMismatch, .topicNotAllowed, .header(":path"), text)
    }

    /// Returns the refusal of a method that the path does not accept; nil for one that it does.
    static func methodProblem(_ method: String, _ target: APNsRequest.Target) -> Refusal? {
        guard let reason = target.reason(forMethod: method) else { return nil }
        let allowed = target.allowedMethods.joined(separator: ", ")
        let text = "the method must be \(allowed), not \(ShownValue(method))"
        return Refusal(reason, .requestMethodWrong, .header(":method"), text)
    }
}

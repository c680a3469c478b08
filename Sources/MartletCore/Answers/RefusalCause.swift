// SPDX-License-Identifier: Apache-2.0

/// The cause of a refused push, from which client, relay and command derive how to treat the push.
///
/// Source: "Handling notification responses from APNs" for the statuses and reasons.
package enum RefusalCause: Sendable, Hashable {
    /// A state of APNs or of the connection: the same push may be accepted later.
    case temporary
    /// The age of the provider token, or too many of them: the same push may be accepted with another token.
    case providerToken
    /// The key, the certificate or their settings: the same push is accepted after they have been corrected.
    case credentials
    /// The device token, which is no longer registered for the topic.
    case deviceToken
    /// The push: its payload, its headers, or the environment of its device token.
    case push

    /// Creates the cause of a response; the status decides for reasons that are not known.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - reason: The reason in the response.
    ///   - hasRetryAfter: Whether the response names a time for another attempt, which counts for unknown reasons that
    ///     would otherwise be the push's fault.
    package init(status: Int, reason: APNsReason?, hasRetryAfter: Bool = false) {
        // Reasons such as a provider token that has expired can be answered with any status.
        switch (status, reason?.advice ?? .fixFirst) {
        case (_, .renewToken): self = .providerToken
        // A response without a reason is not from APNs, so the token is kept.
        case (410, _) where reason != nil: self = .deviceToken
        case (_, .backOff) where reason == .tooManyProviderTokenUpdates: self = .providerToken
        case (_, .backOff), (_, .reconnect), (429, _), (500..., _): self = .temporary
        case (403, _): self = .credentials
        default: self = hasRetryAfter && reason?.status == nil ? .temporary : .push
        }
    }

    /// Creates the cause of a known reason, answered with its status.
    package init(_ reason: APNsReason) {
        self.init(status: reason.status ?? 400, reason: reason)
    }

    /// Whether the same push may be accepted later without a change by an operator or a developer.
    package var isPassing: Bool { self == .temporary || self == .providerToken }
}

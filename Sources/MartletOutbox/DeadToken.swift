package import MartletCore

/// A token that Apple has reported as unregistered.
package struct DeadToken: Sendable, Hashable {
    /// The position in the feed of unregistered tokens; it increases with each report.
    package var cursor: Int64
    package var token: DeviceToken
    /// The time when APNs last confirmed that the token is unregistered; nil when Apple did not report it.
    package var unregisteredAt: Int64?
    /// The time when the relay received the report.
    package var learntAt: Int64
    /// Apple's reason.
    package var reason: String

    package init(cursor: Int64, token: DeviceToken, unregisteredAt: Int64?, learntAt: Int64, reason: String) {
        self.cursor = cursor
        self.token = token
        self.unregisteredAt = unregisteredAt
        self.learntAt = learntAt
        self.reason = reason
    }
}

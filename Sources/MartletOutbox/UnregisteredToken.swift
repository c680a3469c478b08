// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A token that Apple has reported as unregistered in one environment and for one topic.
package struct UnregisteredToken: Sendable, Hashable {
    /// The position in the feed of unregistered tokens; it increases with each report.
    package var cursor: Int64
    package var token: DeviceToken
    /// The environment in which the token is unregistered.
    package var environment: PushEnvironment
    /// The topic for which the token is unregistered, as it was sent in `apns-topic`; empty for a push without a topic.
    package var topic: String
    /// The time when APNs last confirmed that the token is unregistered; nil when Apple did not report it.
    package var unregisteredAt: Int64?
    /// The time when the relay received the report.
    package var reportedAt: Int64
    /// Apple's reason.
    package var reason: String

    package init(
        cursor: Int64,
        token: DeviceToken,
        environment: PushEnvironment,
        topic: String,
        unregisteredAt: Int64?,
        reportedAt: Int64,
        reason: String
    ) {
        self.cursor = cursor
        self.token = token
        self.environment = environment
        self.topic = topic
        self.unregisteredAt = unregisteredAt
        self.reportedAt = reportedAt
        self.reason = reason
    }
}

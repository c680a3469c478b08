// SPDX-License-Identifier: Apache-2.0

/// The connection that a push is sent over: one app in one of Apple's environments.
package struct Lane: Sendable, Hashable {
    /// The app's name in the relay.
    package var app: String
    package var environment: PushEnvironment

    package init(app: String, environment: PushEnvironment) {
        self.app = app
        self.environment = environment
    }
}

/// The stored pushes of one lane and urgency.
package struct LaneQueue: Sendable, Hashable {
    package var lane: Lane
    package var urgency: Urgency

    package init(lane: Lane, urgency: Urgency) {
        self.lane = lane
        self.urgency = urgency
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A pause of a lane by an operator: its pushes are stored and not sent until the lane is resumed.
package struct LanePause: Sendable, Hashable {
    package var lane: Lane
    /// The time of the pause, in milliseconds since 1970.
    package var since: Int64
    /// The name of the caller that paused it.
    package var caller: String

    package init(lane: Lane, since: Int64, caller: String) {
        self.lane = lane
        self.since = since
        self.caller = caller
    }
}

/// The pushes of a lane that one step of a purge has cancelled.
package struct PurgedPushes: Sendable, Hashable {
    /// The pushes; fewer than the limit when no more are left.
    package var pushes: [PushStatus]
    /// The number of the last push that the purge covers, to be passed to the next step; pushes that are accepted later
    /// stay.
    package var last: Int64

    package init(pushes: [PushStatus], last: Int64) {
        self.pushes = pushes
        self.last = last
    }
}

/// A push that a search has found.
package struct FoundPush: Sendable, Hashable {
    /// The number of the push in the store, which is the cursor for the rest of the search.
    package var number: Int64
    package var status: PushStatus

    package init(number: Int64, status: PushStatus) {
        self.number = number
        self.status = status
    }
}

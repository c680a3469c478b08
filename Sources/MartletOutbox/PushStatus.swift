// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The status of a push.
package struct PushStatus: Sendable, Hashable {
    /// The states of a push.
    package enum State: Sendable, Hashable {
        /// The push waits to become due, to be claimed, or for earlier pushes with its order key.
        case accepted
        /// The push has been claimed to be sent.
        case inFlight
        /// The push ended at this time.
        case ended(Outcome, at: Int64)
    }

    package var id: APNsID
    package var lane: Lane
    package var acceptedAt: Int64
    package var state: State
    /// The failed attempts; empty for a status that was not read from the store.
    package var history: AttemptHistory
    /// The earliest time at which a waiting push is sent, or sent again, in milliseconds since 1970.
    ///
    /// Nil for a push in another state, for one that waits for earlier pushes with its order key, and for a status that
    /// was not looked up by an identifier.
    package var dueAt: Int64?
    /// The surface that the push shows, and the installation.
    ///
    /// Nil for another push, once nothing of the surface is on the installation, and for a status that was not looked
    /// up by an identifier.
    package var surface: SessionPlace?
    /// The outcome of a push that has ended; nil for one that has not.
    package var outcome: Outcome? { if case .ended(let outcome, _) = state { outcome } else { nil } }

    package init(
        id: APNsID,
        lane: Lane,
        acceptedAt: Int64,
        state: State,
        history: AttemptHistory = AttemptHistory()
    ) {
        self.id = id
        self.lane = lane
        self.acceptedAt = acceptedAt
        self.state = state
        self.history = history
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The state of a lane: the first one that applies.
enum LaneState: String, Sendable, CaseIterable {
    /// An operator has paused the lane; it sends nothing that could show whether it is down.
    case paused
    /// Nothing is delivered because of a ``LaneProblem``.
    case down
    /// The lane was down at its last attempt, and has no push that could show whether it still is.
    case notTried = "not-tried"
    /// The relay cannot store pushes, and therefore sends none.
    case notStoring = "not-storing"
    /// There were many attempts in the last minute, or since an outage in it, and Apple has accepted none.
    case fails
    /// Apple has accepted pushes in the last minute.
    case delivers
    /// There was no attempt in the last minute, or there were few without an acceptance.
    case ready

    /// The number of attempts without an acceptance from which a lane fails although it sends no push again.
    ///
    /// A few can be for unregistered tokens.
    private static let manyAttempts = 10
    /// The number from which it fails while pushes are sent again.
    private static let fewAttempts = 3

    init(_ facts: LaneFacts) {
        let attempts = facts.counts.recentAttempts
        self =
            if facts.pause != nil {
                .paused
            } else if facts.problem != nil {
                facts.inFlight == 0 && facts.backlog?.count == 0 ? .notTried : .down
            } else if !facts.isStoring {
                .notStoring
            } else if attempts > facts.counts.recentFailures {
                .delivers
            } else if attempts >= (facts.retrying > 0 ? LaneState.fewAttempts : LaneState.manyAttempts) {
                .fails
            } else {
                .ready
            }
    }
}

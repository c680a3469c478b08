// SPDX-License-Identifier: Apache-2.0

/// The state of a lane: the first one that applies.
enum LaneState: String, Sendable, CaseIterable {
    /// An operator has paused the lane; it sends nothing that could show whether it is down.
    case paused
    /// Nothing is delivered because of a ``LaneProblem``.
    case down
    /// The relay cannot store pushes, and therefore sends none.
    case notStoring = "not-storing"
    /// There were many attempts in the last minute, and Apple has accepted none.
    case fails
    /// Apple has accepted pushes in the last minute.
    case delivers
    /// There was no attempt in the last minute, or there were few without an acceptance.
    case ready

    /// The number of attempts without an acceptance from which a lane fails although it sends no push again.
    ///
    /// A few can be for unregistered tokens.
    private static let manyAttempts = 10

    init(_ facts: LaneFacts) {
        let attempts = facts.counts.recentAttempts
        self =
            if facts.pause != nil {
                .paused
            } else if facts.problem != nil {
                .down
            } else if !facts.isStoring {
                .notStoring
            } else if attempts > facts.counts.recentFailures {
                .delivers
            } else if attempts >= LaneState.manyAttempts || attempts > 0 && facts.retrying > 0 {
                .fails
            } else {
                .ready
            }
    }
}

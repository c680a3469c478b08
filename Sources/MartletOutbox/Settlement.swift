// SPDX-License-Identifier: Apache-2.0

/// The result for a claimed push: its outcome, or its return to the queue.
package struct Settlement: Sendable, Hashable {
    /// The kinds of result.
    package enum Change: Sendable, Hashable {
        /// The push has ended; ``Settlement/isTokenUnregistered`` has the state of its token.
        case ended(Outcome)
        /// The push is to be tried again, not before this time.
        case postponed(until: Int64, attempts: Int, unknownTries: Int)
    }

    /// The maximum number of results in a call of ``OutboxStore/settle(_:at:)``, as many as the pushes of a long list
    /// that are accepted together.
    ///
    /// A file commits no more of them together, because the pushes that arrive meanwhile wait for the commit.
    package static let limit = 250

    package var number: Int64
    /// The number of the claim that the result belongs to: ``ClaimedPush/claim``.
    package var claim: Int64
    package var change: Change
    /// Whether Apple has reported the token as unregistered, which the store then records.
    package var isTokenUnregistered: Bool
    /// The failed attempts of the push, which replace the stored ones; an empty history leaves these unchanged.
    package var history = AttemptHistory()

    /// The outcome of a push that has ended; nil for one that is to be tried again.
    package var outcome: Outcome? {
        if case .ended(let outcome) = change { outcome } else { nil }
    }

    /// The time of the next attempt; nil for a push that has ended.
    var due: Int64? {
        if case .postponed(let time, _, _) = change { time } else { nil }
    }

    package init(_ push: ClaimedPush, _ change: Change, isTokenUnregistered: Bool = false) {
        number = push.number
        claim = push.claim
        self.change = change
        self.isTokenUnregistered = isTokenUnregistered
    }
}

extension ClaimedPush {
    /// The settlement of a push that was not sent, which keeps its place in the queue.
    package var returned: Settlement { postponed(until: readyAt) }

    /// Returns the settlement of a push that is to be tried again.
    ///
    /// - Parameters:
    ///   - time: The earliest time of the next attempt, in milliseconds since 1970.
    ///   - attempts: The number of attempts; by default, it stays as it was.
    ///   - unknownTries: The number of attempts without an answer; by default, it stays as it was.
    /// - Returns: The settlement.
    package func postponed(until time: Int64, attempts: Int? = nil, unknownTries: Int? = nil) -> Settlement {
        let change = Settlement.Change.postponed(
            until: time,
            attempts: attempts ?? self.attempts,
            unknownTries: unknownTries ?? self.unknownTries
        )
        return Settlement(self, change)
    }
}

/// The result for a claimed push: its outcome, or its return to the queue.
package struct Settlement: Sendable, Hashable {
    /// The kinds of result.
    package enum Change: Sendable, Hashable {
        /// The push has ended; ``Settlement/isTokenDead`` has the state of its token.
        case ended(Outcome)
        /// The push is to be tried again, not before this time.
        case postponed(until: Int64, attempts: Int, unknownTries: Int)
    }

    package var number: Int64
    package var change: Change
    /// Whether Apple has reported the token as unregistered, which the store then records.
    package var isTokenDead: Bool

    package init(number: Int64, _ change: Change, isTokenDead: Bool = false) {
        self.number = number
        self.change = change
        self.isTokenDead = isTokenDead
    }
}

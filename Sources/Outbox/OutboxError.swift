/// Why an outbox did not do what it was asked: a kind that code can switch on and a sentence for people.
package struct OutboxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Kind: Sendable, Hashable {
        /// It is full, or the disk below it is: the same may go well when there is room again.
        case full
        /// It cannot be written to.
        case unavailable
        /// The database does not answer: what was under way may have been stored.
        case unreachable
        /// What it holds is damaged.
        case damaged
        /// Another process has it.
        case inUse
        /// It was closed.
        case closed
    }

    /// The kind of failure.
    package let kind: Kind
    /// What happened, in a sentence without the final stop; it holds no token and no payload.
    package let description: String

    /// A failure of a kind.
    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

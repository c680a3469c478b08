// SPDX-License-Identifier: Apache-2.0

/// A failure of an outbox: a kind that code can switch on and a message for people.
package struct OutboxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Kind: Sendable, Hashable {
        /// The outbox or its disk is full; a retry may succeed when there is space again.
        case full
        /// The outbox cannot be written.
        case unavailable
        /// The database does not answer: the changes under way may have been stored.
        case unreachable
        /// The user of the database lacks a right.
        case denied
        /// The stored data is damaged.
        case damaged
        /// The stored data does not permit the operation, so that a retry fails until the data is changed.
        case refused
        /// Another process uses the outbox.
        case inUse
        /// The outbox was closed.
        case closed
    }

    package let kind: Kind
    /// The message, without a final period; it contains no token and no payload.
    package let description: String
    /// Whether the change that failed may have been made.
    package let isOutcomeUnknown: Bool
    /// A clause about the way in which a caller learns whether its change was made; nil unless it may have been made.
    package let remedy: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - description: The message, without a final period.
    ///   - isOutcomeUnknown: Whether the change may have been made; nil if that follows from the kind.
    ///   - remedy: How a caller learns whether its change was made, as a clause; nil for another error.
    package init(_ kind: Kind, _ description: String, isOutcomeUnknown: Bool? = nil, remedy: String? = nil) {
        self.kind = kind
        self.description = description
        self.isOutcomeUnknown = isOutcomeUnknown ?? (kind == .unreachable)
        self.remedy = remedy
    }
}

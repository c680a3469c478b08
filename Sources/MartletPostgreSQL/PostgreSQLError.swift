// SPDX-License-Identifier: Apache-2.0

/// A failure of PostgreSQL: a kind that code can switch on and a message for people.
///
/// The message names hosts, tables and columns, never a value that was sent: PostgreSQL's error details, which may
/// quote values, are omitted.
package struct PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure (https://www.postgresql.org/docs/current/errcodes-appendix.html).
    package enum Kind: Sendable, Hashable {
        /// There is no connection, or it was lost: the statement may have been executed.
        case disconnected
        /// The connection is open and the server does not answer: the statement may have been executed.
        case noAnswer
        /// The server does not accept changes because it is a standby, starting or shutting down; or the statement was
        /// cancelled because it took too long.
        case unavailable
        /// The statement conflicted with other transactions (deadlock, serialization); an immediate retry may succeed.
        case conflict
        /// A disk is full, or a limit of the server is reached.
        case full
        /// The stored data is damaged.
        case corrupt
        /// A required table, column, function or schema does not exist.
        case undefined
        /// The user of the connection lacks a right on the object that the message names.
        case denied(user: String)
        /// Any other failure.
        case other
    }

    /// The kind of failure.
    package let kind: Kind
    /// The SQLSTATE, five letters and digits; nil when the server did not answer.
    package let state: String?
    /// The message, without a final period.
    package let description: String

    /// Whether the server cancelled the statement, because it took too long or an operator asked for it.
    package var isCancelled: Bool { state == "57014" }

    /// Creates an error from the server's SQLSTATE and message, for the user of the connection.
    init(state: String?, _ message: String, user: String = "") {
        let description = state.map { "\(message) (\($0))" } ?? message
        let kind: Kind =
            switch state {
            case nil: .disconnected
            case "40001", "40P01", "55P03": .conflict
            case "53100", "53200", "53400": .full
            case "XX001", "XX002": .corrupt
            case "42P01", "42883", "3F000", "42703": .undefined
            case "42501": .denied(user: user)
            case "25006", "57P01", "57P02", "57P03", "53300", "57014": .unavailable
            case .some(let state) where state.hasPrefix("08"): .disconnected
            default: .other
            }
        self.init(kind, state: state, description)
    }

    private init(_ kind: Kind, state: String?, _ description: String) {
        self.kind = kind
        self.state = state
        self.description = description
    }

    /// Creates the error for a missing or lost connection.
    package static func disconnected(_ message: String) -> PostgreSQLError {
        PostgreSQLError(state: nil, message)
    }

    /// Creates the error for a server that has not answered for a time.
    package static func noAnswer(for time: Duration) -> PostgreSQLError {
        let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
        return PostgreSQLError(.noAnswer, state: nil, "no response within \(milliseconds) ms")
    }

    /// Creates the error for tables of another version; `advice` explains it.
    package static func wrongTables(_ advice: String) -> PostgreSQLError {
        PostgreSQLError(.other, state: nil, advice)
    }
}

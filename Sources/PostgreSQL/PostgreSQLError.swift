/// Why PostgreSQL did not do what it was asked: a kind that code can switch on and a sentence for people.
///
/// The sentence names hosts, tables and columns, never a value that was sent: PostgreSQL's details, which may quote
/// one, are left out.
package struct PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure (https://www.postgresql.org/docs/current/errcodes-appendix.html).
    package enum Kind: Sendable, Hashable {
        /// There is no connection, or no more: what was asked may have been done.
        case disconnected
        /// The server does not take changes: it is a standby, or starts, or ends.
        case unavailable
        /// Others were in the way (deadlock, serialization): the same may go well at once.
        case conflict
        /// A disk, or a bound of the server's, is full.
        case full
        /// What is stored is damaged.
        case corrupt
        /// The tables that are needed are not there.
        case undefined
        /// Anything else.
        case other
    }

    /// The kind of failure.
    package let kind: Kind
    /// Five letters and digits of the standard; nil when there was no answer.
    package let state: String?
    /// What happened, in a sentence without the final stop.
    package let description: String

    /// A failure that the server tells.
    init(state: String?, _ message: String) {
        self.state = state
        description = state.map { "\(message) (\($0))" } ?? message
        kind =
            switch state {
            case nil: .disconnected
            case "40001", "40P01", "55P03": .conflict
            case "53100", "53200", "53400": .full
            case "XX001", "XX002": .corrupt
            case "42P01", "42883", "3F000", "42703": .undefined
            case "25006", "57P01", "57P02", "57P03", "53300": .unavailable
            case .some(let state) where state.hasPrefix("08"): .disconnected
            default: .other
            }
    }

    /// There is no connection.
    package static func disconnected(_ message: String) -> PostgreSQLError {
        PostgreSQLError(state: nil, message)
    }
}

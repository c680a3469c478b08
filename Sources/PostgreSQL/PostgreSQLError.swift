/// Why PostgreSQL did not do what it was asked: a kind that code can switch on and a sentence for people.
///
/// The sentence names hosts, tables and columns, never a value that was sent: PostgreSQL's details, which may quote
/// one, are left out.
package struct PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure (https://www.postgresql.org/docs/current/errcodes-appendix.html).
    package enum Kind: Sendable, Hashable {
        /// There is no connection, or no more: what was asked may have been done.
        case disconnected
        /// The server keeps the connection and does not answer: what was asked may have been done.
        case noAnswer
        /// The server does not take changes, as it is a standby, starts or shuts down; or the statement took too long.
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
        let description = state.map { "\(message) (\($0))" } ?? message
        let kind: Kind =
            switch state {
            case nil: .disconnected
            case "40001", "40P01", "55P03": .conflict
            case "53100", "53200", "53400": .full
            case "XX001", "XX002": .corrupt
            case "42P01", "42883", "3F000", "42703": .undefined
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

    /// There is no connection.
    package static func disconnected(_ message: String) -> PostgreSQLError {
        PostgreSQLError(state: nil, message)
    }

    /// The server has not answered for a time.
    package static func noAnswer(for time: Duration) -> PostgreSQLError {
        let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
        return PostgreSQLError(.noAnswer, state: nil, "no answer for \(milliseconds) ms")
    }

    /// The tables are of another version, which `advice` explains.
    package static func wrongTables(_ advice: String) -> PostgreSQLError {
        PostgreSQLError(.other, state: nil, advice)
    }
}

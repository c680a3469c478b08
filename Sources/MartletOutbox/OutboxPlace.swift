internal import MartletPostgreSQL

/// The location of an outbox.
package enum OutboxPlace: Sendable, Hashable, CustomStringConvertible {
    /// A file of this machine, which only one process can open.
    case file(String)
    /// A PostgreSQL database, which several processes share, by its libpq connection string.
    case database(String)

    /// Creates a location from a path, or from an address that begins with `postgresql://` or `postgres://`.
    package init(_ text: String) {
        self = text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") ? .database(text) : .file(text)
    }

    /// Returns whether a text has the form of a connection string of libpq.
    package static func isAddress(_ text: String) -> Bool { Session.isAddress(text) }

    /// The location for logs, without the password and the options of a database's address, which may contain one.
    package var description: String {
        switch self {
        case .file(let path): return path
        case .database(let address):
            let plain = address.prefix { $0 != "?" }
            guard let colon = plain.firstIndex(of: ":"), let at = plain.lastIndex(of: "@") else { return String(plain) }
            let user = plain[plain.index(after: colon)..<at].prefix { $0 != ":" }
            return String(plain[...colon]) + String(user) + String(plain[at...])
        }
    }
}

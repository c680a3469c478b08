/// Where an outbox is.
package enum OutboxPlace: Sendable, Hashable, CustomStringConvertible {
    /// In a file of this machine, which one process has to itself.
    case file(String)
    /// In a PostgreSQL database, which several share: its address as libpq takes it.
    case database(String)

    /// A place by its text: a path, or an address that begins with `postgresql://` or `postgres://`.
    package init(_ text: String) {
        self = text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") ? .database(text) : .file(text)
    }

    /// The place for people's eyes: of a database's address no password, and no options, which may hold one.
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

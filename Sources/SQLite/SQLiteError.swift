internal import CSQLite

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Why SQLite did not do what it was asked: a kind that code can switch on and a sentence for people.
///
/// The sentence names files, tables and columns, never a value that was bound.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Kind: Sendable, Hashable {
        /// Somebody else holds the database for longer than the busy timeout.
        case busy
        /// The disk, or the database's own bound, is full.
        case full
        /// The file or its directory may not be written to.
        case readOnly
        /// The file was a database and is damaged.
        case corrupt
        /// The file is something else, or encrypted.
        case notADatabase
        /// A row breaks a rule of its table.
        case constraint
        /// The file cannot be opened or made.
        case cannotOpen
        /// The disk fails, or the system has no room for a file that SQLite needs.
        case disk
        /// Anything else, such as a mistake in the SQL.
        case other
    }

    /// The kind of failure.
    package let kind: Kind
    /// SQLite's extended result code (https://www.sqlite.org/rescode.html).
    package let code: Int32
    /// What happened, in a sentence without the final stop.
    package let message: String

    /// The sentence.
    package var description: String { message }

    init(_ code: Int32, _ message: String) {
        kind = Kind(code: code)
        self.code = code
        self.message = message
    }

    /// The failure that a connection has just met, or a code without one.
    init(_ code: CInt, on connection: OpaquePointer?, during what: String) {
        let words = connection == nil ? sqlite3_errstr(code) : sqlite3_errmsg(connection)
        var message = what + ": " + (words.map { String(cString: $0) } ?? "error \(code)")
        // SQLite says no more than that it could not; the system knows why.
        let number = sqlite3_system_errno(connection)
        if code & 0xFF == SQLITE_CANTOPEN, number != 0, let reason = strerror(number) {
            message += " (\(String(cString: reason)))"
        }
        self.init(code, message)
    }
}

extension SQLiteError.Kind {
    /// The kind of an extended code, whose last byte is the primary one.
    fileprivate init(code: CInt) {
        self =
            switch code & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .full
            case SQLITE_READONLY: .readOnly
            case SQLITE_CORRUPT: .corrupt
            case SQLITE_NOTADB: .notADatabase
            case SQLITE_CONSTRAINT: .constraint
            case SQLITE_IOERR: .disk
            case SQLITE_CANTOPEN, SQLITE_PERM: .cannotOpen
            default: .other
            }
    }
}

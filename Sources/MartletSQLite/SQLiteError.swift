// SPDX-License-Identifier: Apache-2.0

internal import CMartletSQLite

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A failure of SQLite: a kind that code can switch on and a message for people.
///
/// The message names files, tables and columns, never a bound value.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Kind: Sendable, Hashable {
        /// Another connection locks the database for longer than the busy timeout.
        case busy
        /// The disk is full, or the database has reached its maximum size.
        case full
        /// The file or its directory is not writable.
        case readOnly
        /// The file was a database and is damaged.
        case corrupt
        /// The file is not a database, or is encrypted.
        case notADatabase
        /// A row violates a constraint of its table.
        case constraint
        /// The file cannot be opened or created.
        case cannotOpen
        /// The disk fails, or the system has no space for a file that SQLite needs.
        case disk
        /// Any other failure, such as invalid SQL.
        case other
    }

    /// The kind of failure.
    package let kind: Kind
    /// SQLite's extended result code (https://www.sqlite.org/rescode.html).
    package let code: Int32
    /// The message, without a final period.
    package let message: String

    /// The message.
    package var description: String { message }

    init(_ code: Int32, _ message: String) {
        kind = Kind(code: code)
        self.code = code
        self.message = message
    }

    /// Creates an error from an error number of the system.
    static func system(_ number: CInt, _ message: String) -> SQLiteError {
        let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        return SQLiteError(number == ENOSPC ? SQLITE_FULL : SQLITE_IOERR, "\(message): \(reason)")
    }

    /// Creates an error for a disk with too little space.
    package static func full(_ message: String) -> SQLiteError { SQLiteError(SQLITE_FULL, message) }

    /// Creates an error from the last failure of a connection, or from a result code when there is no connection.
    init(_ code: CInt, on connection: OpaquePointer?, during what: String) {
        let words = connection == nil ? sqlite3_errstr(code) : sqlite3_errmsg(connection)
        var message = what + ": " + (words.map { String(cString: $0) } ?? "error \(code)")
        // SQLite reports only that it cannot open the file; `errno` has the reason.
        let number = sqlite3_system_errno(connection)
        if code & 0xFF == SQLITE_CANTOPEN, number != 0, let reason = strerror(number) {
            message += " (\(String(cString: reason)))"
        }
        self.init(code, message)
    }
}

extension SQLiteError.Kind {
    /// The kind of an extended result code, whose low byte is the primary code.
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

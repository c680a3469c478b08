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

    /// Creates an error for a file that the program must not use as it is; `advice` explains it.
    package static func refused(_ advice: String) -> SQLiteError { SQLiteError(SQLITE_ERROR, advice) }

    /// Creates an error from the last failure of a connection, or from a result code when there is no connection.
    ///
    /// A given error number of the system precedes that of the connection: SQLite tries to read a file that it cannot
    /// create, and then reports that the file does not exist.
    init(_ code: CInt, on connection: OpaquePointer?, during what: String, systemError number: CInt = 0) {
        let words = connection == nil ? sqlite3_errstr(code) : sqlite3_errmsg(connection)
        let message = what + ": " + (words.map { String(cString: $0) } ?? "error \(code)")
        self.init(code, message, systemError: number == 0 ? sqlite3_system_errno(connection) : number)
    }

    /// Creates an error with the system's error number, 0 for none: SQLite reports only that a file cannot be opened,
    /// or that the disk fails.
    init(_ code: CInt, _ message: String, systemError number: CInt) {
        guard [SQLITE_CANTOPEN, SQLITE_IOERR].contains(code & 0xFF), number != 0 else {
            self.init(code, message)
            return
        }
        let reason = number == EROFS ? "the file system is read-only" : strerror(number).map { String(cString: $0) }
        self.init(code, message + (reason.map { " (\($0))" } ?? ""))
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

// SPDX-License-Identifier: Apache-2.0

internal import CMartletSQLite

/// A prepared statement, which its connection keeps for the next use of the same SQL when the value is destroyed.
///
/// Parameters are counted from 1 and columns from 0, as in SQLite. A bound value stays until another is bound.
package struct Statement: ~Copyable {
    private let raw: OpaquePointer
    private let sql: String
    private let cache: StatementCache

    /// Creates a value that owns a prepared statement, and returns it to a cache.
    init(adopting raw: OpaquePointer, _ sql: String, from cache: StatementCache) {
        self.raw = raw
        self.sql = sql
        self.cache = cache
    }

    deinit {
        cache.add(raw, sql)
    }

    // MARK: Parameters

    /// Binds an integer, or NULL.
    package func bind(_ value: Int64?, at position: Int) throws(SQLiteError) {
        guard let value else { return try bindNull(at: position) }
        try check(sqlite3_bind_int64(raw, CInt(clamping: position), value))
    }

    /// Binds a text, or NULL.
    package func bind(_ value: String?, at position: Int) throws(SQLiteError) {
        guard var value else { return try bindNull(at: position) }
        let status = value.withUTF8 {
            martlet_sqlite3_bind_text(raw, CInt(clamping: position), $0.baseAddress, UInt64($0.count))
        }
        try check(status)
    }

    /// Binds bytes, or NULL.
    package func bind(_ value: [UInt8]?, at position: Int) throws(SQLiteError) {
        guard let value else { return try bindNull(at: position) }
        let status = value.withUnsafeBytes {
            martlet_sqlite3_bind_blob(raw, CInt(clamping: position), $0.baseAddress, UInt64($0.count))
        }
        try check(status)
    }

    /// Binds NULL, the initial value of every parameter.
    package func bindNull(at position: Int) throws(SQLiteError) {
        try check(sqlite3_bind_null(raw, CInt(clamping: position)))
    }

    /// Binds an integer, or NULL, to the parameter after the one that was bound last.
    ///
    /// For frequently run statements: binding all values in one call goes through generic code, which is slower.
    package func bind(_ value: Int64?, after position: inout Int) throws(SQLiteError) {
        position += 1
        try bind(value, at: position)
    }

    /// Binds a text, or NULL, to the parameter after the one that was bound last.
    package func bind(_ value: String?, after position: inout Int) throws(SQLiteError) {
        position += 1
        try bind(value, at: position)
    }

    /// Binds bytes, or NULL, to the parameter after the one that was bound last.
    package func bind(_ value: [UInt8]?, after position: inout Int) throws(SQLiteError) {
        position += 1
        try bind(value, at: position)
    }

    // MARK: Running

    /// Advances to the next row.
    ///
    /// - Returns: Whether there is a row. After the last row the statement is ready to be bound and run again; a caller
    ///   that stops earlier must call ``reset()``.
    /// - Throws: ``SQLiteError``; the statement is ready to be run again then, too.
    package func step() throws(SQLiteError) -> Bool {
        let status = sqlite3_step(raw)
        if status == SQLITE_ROW { return true }
        // Read the error before the reset, which at best reports the same error again.
        let error = status == SQLITE_DONE ? nil : failure(status, during: "cannot run a statement")
        sqlite3_reset(raw)
        if let error { throw error }
        return false
    }

    /// Runs the statement to completion and discards its rows.
    package func run() throws(SQLiteError) {
        while try step() {}
    }

    /// Ends the statement before its last row and makes it ready to be run again.
    ///
    /// Until then its read transaction stays open, so the log cannot be restarted and grows.
    package func reset() {
        sqlite3_reset(raw)
    }

    // MARK: Columns of the row

    /// Whether a column is NULL, which reads as 0 or as an empty value.
    package func isNull(at column: Int) -> Bool {
        sqlite3_column_type(raw, index(of: column)) == SQLITE_NULL
    }

    /// Returns a column as an integer.
    package func integer(at column: Int) -> Int64 {
        sqlite3_column_int64(raw, index(of: column))
    }

    /// Returns a column as text, with invalid UTF-8 replaced.
    package func text(at column: Int) -> String {
        let column = index(of: column)
        // Ask for the length after the text, which SQLite may have to convert first
        // (https://www.sqlite.org/c3ref/column_blob.html).
        guard let start = sqlite3_column_text(raw, column) else { return "" }
        let count = Int(sqlite3_column_bytes(raw, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Returns a column as bytes.
    package func blob(at column: Int) -> [UInt8] {
        let column = index(of: column)
        let start = sqlite3_column_blob(raw, column)
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
    }

    /// Checks that a column exists, because SQLite does not define the result for one that does not.
    private func index(of column: Int) -> CInt {
        precondition(column >= 0 && column < sqlite3_data_count(raw), "there is no row, or it has no column \(column)")
        return CInt(column)
    }

    // MARK: Failures

    private func check(_ status: CInt) throws(SQLiteError) {
        guard status == SQLITE_OK else { throw failure(status, during: "cannot bind a value") }
    }

    private func failure(_ status: CInt, during what: String) -> SQLiteError {
        SQLiteError(status, on: sqlite3_db_handle(raw), during: what)
    }
}

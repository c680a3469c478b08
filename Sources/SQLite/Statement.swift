internal import CSQLite

/// One prepared statement of a connection, which it gives back when it goes.
///
/// Parameters are counted from 1 and columns from 0, as SQLite does. What was bound stays until it is bound anew.
package struct Statement: ~Copyable {
    private let raw: OpaquePointer

    /// Takes over a statement.
    init(adopting raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        sqlite3_finalize(raw)
    }

    // MARK: Parameters

    /// Binds a whole number, or NULL.
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

    /// Binds NULL, which is what a parameter has before anything else is bound.
    package func bindNull(at position: Int) throws(SQLiteError) {
        try check(sqlite3_bind_null(raw, CInt(clamping: position)))
    }

    /// Binds a whole number, or NULL, to the parameter after the one that was bound last.
    ///
    /// For statements that are run so often that it counts: binding them all in one call goes through generic code.
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

    /// Goes on to the next row.
    ///
    /// - Returns: Whether there is one. After the last the statement is ready to be bound and run again; whoever stops
    ///   before that says ``reset()``.
    /// - Throws: ``SQLiteError``; then, too, the statement is ready again.
    package func step() throws(SQLiteError) -> Bool {
        let status = sqlite3_step(raw)
        if status == SQLITE_ROW { return true }
        // Before the reset, which says the same again at best.
        let error = status == SQLITE_DONE ? nil : failure(status, during: "cannot run a statement")
        sqlite3_reset(raw)
        if let error { throw error }
        return false
    }

    /// Runs the statement to its end, whatever rows there are.
    package func run() throws(SQLiteError) {
        while try step() {}
    }

    /// Leaves the rest of the rows out.
    ///
    /// Until then they are held as they were, and the log can only grow.
    package func reset() {
        sqlite3_reset(raw)
    }

    // MARK: Columns of the row

    /// Whether a column is NULL, which reads as 0 or as nothing.
    package func isNull(at column: Int) -> Bool {
        sqlite3_column_type(raw, index(of: column)) == SQLITE_NULL
    }

    /// A column as a whole number.
    package func integer(at column: Int) -> Int64 {
        sqlite3_column_int64(raw, index(of: column))
    }

    /// A column as a text; what is no UTF-8 in it is replaced.
    package func text(at column: Int) -> String {
        let column = index(of: column)
        // The length after the text, which may have to be made first (https://www.sqlite.org/c3ref/column_blob.html).
        guard let start = sqlite3_column_text(raw, column) else { return "" }
        let count = Int(sqlite3_column_bytes(raw, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A column as bytes.
    package func blob(at column: Int) -> [UInt8] {
        let column = index(of: column)
        let start = sqlite3_column_blob(raw, column)
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
    }

    /// SQLite does not say what it does with a column that is not there.
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

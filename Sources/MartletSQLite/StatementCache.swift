// SPDX-License-Identifier: Apache-2.0

internal import CMartletSQLite

/// The compiled statements of a connection that are not in use, by their SQL.
///
/// To compile a statement takes longer than to run most of them.
final class StatementCache {
    /// The maximum number of statements; one more removes the others, so that those in frequent use return.
    private static let limit = 200

    private var statements: [String: OpaquePointer] = [:]
    private var isClosed = false

    /// Removes the statement with a text, and returns it; nil if there is none.
    func take(_ sql: String) -> OpaquePointer? { statements.removeValue(forKey: sql) }

    /// Adds a statement, which is as a new one then; finalizes it if there is one with the same text, or if the
    /// connection is closed.
    func add(_ raw: OpaquePointer, _ sql: String) {
        sqlite3_reset(raw)
        sqlite3_clear_bindings(raw)
        guard !isClosed, statements[sql] == nil else {
            sqlite3_finalize(raw)
            return
        }
        if statements.count >= StatementCache.limit { removeAll() }
        statements[sql] = raw
    }

    /// Finalizes all statements, and those that are added later.
    func close() {
        removeAll()
        isClosed = true
    }

    private func removeAll() {
        for raw in statements.values { sqlite3_finalize(raw) }
        statements = [:]
    }
}

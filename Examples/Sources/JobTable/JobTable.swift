// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Foundation

/// A table of jobs in a SQLite database, as your own server may have it in any database.
final class JobTable {
    struct DatabaseError: Error {
        let message: String
    }

    private var database: OpaquePointer?

    init(path: String) throws {
        guard sqlite3_open(path, &database) == SQLITE_OK else { throw error }
        try run("CREATE TABLE IF NOT EXISTS job (number INTEGER PRIMARY KEY, json BLOB NOT NULL)")
    }

    deinit {
        sqlite3_close(database)
    }

    func add(_ json: Data) throws {
        try run("INSERT INTO job (json) VALUES (?1)") { statement in
            _ = json.withUnsafeBytes { bytes in
                // SQLite reads the bytes while the statement runs, and `json` exists longer.
                sqlite3_bind_blob64(statement, 1, bytes.baseAddress, UInt64(bytes.count), nil)
                return sqlite3_step(statement)
            }
        }
    }

    func jobs() throws -> [(number: Int64, json: Data)] {
        var jobs: [(Int64, Data)] = []
        try run("SELECT number, json FROM job ORDER BY number") { statement in
            while sqlite3_step(statement) == SQLITE_ROW {
                let json = sqlite3_column_blob(statement, 1).map {
                    Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, 1)))
                }
                jobs.append((sqlite3_column_int64(statement, 0), json ?? Data()))
            }
        }
        return jobs
    }

    func remove(_ number: Int64) throws {
        try run("DELETE FROM job WHERE number = ?1") { statement in
            sqlite3_bind_int64(statement, 1, number)
            sqlite3_step(statement)
        }
    }

    private func run(_ sql: String, _ body: (OpaquePointer?) -> Void = { sqlite3_step($0) }) throws {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { throw error }
        body(statement)
        guard sqlite3_finalize(statement) == SQLITE_OK else { throw error }
    }

    private var error: DatabaseError { DatabaseError(message: String(cString: sqlite3_errmsg(database))) }
}

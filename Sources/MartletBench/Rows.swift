// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletSQLite

/// A measurement of SQLite alone, to compare the relay's outbox with: the same rows, tables and syncs to disk.
struct Rows {
    private enum Value {
        case null
        case number(Int64)
        case text(String)
        case bytes([UInt8])
    }

    static let command = Command(
        "rows",
        "Insert the pushes of an outbox into tables like its own, and print their number in a second",
        examples: ["rows --outbox relay.sqlite --copy raw.sqlite --batch 500"],
        Option<String>("--outbox", "File of an outbox that no relay uses"),
        Option<String>("--copy", "File to create"),
        Option<Int>("--batch", "Number of rows in a transaction")
    ) { outbox, copy, batch in
        let rows = try Rows(outbox: outbox)
        let target = try Connection(path: copy)
        try target.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA wal_autocheckpoint = 4000;")
        for statement in rows.schema { try target.execute(statement) }
        let places = repeatElement("?", count: rows.columns.count).joined(separator: ", ")
        let statement = try target.prepare("INSERT INTO push VALUES (\(places))")
        let start = ContinuousClock.now
        for first in stride(from: 0, to: rows.values.count, by: batch) {
            try target.transaction { () throws(SQLiteError) in
                for row in rows.values[first...].prefix(batch) { try Rows.insert(row, with: statement) }
            }
        }
        print(Double(rows.values.count) / ((ContinuousClock.now - start) / .seconds(1)))
    }

    private let schema: [String]
    private let columns: [String]
    private let values: [[Value]]

    /// Reads an outbox.
    private init(outbox: String) throws {
        let source = try Connection(path: outbox, options: .init(mustExist: true))
        var schema: [String] = []
        let tables = try source.prepare(
            "SELECT sql FROM sqlite_master WHERE tbl_name = 'push' AND sql IS NOT NULL ORDER BY type DESC"
        )
        while try tables.step() { schema.append(tables.text(at: 0)) }
        var columns: [String] = []
        let names = try source.prepare("SELECT name FROM pragma_table_info('push')")
        while try names.step() { columns.append(names.text(at: 0)) }
        var values: [[Value]] = []
        let types = columns.map { "typeof(\($0))" }
        let rows = try source.prepare(
            "SELECT \((columns + types).joined(separator: ", ")) FROM push ORDER BY number"
        )
        while try rows.step() {
            values.append(
                columns.indices.map { column in
                    switch rows.text(at: columns.count + column) {
                    case "integer": .number(rows.integer(at: column))
                    case "text": .text(rows.text(at: column))
                    case "blob": .bytes(rows.blob(at: column))
                    default: .null
                    }
                }
            )
        }
        (self.schema, self.columns, self.values) = (schema, columns, values)
    }

    private static func insert(_ row: [Value], with insert: borrowing Statement) throws(SQLiteError) {
        var position = 0
        for value in row {
            switch value {
            case .null: try insert.bind(nil as Int64?, after: &position)
            case .number(let number): try insert.bind(number, after: &position)
            case .text(let text): try insert.bind(text, after: &position)
            case .bytes(let bytes): try insert.bind(bytes, after: &position)
            }
        }
        try insert.run()
    }
}

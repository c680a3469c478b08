// SPDX-License-Identifier: Apache-2.0

import MartletSQLite
import TestSupport
import Testing

/// Tests of binding values and reading rows.
@Suite struct StatementTests {
    private let scratch: ScratchDirectory
    private var path: String { scratch.path + "/test.db" }

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func openTable() throws -> Connection {
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE value (id INTEGER PRIMARY KEY, value ANY) STRICT")
        return connection
    }

    @Test(arguments: [0, 1, -1, .max, .min] as [Int64]) func `integers are read as they were written`(value: Int64)
        throws
    {
        let connection = try openTable()
        let insert = try connection.prepare("INSERT INTO value (value) VALUES (?)")
        try insert.bind(value, at: 1)
        try insert.run()
        let select = try connection.prepare("SELECT value FROM value")
        let hasRow = try select.step()
        #expect(hasRow)
        let (read, isNull) = (select.integer(at: 0), select.isNull(at: 0))
        #expect(read == value && !isNull)
    }

    @Test(arguments: ["", "a", "Zürich 🦤", "\0", "before\0after"])
    func `texts are read as they were written`(value: String) throws {
        let connection = try openTable()
        let insert = try connection.prepare("INSERT INTO value (value) VALUES (?)")
        try insert.bind(value, at: 1)
        try insert.run()
        let select = try connection.prepare("SELECT value, typeof(value) FROM value")
        let hasRow = try select.step()
        let (read, type, isNull) = (select.text(at: 0), select.text(at: 1), select.isNull(at: 0))
        #expect(hasRow && read == value && type == "text" && !isNull)
    }

    @Test(arguments: [[], [0], [1, 0, 2], Array(0...255)] as [[UInt8]])
    func `bytes are read as they were written`(value: [UInt8]) throws {
        let connection = try openTable()
        let insert = try connection.prepare("INSERT INTO value (value) VALUES (?)")
        try insert.bind(value, at: 1)
        try insert.run()
        let select = try connection.prepare("SELECT value, typeof(value) FROM value")
        let hasRow = try select.step()
        let (read, type, isNull) = (select.blob(at: 0), select.text(at: 1), select.isNull(at: 0))
        #expect(hasRow && read == value && type == "blob" && !isNull)
    }

    @Test func `large values are read as they were written`() throws {
        let connection = try openTable()
        let text = String(repeating: "long ", count: 100_000)
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        let insert = try connection.prepare("INSERT INTO value (value) VALUES (?), (?)")
        try insert.bind(text, at: 1)
        try insert.bind(bytes, at: 2)
        try insert.run()
        let select = try connection.prepare("SELECT value, typeof(value) FROM value ORDER BY rowid")
        let hasText = try select.step()
        let isText = hasText && select.text(at: 0) == text && select.text(at: 1) == "text"
        let hasBytes = try select.step()
        let isBytes = hasBytes && select.blob(at: 0) == bytes && select.text(at: 1) == "blob"
        #expect(isText && isBytes)
    }

    @Test func `a missing value of any type is NULL`() throws {
        let connection = try openTable()
        let select = try connection.prepare("SELECT ?, ?, ?, ?, ?, ?")
        try select.bind(nil as Int64?, at: 1)
        try select.bind(nil as Int64?, at: 2)
        try select.bind(nil as String?, at: 3)
        try select.bind(nil as [UInt8]?, at: 4)
        try select.bindNull(at: 5)
        let hasRow = try select.step()
        #expect(hasRow)
        for column in 0..<6 {
            let isNull = select.isNull(at: column)
            #expect(isNull, "column \(column)")
        }
        let (integer, text, blob) = (select.integer(at: 0), select.text(at: 2), select.blob(at: 3))
        #expect(integer == 0 && text.isEmpty && blob.isEmpty)
    }

    @Test func `text that is not UTF-8 is repaired`() throws {
        let connection = try openTable()
        let select = try connection.prepare("SELECT CAST(x'61ff62' AS TEXT)")
        let hasRow = try select.step()
        let text = select.text(at: 0)
        #expect(hasRow && text == "a\u{FFFD}b")
    }

    @Test func `a statement is bound and run many times, and its rows are read in order`() throws {
        let connection = try openTable()
        let insert = try connection.prepare("INSERT INTO value (id, value) VALUES (?, ?)")
        try connection.transaction { () throws(SQLiteError) in
            for id in (1...1_000 as ClosedRange<Int64>).reversed() {
                try insert.bind(id, at: 1)
                try insert.bind("push \(id)", at: 2)
                try insert.run()
            }
        }
        #expect(connection.lastInsertRowID == 1 && connection.changes == 1)
        try connection.execute("UPDATE value SET value = 'sent' WHERE id > 990")
        #expect(connection.changes == 10)
        let delete = try connection.prepare("DELETE FROM value WHERE id BETWEEN ? AND ?")
        try delete.bind(Int64(11), at: 1)
        try delete.bind(Int64(990), at: 2)
        try delete.run()
        #expect(connection.changes == 980)
        let select = try connection.prepare("SELECT id, value FROM value ORDER BY id")
        for _ in 0..<2 {
            var rows: [Int64] = []
            while try select.step() {
                rows.append(select.integer(at: 0))
                let text = select.text(at: 1)
                #expect(text == (rows.count <= 10 ? "push \(rows.count)" : "sent"))
            }
            #expect(rows == Array(1...10) + Array(991...1_000))
        }
    }

    @Test func `a reset statement starts with the first row`() throws {
        let connection = try openTable()
        try connection.execute("INSERT INTO value (value) VALUES (1), (2), (3)")
        let select = try connection.prepare("SELECT value FROM value ORDER BY id")
        _ = try select.step()
        _ = try select.step()
        select.reset()
        _ = try select.step()
        let first = select.integer(at: 0)
        #expect(first == 1)
    }

    @Test func `a statement that is prepared again is as a new one`() throws {
        let connection = try openTable()
        try connection.execute("INSERT INTO value (id, value) VALUES (1, 'a'), (2, 'b')")
        let sql = "SELECT id, value, ? FROM value ORDER BY id"
        for _ in 1...2 {
            let select = try connection.prepare(sql)
            let hasRow = try select.step()
            let isFirst = hasRow && select.integer(at: 0) == 1 && select.isNull(at: 2)
            // Both are destroyed before their last rows.
            let other = try connection.prepare(sql)
            try other.bind("bound", at: 1)
            let hasOther = try other.step()
            let isFirstOfOther = hasOther && other.integer(at: 0) == 1 && other.text(at: 2) == "bound"
            #expect(isFirst && isFirstOfOther)
        }
        try connection.execute("DROP TABLE value; CREATE TABLE value (id, value); INSERT INTO value VALUES (7, 8)")
        let select = try connection.prepare(sql)
        let hasRow = try select.step()
        let isNew = hasRow && select.integer(at: 0) == 7 && select.integer(at: 1) == 8
        #expect(isNew)
    }

    @Test func `statements of many texts are prepared`() throws {
        let connection = try openTable()
        for number in 1...1_000 {
            let select = try connection.prepare("SELECT \(number)")
            let hasRow = try select.step()
            let isRight = hasRow && select.integer(at: 0) == number
            #expect(isRight)
        }
    }

    @Test func `a statement may outlive its connection`() throws {
        let statement: Statement
        do {
            let connection = try openTable()
            try connection.execute("INSERT INTO value (value) VALUES (7)")
            statement = try connection.prepare("SELECT value FROM value")
        }
        let hasRow = try statement.step()
        let value = statement.integer(at: 0)
        #expect(hasRow && value == 7)
    }

    @Test(arguments: [
        ("SELEKT 1", "syntax error"), ("SELECT * FROM nowhere", "no such table: nowhere"), ("", "no statement"),
        ("-- nothing", "no statement"), ("SELECT 1; SELECT 2", "more than one"),
    ])
    func `invalid SQL is refused`(sql: String, words: String) throws {
        let connection = try openTable()
        let error = try #require(throws: SQLiteError.self) { _ = try connection.prepare(sql) }
        #expect(error.kind == .other && error.description.contains(words), "\(error)")
    }

    @Test func `a statement may end with a semicolon and white space`() throws {
        let connection = try openTable()
        let hasRow = try connection.prepare("SELECT 1;\n ").step()
        #expect(hasRow)
    }

    @Test func `binding an unknown parameter or between two rows is refused`() throws {
        let connection = try openTable()
        let statement = try connection.prepare("SELECT ? UNION SELECT 2")
        #expect(throws: SQLiteError.self) { try statement.bind("a", at: 2) }
        #expect(throws: SQLiteError.self) { try statement.bind("a", at: 0) }
        #expect(throws: SQLiteError.self) { try statement.bind("a", at: .max) }
        _ = try statement.step()
        #expect(throws: SQLiteError.self) { try statement.bind("a", at: 1) }
        statement.reset()
        try statement.bind("a", at: 1)
    }
}

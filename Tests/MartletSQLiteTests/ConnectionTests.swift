// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletSQLite
import TestSupport
import Testing

/// Files that are databases, that are none, and that others use.
@Suite struct ConnectionTests {
    private let scratch: ScratchDirectory
    private var path: String { scratch.path + "/test.db" }

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func openTable() throws -> Connection {
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE push (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT")
        return connection
    }

    /// The kind of the error that a closure throws; nil without an error.
    ///
    /// Within a transaction `#expect(throws:)` would lose the error's type.
    private func failure(_ body: () throws(SQLiteError) -> Void) -> SQLiteError.Kind? {
        do throws(SQLiteError) {
            try body()
            return nil
        } catch {
            return error.kind
        }
    }

    private func count(_ connection: borrowing Connection) throws(SQLiteError) -> Int64 {
        let select = try connection.prepare("SELECT count(*) FROM push")
        return try select.step() ? select.integer(at: 0) : -1
    }

    // MARK: Transactions

    @Test func `a transaction is committed completely or not at all`() throws {
        let connection = try openTable()
        let length = try connection.transaction { () throws(SQLiteError) in
            try connection.execute("INSERT INTO push (name) VALUES ('a')")
            return 1
        }
        #expect(length == 1)
        let error = try #require(throws: SQLiteError.self) {
            try connection.transaction { () throws(SQLiteError) in
                try connection.execute("INSERT INTO push (name) VALUES ('b')")
                try connection.execute("INSERT INTO push (name) VALUES ('a')")
            }
        }
        #expect(error.kind == .constraint && error.description.contains("push.name"), "\(error)")
        #expect(!error.description.contains("'a'"), "values stay out of errors")
        #expect(try count(connection) == 1)
        try connection.execute("INSERT INTO push (name) VALUES ('b')")
        #expect(try count(connection) == 2, "the connection goes on")
    }

    @Test func `a transaction within another fails and leaves the outer one as it is`() throws {
        let connection = try openTable()
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute("INSERT INTO push (name) VALUES ('a')")
            let kind = failure { () throws(SQLiteError) in try connection.transaction { () throws(SQLiteError) in } }
            #expect(kind == .other)
        }
        #expect(try count(connection) == 1)
    }

    @Test func `a full disk rolls the transaction back`() throws {
        let connection = try openTable()
        try connection.execute("PRAGMA max_page_count = 10")
        let error = try #require(throws: SQLiteError.self) {
            try connection.transaction { () throws(SQLiteError) in
                let insert = try connection.prepare("INSERT INTO push (name) VALUES (?)")
                for number in 0..<1_000 {
                    try insert.bind("\(number)" + String(repeating: "x", count: 1_000), at: 1)
                    try insert.run()
                }
            }
        }
        #expect(error.kind == .full)
        #expect(try count(connection) == 0)
    }

    @Test func `committed rows are present when the file is opened again`() throws {
        do {
            let connection = try openTable()
            try connection.execute("INSERT INTO push (name) VALUES ('a')")
        }
        let connection = try Connection(path: path, options: .init(synchronous: .normal, mustExist: true))
        #expect(try count(connection) == 1)
        try connection.checkIntegrity()
    }

    // MARK: Others

    @Test func `a writer blocks a second writer, and no readers`() throws {
        let first = try openTable()
        let second = try Connection(path: path, options: .init(busyTimeout: .zero))
        try first.transaction { () throws(SQLiteError) in
            try first.execute("INSERT INTO push (name) VALUES ('a')")
            let seen = try count(second)
            #expect(seen == 0, "what is not committed is not seen")
            let kind = failure { () throws(SQLiteError) in try second.transaction { () throws(SQLiteError) in } }
            #expect(kind == .busy)
        }
        #expect(try count(second) == 1)
        try second.transaction { () throws(SQLiteError) in try second.execute("DELETE FROM push") }
        #expect(try count(first) == 0)
    }

    // MARK: Versions

    @Test func `the tables of a file are created once`() throws {
        let connection = try Connection(path: path)
        let script = "CREATE TABLE a (id INTEGER); INSERT INTO a VALUES (1)"
        #expect(throws: SQLiteError.self) { try connection.createTables(script + "; nonsense", version: 2) }
        #expect(try connection.userVersion == 0)
        try connection.createTables(script, version: 2)
        try connection.createTables(script, version: 2)
        #expect(try connection.userVersion == 2)
        let rows = try connection.prepare("SELECT count(*) FROM a")
        _ = try rows.step()
        #expect(rows.integer(at: 0) == 1)
    }

    @Test func `a file with tables of another version is refused`() throws {
        let connection = try Connection(path: path)
        try connection.createTables("CREATE TABLE a (id INTEGER)", version: 2)
        for version in [1, 3] {
            let error = try #require(throws: SQLiteError.self) {
                try connection.createTables("DROP TABLE a", version: version)
            }
            let words = "have version 2, and this program uses version \(version): use a new file, or the version"
            #expect(error.description.contains(words), "\(error)")
        }
        #expect(try connection.userVersion == 2)
    }

    // MARK: Files

    @Test func `the error for a file that is not a database has its path`() throws {
        try scratch.write(String(repeating: "This is a letter. ", count: 100), to: "test.db")
        let error = try #require(throws: SQLiteError.self) { _ = try Connection(path: path) }
        #expect(error.kind == .notADatabase && error.description.contains(path), "\(error)")
    }

    @Test func `the error for a path that cannot be opened has the reason`() throws {
        let missing = try #require(throws: SQLiteError.self) { _ = try Connection(path: scratch.path + "/no/test.db") }
        #expect(missing.kind == .cannotOpen && missing.description.contains("No such file"), "\(missing)")
        let directory = try #require(throws: SQLiteError.self) { _ = try Connection(path: scratch.path) }
        #expect(directory.kind == .cannotOpen, "\(directory)")
        let empty = try #require(throws: SQLiteError.self) { _ = try Connection(path: "") }
        #expect(empty.kind == .cannotOpen, "\(empty)")
        let absent = try #require(throws: SQLiteError.self) {
            _ = try Connection(path: path, options: .init(mustExist: true))
        }
        #expect(absent.kind == .cannotOpen, "\(absent)")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a new file can be accessed by its owner only`() throws {
        let connection = try openTable()
        try connection.execute("INSERT INTO push (name) VALUES ('a')")
        for name in [path, path + "-wal", path + "-shm"] {
            let permissions = try FileManager.default.attributesOfItem(atPath: name)[.posixPermissions] as? Int
            #expect(permissions == 0o600, "\(name)")
        }
    }

    @Test func `a file or directory without write permission has its own error`() async throws {
        do {
            let connection = try openTable()
            try connection.execute("INSERT INTO push (name) VALUES ('a')")
        }
        let path = path
        for name in [path, scratch.path] { chmod(name, name == path ? 0o444 : 0o555) }
        let scratch = scratch.path
        let kinds = await AnotherUser.run { () -> [SQLiteError.Kind?] in
            [path, scratch + "/other.db"].map { path in
                failure { () throws(SQLiteError) in _ = try Connection(path: path) }
            }
        }
        let message = await AnotherUser.run { () -> String in
            do throws(SQLiteError) {
                _ = try Connection(path: scratch + "/other.db")
                return ""
            } catch {
                return error.message
            }
        }
        chmod(scratch, 0o700)
        #expect(kinds == [.readOnly, .cannotOpen])
        #expect(message.hasSuffix("(Permission denied)"), "\(message)")
    }

    @Test func `a damaged file is detected`() throws {
        do {
            let connection = try openTable()
            let insert = try connection.prepare("INSERT INTO push (name) VALUES (?)")
            try connection.transaction { () throws(SQLiteError) in
                for number in 0..<5_000 {
                    try insert.bind("push number \(number)", at: 1)
                    try insert.run()
                }
            }
            try connection.checkIntegrity()
        }
        var bytes = try Array(Data(contentsOf: URL(filePath: path)))
        // The header and the schema stay valid, so that the damage is found later.
        for index in bytes.indices.dropFirst(3 * 4_096) where index % 4_096 < 64 { bytes[index] = 0x5A }
        try scratch.write(bytes, to: "test.db")
        let connection = try Connection(path: path)
        let found = try #require(throws: SQLiteError.self) { try connection.checkIntegrity() }
        #expect(found.kind == .corrupt, "\(found)")
        let met = try #require(throws: SQLiteError.self) { try connection.prepare("SELECT * FROM push").run() }
        #expect(met.kind == .corrupt, "\(met)")
    }
}

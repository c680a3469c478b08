// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletSQLite
import TestSupport
import Testing

/// Logs that SQLite has written, with and without damage.
@Suite(.timeLimit(.minutes(10))) struct WriteAheadLogTests {
    private static let frameSize = 24 + 4_096

    private let scratch: ScratchDirectory
    private var path: String { scratch.path + "/test.db" }

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func open() throws -> Connection {
        let connection = try Connection(path: path, options: Connection.Options(isExclusive: true))
        try connection.execute("CREATE TABLE push (id INTEGER PRIMARY KEY, payload BLOB NOT NULL)")
        return connection
    }

    /// Makes transactions of several frames each.
    private func insert(_ count: Int, with connection: borrowing Connection) throws {
        for _ in 0..<count { try connection.execute("INSERT INTO push (payload) VALUES (randomblob(9000))") }
    }

    /// The bytes of the log of the open database.
    private func content() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path + "-wal"))) }

    private func log(_ bytes: [UInt8], pieceSize: Int = 100_000) -> WriteAheadLog {
        var log = WriteAheadLog()
        for start in stride(from: 0, to: bytes.count, by: pieceSize) {
            log.add(Array(bytes[start..<min(start + pieceSize, bytes.count)]))
        }
        return log
    }

    /// The place of a frame in the log.
    private func start(of frame: Int) -> Int { 32 + frame * Self.frameSize }

    /// The indexes of the frames that end a transaction.
    private func commits(_ bytes: [UInt8]) -> [Int] {
        (0..<(bytes.count - 32) / Self.frameSize).filter { frame in
            bytes[start(of: frame) + 4..<start(of: frame) + 8].contains { $0 != 0 }
        }
    }

    @Test(arguments: [1, 31, 32, 35, 36, 4_119, 4_120, 1_000_000])
    func `an undamaged log is read in pieces of any size`(pieceSize: Int) throws {
        let connection = try open()
        try insert(3, with: connection)
        let bytes = try content()
        let log = log(bytes, pieceSize: pieceSize)
        #expect(log.damage == nil && log.sizeBeforeDamage == nil)
        #expect(log.frameCount == (bytes.count - 32) / Self.frameSize && log.frameCount > 6)
        try connection.checkLog()
    }

    @Test(arguments: [1, 24, 2_000, 4_119, 4_120, 4_121, 8_240, 12_400])
    func `a log whose end is missing is not damaged`(missing: Int) throws {
        let connection = try open()
        try insert(5, with: connection)
        #expect(log(Array(try content().dropLast(missing))).damage == nil)
    }

    @Test func `an empty log is not damaged`() throws {
        #expect(log([]).damage == nil)
        #expect(log([UInt8](repeating: 0, count: 10_000)).damage == nil)
        #expect(try WriteAheadLog(file: scratch.path + "/missing").damage == nil)
    }

    // The number of the page, the size after a commit, both salts, the checksum, and the page.
    @Test(arguments: [3, 7, 8, 15, 16, 23, 24, 2_000, 4_119])
    func `a changed bit in a frame before other commits is found`(place: Int) throws {
        let connection = try open()
        try insert(20, with: connection)
        let bytes = try content()
        for frame in [0, 1, 10, 11, 12, 13] {
            var damaged = bytes
            damaged[start(of: frame) + place] ^= 0x80
            let log = log(damaged)
            #expect(log.damage == .frame(frame) && log.sizeBeforeDamage == start(of: frame))
        }
    }

    @Test func `the commits from the damaged one on are counted`() throws {
        let connection = try open()
        try insert(20, with: connection)
        try connection.restartLog()
        try insert(10, with: connection)
        let bytes = try content()
        #expect(log(bytes).discardedCommitCount == 0)
        let ends = Array(commits(bytes).prefix(10))
        for (index, end) in ends.dropLast().enumerated() {
            var damaged = bytes
            damaged[start(of: end) + 2_000] ^= 1
            #expect(log(damaged).discardedCommitCount == 10 - index)
        }
    }

    @Test(arguments: 0..<32)
    func `a changed bit in the header is found`(place: Int) throws {
        let connection = try open()
        try insert(2, with: connection)
        var bytes = try content()
        bytes[place] ^= 1
        let log = log(bytes)
        #expect(log.damage == .header && log.sizeBeforeDamage == 0)
    }

    @Test(arguments: [1, 36, 4_120, 1_000_000])
    func `a log whose first page is empty is damaged`(pieceSize: Int) throws {
        let connection = try open()
        try insert(2, with: connection)
        var bytes = try content()
        bytes.replaceSubrange(..<4_096, with: [UInt8](repeating: 0, count: 4_096))
        #expect(log(bytes, pieceSize: pieceSize).damage == .header)
    }

    @Test func `frames of the last transaction that a crash has lost are no damage`() throws {
        let connection = try open()
        try insert(5, with: connection)
        let bytes = try content()
        let ends = Array(commits(bytes).suffix(2))
        try #require(ends.count == 2 && ends[1] - ends[0] > 2)
        for frame in ends[0] + 1...ends[1] {
            var torn = bytes
            for place in start(of: frame)..<start(of: frame + 1) { torn[place] = 0 }
            #expect(log(torn).damage == nil)
        }
    }

    @Test func `frames of an earlier generation of the log are no damage`() throws {
        let connection = try open()
        try insert(20, with: connection)
        let size = try content().count
        try connection.restartLog()
        try insert(3, with: connection)
        var bytes = try content()
        #expect(bytes.count == size)
        #expect(log(bytes).damage == nil)
        bytes[start(of: 1) + 100] ^= 1
        #expect(log(bytes).damage == .frame(1))
    }

    @Test func `a connection that only reads leaves the files as they are`() throws {
        let connection = try open()
        try insert(3, with: connection)
        let (database, log) = (try Data(contentsOf: URL(filePath: path)), try content())
        for hasLog in [true, false] {
            try scratch.write(database, to: "copy.db")
            if hasLog { try scratch.write(log, to: "copy.db-wal") }
            let copy = scratch.path + "/copy.db"
            do {
                let reader = try Connection(path: copy, options: Connection.Options(isReadOnly: true))
                _ = try reader.integrityProblems(limit: 1)
                #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM push") }
                let busy = Connection.Options(busyTimeout: .zero)
                #expect(throws: SQLiteError.self) {
                    try Connection(path: copy, options: busy).execute("CREATE TABLE other (id)")
                }
            }
            #expect(try Data(contentsOf: URL(filePath: copy)) == database)
            if hasLog {
                #expect(try Array(Data(contentsOf: URL(filePath: copy + "-wal"))) == log)
                try FileManager.default.removeItem(atPath: copy + "-wal")
            } else {
                #expect(!FileManager.default.fileExists(atPath: copy + "-wal"))
            }
        }
    }

    @Test func `a damaged log is kept when the database is closed`() throws {
        let connection = try open()
        try insert(10, with: connection)
        var bytes = try content()
        let frame = try #require(commits(bytes).dropFirst(3).first) + 1
        bytes[start(of: frame) + 100] ^= 1
        let database = try Data(contentsOf: URL(filePath: path))
        let copy = scratch.path + "/copy.db"
        try scratch.write(database, to: "copy.db")
        try scratch.write(bytes, to: "copy.db-wal")
        do throws(SQLiteError) {
            let damaged = try Connection(path: copy, options: Connection.Options(isExclusive: true))
            try damaged.checkLog()
            Issue.record("the damage was not found")
        } catch {
            let size = start(of: frame)
            #expect(error.kind == .corrupt && error.message.contains("frame \(frame + 1) of "), "\(error)")
            #expect(error.message.contains("all later changes (7 commits): copy"), "\(error)")
            #expect(error.message.hasSuffix("truncate --size=\(size) \(copy)-wal"), "\(error)")
        }
        #expect(try Data(contentsOf: URL(filePath: copy + "-wal")) == Data(bytes))
        #expect(try Data(contentsOf: URL(filePath: copy)) == database)
        // As the error says.
        try scratch.write(bytes.prefix(start(of: frame)), to: "copy.db-wal")
        let rest = try Connection(path: copy, options: Connection.Options(isExclusive: true))
        try rest.checkLog()
        let count = try rest.prepare("SELECT count(*) FROM push")
        // The first four commits are those of the table and of three rows.
        #expect(try count.step() && count.integer(at: 0) == 3)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletPostgreSQL
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SessionTests {
    /// The milliseconds after which a server does not answer: a guard against hanging.
    private static let patience: Int32 = 300_000

    private let address: String

    init() async throws {
        let server = try await PostgreSQLServer.shared.value
        address = server.address(of: try await server.makeDatabase())
    }

    /// Opens a session in pipeline mode.
    private func pipeline() throws -> Session {
        let session = try Session(address, name: "test")
        try session.beginPipeline()
        return session
    }

    /// Waits for input, and reads it.
    private func receive(in session: Session) throws {
        _ = try session.flush()
        var socket = pollfd(fd: session.descriptor, events: Int16(POLLIN), revents: 0)
        let count = poll(&socket, 1, Self.patience)
        try #require(count == 1, "the server does not answer")
        try session.receive()
    }

    /// Waits for the result of the next statement.
    private func result(in session: Session) throws -> Session.StatementResult {
        while true {
            if let result = try session.nextResult() { return result }
            try receive(in: session)
        }
    }

    /// Waits for the first row of the next statement.
    private func row(in session: Session) throws -> Row {
        switch try result(in: session) {
        case .rows(let rows): return try #require(rows.first)
        case .failed(let error): throw error
        }
    }

    @Test func `a value of each kind is returned as it was sent`() throws {
        let session = try pipeline()
        let identifier = [UInt8](0..<16)
        try session.send(
            "SELECT $1, $2, $3, $4, $5, $6, $7",
            [
                .integer(-7), .text("é"), .bytes([0, 255]), .flag(true), .identifier(identifier), .integer(nil),
                .text(""),
            ]
        )
        let row = try row(in: session)
        #expect(row.integer(at: 0) == -7 && row.text(at: 1) == "é" && row.bytes(at: 2) == [0, 255])
        #expect(row.flag(at: 3) && row.bytes(at: 4) == identifier)
        #expect(row.optionalInteger(at: 5) == nil && row.integer(at: 5) == 0)
        #expect(row.optionalText(at: 6) == "")
        #expect(session.pendingStatements == 0)
    }

    @Test func `an array of each kind has its elements`() throws {
        let session = try pipeline()
        try session.send(
            #"""
            SELECT $1 = ARRAY[1, NULL, -3]::int8[], $2 = ARRAY['a', NULL, '']::text[],
                $3 = ARRAY['\x00ff', NULL]::bytea[], $4 = ARRAY[true, false],
                $5 = ARRAY['000102030405060708090a0b0c0d0e0f']::uuid[], $6 = '{}'::int8[]
            """#,
            [
                .integers([1, nil, -3]), .texts(["a", nil, ""]), .byteLists([[0, 255], nil]), .flags([true, false]),
                .identifiers([[UInt8](0..<16)]), .integers([]),
            ]
        )
        let row = try row(in: session)
        #expect((0..<6).allSatisfy { row.flag(at: $0) })
    }

    @Test func `statements of a pipeline fail alone, and their results are in order`() throws {
        let session = try pipeline()
        for sql in ["SELECT 1/0", "SELECT n FROM missing", "SELECT 2"] { try session.send(sql, []) }
        #expect(session.pendingStatements == 3)
        for (state, kind) in [("22012", PostgreSQLError.Kind.other), ("42P01", .undefined)] {
            let error = #expect(throws: PostgreSQLError.self) { try row(in: session) }
            #expect(error?.state == state && error?.kind == kind)
        }
        #expect(try row(in: session).integer(at: 0) == 2)
    }

    @Test func `a script is executed in one transaction`() throws {
        let session = try Session(address, name: "test")
        let error = #expect(throws: PostgreSQLError.self) {
            try session.execute("CREATE TABLE one (n int8); SELECT 1/0", within: .seconds(300))
        }
        #expect(error?.state == "22012")
        try session.execute("CREATE TABLE one (n int8)", within: .seconds(300))
    }

    @Test func `a script that takes too long has no answer`() throws {
        let session = try Session(address, name: "test")
        let error = #expect(throws: PostgreSQLError.self) {
            try session.execute("SELECT pg_sleep(60)", within: .milliseconds(50))
        }
        #expect(error?.kind == .noAnswer && error?.description == "no response within 50 ms")
    }

    @Test func `a notification has its channel and its text`() throws {
        let session = try Session(address, name: "test")
        try session.execute("LISTEN news", within: .seconds(300))
        try session.beginPipeline()
        try session.send("SELECT pg_notify('news', $1)", [.text("hello")])
        _ = try result(in: session)
        var notification = session.nextNotification()
        while notification == nil {
            try receive(in: session)
            notification = session.nextNotification()
        }
        #expect(notification?.channel == "news" && notification?.text == "hello")
    }

    @Test func `a server that cannot be reached is named`() {
        let error = #expect(throws: PostgreSQLError.self) {
            try Session("postgresql://127.0.0.1:1/none", name: "test")
        }
        #expect(error?.kind == .disconnected && error?.description.contains("127.0.0.1") == true)
    }
}

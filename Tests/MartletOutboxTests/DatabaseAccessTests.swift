// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletOutbox
import TestSupport
import Testing

/// Databases that a relay can use only in part.
@Suite(.timeLimit(.minutes(10))) struct DatabaseAccessTests {
    private let server: PostgreSQLServer
    private let database: String

    init() async throws {
        server = try await PostgreSQLServer.shared.value
        database = try await server.makeDatabase()
    }

    @Test func `a missing right is named with the statement that grants it`() async throws {
        let role = "r" + database
        try await server.ask("CREATE ROLE \(role) LOGIN", of: database)
        let address = server.address(of: database).replacing("postgres@", with: "\(role)@")
        let noDatabase = await #expect(throws: OutboxError.self) { try await OutboxSchema.create(in: address) }
        #expect(noDatabase?.kind == .denied)
        let grant = "(42501): its owner has to run GRANT CREATE ON DATABASE \(database) TO \(role)"
        #expect(noDatabase?.description.hasSuffix(grant) == true, "\(String(describing: noDatabase))")

        try await OutboxSchema.create(in: server.address(of: database))
        for (object, right, grant) in [
            ("schema martlet", "USAGE", "GRANT USAGE ON SCHEMA martlet TO \(role)"),
            ("table version", "SELECT, INSERT, UPDATE and DELETE", "GRANT postgres TO \(role)"),
        ] {
            let error = await #expect(throws: OutboxError.self) { try await PostgreSQLOutbox(address: address) }
            #expect(error?.kind == .denied)
            let message =
                "permission denied for \(object) (42501): \(role) needs \(right): connect as the role that owns"
            #expect(error?.description.contains(message) == true, "\(String(describing: error))")
            #expect(error?.description.contains("GRANT owner TO \(role)") == true, "\(String(describing: error))")
            try await server.ask(grant, of: database)
        }
        let store = try await PostgreSQLOutbox(address: address)
        await store.close(isInOrder: true)
    }

    @Test func `only granted functions are executable, and no trigger's`() async throws {
        try await OutboxSchema.create(in: server.address(of: database))
        let role = "r" + database
        try await server.ask("CREATE ROLE \(role); GRANT USAGE ON SCHEMA martlet TO \(role)", of: database)
        let executable = """
            SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'martlet'::regnamespace
                AND has_function_privilege('\(role)', oid, 'EXECUTE') ORDER BY 1
            """
        #expect(try await server.ask(executable, of: database) == "")
        // The grants of the documentation.
        try await server.ask(
            """
            GRANT EXECUTE ON FUNCTION martlet.enqueue TO \(role);
            GRANT EXECUTE ON FUNCTION martlet.enqueue_surface, martlet.enqueue_withdrawal TO \(role)
            """,
            of: database
        )
        #expect(try await server.ask(executable, of: database) == "enqueue\nenqueue_surface\nenqueue_withdrawal\n")
        for function in ["number_surface_request", "supersede_at_commit"] {
            let attaching = await #expect(throws: MissingProgram.self) {
                try await server.ask(
                    """
                    SET ROLE \(role); CREATE TEMPORARY TABLE own (number bigint);
                    CREATE TRIGGER own AFTER INSERT ON own FOR EACH ROW EXECUTE FUNCTION martlet.\(function)()
                    """,
                    of: database
                )
            }
            #expect("\(attaching as Any)".contains("permission denied for function"), "\(function)")
        }
    }

    @Test func `a database with tables of another version is refused`() async throws {
        let address = server.address(of: database)
        try await OutboxSchema.create(in: address)
        try await server.ask("UPDATE martlet.version SET number = 4", of: database)
        let creating = await #expect(throws: OutboxError.self) { try await OutboxSchema.create(in: address) }
        let opening = await #expect(throws: OutboxError.self) { try await PostgreSQLOutbox(address: address) }
        let checking = #expect(throws: OutboxError.self) { try OutboxCheck.run(on: .database(address)) }
        for error in [creating, opening, checking] {
            let words = "have version 4, and this program uses version 1: use a new database, or the version of Martlet"
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test func `a pooler that discards notifications is reported`() async throws {
        try await OutboxSchema.create(in: server.address(of: database))
        let pooler = try NotificationFilter(to: server.port)
        defer { pooler.stop() }
        let address = "postgresql://postgres@127.0.0.1:\(pooler.port)/\(database)?sslmode=disable&gssencmode=disable"
        let store = try await PostgreSQLOutbox(address: address)
        for await event in store.events where event == .notificationsLost { break }
        await store.close(isInOrder: true)
    }

    @Test func `a database that delivers notifications is not reported`() async throws {
        try await OutboxSchema.create(in: server.address(of: database))
        let options = PostgreSQLOutbox.Options(lease: .seconds(9))
        let store = try await PostgreSQLOutbox(address: server.address(of: database), options: options)
        // The first heartbeat comes after the check.
        for await event in store.events {
            #expect(event != .notificationsLost)
            if case .fleet = event { break }
        }
        await store.close(isInOrder: true)
    }
}

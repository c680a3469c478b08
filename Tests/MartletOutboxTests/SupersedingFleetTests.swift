// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// Tests of superseding pushes that several relays and back ends store in one database.
@Suite(.timeLimit(.minutes(10))) struct SupersedingFleetTests {
    private let server: PostgreSQLServer
    private let database: String

    init() async throws {
        server = try await PostgreSQLServer.shared.value
        database = try await server.makeDatabase()
        try await OutboxSchema.create(in: server.address(of: database))
    }

    private func open() async throws -> PostgreSQLOutbox {
        try await PostgreSQLOutbox(address: server.address(of: database), options: .init(lease: .seconds(3_600)))
    }

    @Test func `a push of a back end supersedes others at the commit`() async throws {
        let store = try await open()
        _ = try await store.claimAll(at: 0)
        func enqueue(_ id: Int, _ more: String = ", collapse_id => 'score', supersede => true") -> String {
            """
            SELECT martlet.enqueue('orders', '{"aps": {"alert": "2:1"}}', 'com.example.orders', 'aabb',
                id => '00000000-0000-4000-8000-00000000000\(id)'\(more));
            """
        }
        func waiting() async throws -> String {
            try await server.ask("SELECT right(apns_id::text, 1) FROM martlet.push ORDER BY number", of: database)
        }
        try await server.ask(enqueue(1), of: database)
        try await server.ask("BEGIN; \(enqueue(2)) ROLLBACK", of: database)
        #expect(try await waiting() == "1\n")
        try await server.ask("BEGIN; \(enqueue(3)) \(enqueue(4)) COMMIT", of: database)
        #expect(try await waiting() == "4\n")
        // A repeated call supersedes nothing.
        try await server.ask("\(enqueue(5, ", collapse_id => 'score'")) \(enqueue(4))", of: database)
        #expect(try await waiting() == "4\n5\n")
        let ids = try [1, 3].map { try APNsID("00000000-0000-4000-8000-00000000000\($0)") }
        for id in ids {
            #expect(try await store.status(of: id, of: "orders")?.outcome == Outcome(.superseded))
        }
        let refusal = await #expect(throws: MissingProgram.self) {
            try await server.ask(enqueue(6, ", supersede => true"), of: database)
        }
        #expect("\(refusal as Any)".contains("supersede needs collapse_id"))
    }

    @Test func `concurrent superseding pushes leave one of each order key`() async throws {
        let first = try await open()
        let second = try await open()
        let stores = [first, second]
        try await withThrowingTaskGroup { group in
            for number: UInt64 in 1...200 {
                group.addTask {
                    let push = try OutboxPush.numbered(number, orderKey: "key \(number % 3)").superseding
                    #expect(try await stores[Int(number % 2)].accept([push], at: 1_000)[0].isStored)
                }
            }
            group.addTask {
                for _ in 0..<50 {
                    for push in try await stores[0].claimAll(at: 2_000) { try await stores[0].end(push, at: 2_000) }
                }
            }
            try await group.waitForAll()
        }
        // Two pushes that are stored at the same time may both wait.
        for number in 0..<3 {
            let push = try OutboxPush.numbered(UInt64(1_000 + number), orderKey: "key \(number)").superseding
            #expect(try await stores[0].accept([push], at: 2_000)[0].isStored)
        }
        #expect(try await server.ask("SELECT count(*) FROM martlet.queue", of: database) == "3\n")
    }

    /// Transactions of a back end, each with a superseding push for each of some collapse identifiers.
    private static func transactions(_ identifiers: [String]) -> String {
        let calls = identifiers.map { identifier in
            """
            SELECT martlet.enqueue('orders', '{"aps": {}}', 'com.example.orders', 'aabb',
                collapse_id => '\(identifier)', supersede => true);
            """
        }
        return String(repeating: "BEGIN; \(calls.joined()) COMMIT; ", count: 50)
    }

    @Test func `transactions that supersede pushes do not deadlock`() async throws {
        let store = try await open()
        _ = try await store.claimAll(at: 0)
        try await withThrowingTaskGroup { group in
            for identifiers in [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"], ["c", "a", "b"]] {
                group.addTask { [server, database] in
                    _ = try await server.ask(Self.transactions(identifiers), of: database)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await server.ask("SELECT count(*) FROM martlet.superseding", of: database) == "0\n")
    }

    @Test func `pushes that another replaces are locked before users`() async throws {
        let store = try await open()
        try await store.installations.enroll(Installation.numbered(1).with("aabb"), at: 10)
        _ = try await store.accept([OutboxPush.numbered(1, token: "aabb", orderKey: "score")], at: 10)
        // A settlement of an unregistered token locks in this order, too. This one detects a deadlock before the relay.
        let settlement = Task { [server, database] in
            try await server.ask(
                """
                BEGIN; SET LOCAL deadlock_timeout = '10ms';
                DO $$ BEGIN
                    PERFORM FROM martlet.queue FOR UPDATE;
                    FOR attempt IN 1..30000 LOOP
                        EXIT WHEN EXISTS (
                            SELECT FROM pg_locks l
                            WHERE NOT l.granted AND pg_backend_pid() = ANY (pg_blocking_pids(l.pid))
                        );
                        PERFORM pg_sleep(0.01);
                    END LOOP;
                    PERFORM FROM martlet.installation FOR UPDATE;
                END $$;
                COMMIT
                """,
                of: database
            )
        }
        try await server.waitForSleep("the push is locked", of: database)
        let push = try OutboxPush.numbered(2, token: "aabb", orderKey: "score", user: "anna").superseding
        #expect(try await store.accept([push], at: 20)[0].superseded.count == 1)
        _ = try await settlement.value
    }
}

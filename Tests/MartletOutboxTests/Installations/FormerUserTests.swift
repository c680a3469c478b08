// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

/// Pushes to users that are removed, or whose phones sign out, while the pushes are being accepted.
@Suite(.timeLimit(.minutes(10))) struct FormerUserTests {
    /// The token of ``OutboxPush/numbered``.
    private static let token = "00112233445566778899aabbccddeeff"

    @Test(arguments: OutboxEngine.allCases)
    func `a push is not stored after its user was removed`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        try await store.enroll(Installation.numbered(1).with(Self.token))
        let members = try await store.members(of: .users(["anna"]), in: "orders", .init(.device))
        #expect(members.map(\.token?.hex) == [Self.token])
        let pushes = try (1...3).map { try OutboxPush.numbered($0, hasCallersID: true, user: "anna") }
        #expect(try await outbox.accept([pushes[0]], at: 100) == [.accepted])
        #expect(try await store.removeUser("anna", of: "orders") == 1)
        #expect(try await outbox.accept([pushes[1]], at: 100) == [.formerUser])
        #expect(try await outbox.erasePushes(ofUser: "anna", at: 100).flatMap(\.cancelled).count == 1)
        #expect(try await outbox.accept([pushes[2]], at: 100) == [.formerUser])
        // A repeated push is still found.
        let status = try #require(try await outbox.status(of: pushes[0].id, of: "orders"))
        #expect(status.outcome?.state == .cancelled)
        #expect(try await outbox.accept([pushes[0]], at: 200) == [.duplicate(status)])
        try await store.enroll(Installation.numbered(2).with(Self.token, at: 200))
        #expect(try await outbox.claimAll(at: 300).isEmpty)
        #expect(try await outbox.status(of: pushes[1].id, of: "orders") == nil)
        #expect(try await outbox.accept([pushes[1]], at: 300) == [.accepted])
        #expect(try await outbox.claimAll(at: 300).map(\.push.id) == [pushes[1].id])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `only pushes whose token has left the user are not stored`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        for (index, token) in ["aa", "bb", "cc", "dd"].enumerated() {
            try await store.enroll(Installation.numbered(UInt64(index)).with(token))
        }
        // The token of another app, one of another user, one that was replaced, and one that moved to another phone.
        try await store.enroll(Installation.numbered(5, app: "rides").with("ee"))
        try await store.enroll(Installation.numbered(6, user: "bob").with("bb"))
        try await store.report("c0", of: Installation.numbered(2).id, at: 200)
        try await store.enroll(Installation.numbered(7).with("dd"))
        var pushes = try ["aa", "bb", "cc", "dd", "ee", "ff"].enumerated().map { index, token in
            try OutboxPush.numbered(UInt64(index) + 1, token: token, hasCallersID: true, user: "anna")
        }
        pushes[5].user = nil
        let answers = try await outbox.accept(pushes, at: 300)
        #expect(answers == [.accepted, .formerUser, .formerUser, .accepted, .formerUser, .accepted])
        #expect(try await outbox.backlog().map(\.count) == [3])
        #expect(try await outbox.claimAll(at: 300).map(\.push.id) == [pushes[0].id, pushes[3].id, pushes[5].id])
        await outbox.close(isInOrder: true)
    }

    @Test func `the removal of a user waits for pushes that are being stored`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let database = try await server.makeDatabase()
        let address = server.address(of: database)
        try await OutboxSchema.create(in: address)
        // The statement that stores the push must outlast the start of the removal.
        let outbox = try await PostgreSQLOutbox(address: address, options: .init(statementTime: .seconds(60)))
        try await outbox.installations.enroll(Installation.numbered(1).with(Self.token))
        // The push is committed only after another transaction waits for this one. The loop is in SQL, because only the
        // statement that stores the push can keep its transaction open.
        try await server.ask(
            """
            CREATE FUNCTION wait_for_other() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                WHILE NOT EXISTS (
                    SELECT FROM pg_locks l WHERE NOT l.granted AND pg_backend_pid() = ANY (pg_blocking_pids(l.pid))
                ) LOOP PERFORM pg_sleep(0.01); END LOOP;
                RETURN NULL;
            END $$;
            CREATE TRIGGER wait_for_other AFTER INSERT ON martlet.queue
                FOR EACH STATEMENT EXECUTE FUNCTION wait_for_other()
            """,
            of: database
        )
        let push = try OutboxPush.numbered(1, hasCallersID: true, user: "anna")
        async let accepting = outbox.accept([push], at: 100)
        try await server.waitForSleep("the push is being stored", of: database)
        #expect(try await outbox.installations.removeUser("anna", of: "orders") == 1)
        #expect(try await accepting == [.accepted])
        #expect(try await outbox.erasePushes(ofUser: "anna", at: 200).flatMap(\.cancelled).map(\.id) == [push.id])
        await outbox.close(isInOrder: true)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// Tests of several processes that share one outbox.
@Suite(.timeLimit(.minutes(10))) struct FleetTests {
    private let server: PostgreSQLServer
    private let database: String

    init() async throws {
        server = try await PostgreSQLServer.shared.value
        database = try await server.makeDatabase()
        try await OutboxSchema.create(in: server.address(of: database))
    }

    private func open(lease: Duration = .seconds(3_600)) async throws -> PostgreSQLOutbox {
        try await PostgreSQLOutbox(address: server.address(of: database), options: .init(lease: lease))
    }

    @Test func `a claimed push is claimed and settled by one node only`() async throws {
        let one = try await open()
        let other = try await open()
        let pushes = try (1...10).map { try OutboxPush.numbered($0) }
        _ = try await one.accept(pushes, at: 1_000)
        let first = try await one.claim(.orders, .immediate, limit: 4, at: 1_000).pushes
        let rest = try await other.claimAll(at: 1_000)
        #expect((first + rest).map(\.push.id) == pushes.map(\.id))
        #expect(try await other.status(of: pushes[0].id, of: "orders")?.state == .inFlight)
        try await one.end(first[0], at: 1_100)
        #expect(try await other.outcome(of: pushes[0])?.state == .delivered)
        // A node cannot settle the claim of another node.
        try await other.end(first[1], .refused, at: 1_100)
        #expect(try await other.status(of: pushes[1].id, of: "orders")?.state == .inFlight)
    }

    @Test func `a push of an expired node is claimed with an unknown attempt`()
        async throws
    {
        let dead = try await open()
        let push = try OutboxPush.numbered(1)
        _ = try await dead.accept([push], at: 1_000)
        let lost = try await dead.claimAll(at: 1_000)
        let heir = try await open(lease: .seconds(3))
        #expect(try await heir.claimAll(at: 1_000).isEmpty)
        try await server.ask(
            "UPDATE martlet.node SET lease_until = '-infinity' WHERE number = (SELECT min(number) FROM martlet.node)",
            of: database
        )
        for await event in heir.events where event == .arrived(.orders, .immediate) { break }
        let claimed = try await heir.claimAll(at: 1_000)
        #expect(claimed.map(\.push.id) == [push.id] && claimed.map(\.unknownTries) == [1])
        // The expired node reports its outcome too late.
        try await dead.end(lost[0], .refused, at: 2_000)
        #expect(try await heir.status(of: push.id, of: "orders")?.state == .inFlight)
        let outcome = Outcome(.delivered, status: 200, attempts: 1, unknownTries: 1)
        try await heir.settle([Settlement(claimed[0], .ended(outcome))], at: 3_000)
        #expect(try await dead.outcome(of: push) == outcome)
    }

    @Test func `an expired node registers again and claims its push`() async throws {
        let store = try await open(lease: .seconds(3))
        _ = try await store.accept([try .numbered(1)], at: 1_000)
        #expect(try await store.claimAll(at: 1_000).count == 1)
        try await server.ask(
            "UPDATE martlet.node SET lease_until = '-infinity'; SELECT martlet.delete_expired_nodes()",
            of: database
        )
        for await event in store.events where event == .claimsLost { break }
        // A claim that finds the node unregistered returns nothing, and the next one has the push.
        var claimed: [ClaimedPush] = []
        try await eventually("the node claims again") {
            claimed = try await store.claimAll(at: 1_000)
            return !claimed.isEmpty
        }
        #expect(claimed.map(\.unknownTries) == [1])
    }

    @Test func `a node that was deleted claims nothing before it has registered again`() async throws {
        // The lease is so long that no beat notices first.
        let store = try await open()
        _ = try await store.accept([try .numbered(1), try .numbered(2)], at: 1_000)
        let lost = try await store.claim(.orders, .immediate, limit: 1, at: 1_000).pushes
        try await server.ask(
            "UPDATE martlet.node SET lease_until = '-infinity'; SELECT martlet.delete_expired_nodes()",
            of: database
        )
        var claimed: [ClaimedPush] = []
        try await eventually("the node claims again") {
            claimed = try await store.claimAll(at: 1_000)
            return !claimed.isEmpty
        }
        #expect(claimed.map(\.number).first == lost.first?.number && claimed.map(\.unknownTries) == [1, 0])
        #expect(try await claimsOfMissingNodes() == 0)
        for await event in store.events where event == .claimsLost { break }
    }

    @Test func `claims of nodes that do not exist are released at the start`()
        async throws
    {
        let store = try await open()
        let pushes = try [OutboxPush.numbered(1, orderKey: "a"), .numbered(2, orderKey: "a")]
        _ = try await store.accept(pushes, at: 1_000)
        _ = try await store.claimAll(at: 1_000)
        try await server.ask("UPDATE martlet.queue SET node = 999 WHERE node IS NOT NULL", of: database)
        #expect(try await claimsOfMissingNodes() == 1)
        let other = try await open()
        #expect(try await claimsOfMissingNodes() == 0)
        let first = try await other.claimAll(at: 1_000)
        #expect(first.map(\.push.id) == [pushes[0].id] && first.map(\.unknownTries) == [1])
        try await other.end(first[0], at: 1_000)
        #expect(try await other.claimAll(at: 1_000).map(\.push.id) == [pushes[1].id])
    }

    @Test func `pushes with an order key are claimed in the order of numbers`() async throws {
        let store = try await open()
        // The third one's relay has a clock that is behind, and the claimer has looked past the first one's time.
        for (number, time) in [(1, 1_000), (2, 5_500), (3, 4_000), (4, 5_600), (5, 9_000), (6, 5_700)] {
            let push = try OutboxPush.numbered(UInt64(number), orderKey: number == 6 ? "b" : "a")
            #expect(try await store.accept([push], at: Int64(time)) == [.accepted])
        }
        func claimed(at time: Int) async throws -> String {
            try await server.ask(
                """
                WITH c AS MATERIALIZED (
                    SELECT * FROM martlet.claim(
                        (SELECT min(number) FROM martlet.node)::bigint, 1,
                        (SELECT number FROM martlet.app WHERE name = 'orders'), true, 0, 5000, \(time), 10
                    )
                ) SELECT string_agg(number::text, ' ' ORDER BY number) FROM c
                """,
                of: database
            )
        }
        #expect(try await claimed(at: 6_000) == "1 6\n")
        for number in 1...4 {
            let stored = try OutboxPush.numbered(UInt64(number))
            var push = ClaimedPush(
                number: Int64(number),
                push: stored,
                acceptedAt: 1_000,
                attempts: 0,
                unknownTries: 0
            )
            push.claim = 1
            try await store.end(push, at: 6_000)
            #expect(try await claimed(at: 6_000) == (number < 4 ? "\(number + 1)\n" : "\n"))
        }
    }

    @Test func `a node that missed a renewal waits a lease before it deletes others`() async throws {
        func nodes(after change: String) async throws -> String {
            try await server.ask(
                "\(change); SELECT nodes FROM martlet.beat((SELECT min(number) FROM martlet.node), 15, false, '{}')",
                of: database
            )
        }
        try await server.ask(
            "SELECT martlet.register(n, '1', 15, false) FROM (VALUES ('a'), ('b')) AS v (n)",
            of: database
        )
        let hang = """
            UPDATE martlet.node SET lease_until = clock_timestamp()
                + CASE name WHEN 'a' THEN interval '3 seconds' ELSE interval '-1 second' END
            """
        #expect(try await nodes(after: hang) == "2\n")
        #expect(try await nodes(after: "SELECT 0") == "0\n2\n")
        let wait = "UPDATE martlet.node SET steady_since = steady_since - interval '15 seconds' WHERE name = 'a'"
        #expect(try await nodes(after: wait) == "1\n")
    }

    @Test func `a push whose duplicate is deleted meanwhile can be submitted again`() async throws {
        let store = try await open()
        let push = try OutboxPush.numbered(1, hasCallersID: true)
        #expect(try await store.accept([push], at: 1_000) == [.accepted])
        // Deletes the stored push between the statement that meets it and the one that reads it.
        try await server.ask(
            """
            CREATE FUNCTION delete_pushes() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN DELETE FROM martlet.queue; DELETE FROM martlet.push; RETURN NULL; END';
            CREATE TRIGGER delete_pushes BEFORE INSERT ON martlet.queue
                FOR EACH STATEMENT EXECUTE FUNCTION delete_pushes()
            """,
            of: database
        )
        #expect(try await store.accept([push], at: 1_001) == [.vanished])
        try await server.ask("DROP TRIGGER delete_pushes ON martlet.queue", of: database)
        #expect(try await store.accept([push], at: 1_002) == [.accepted])
    }

    private func claimsOfMissingNodes() async throws -> Int? {
        let text = try await server.ask(
            "SELECT count(*) FROM martlet.queue WHERE node NOT IN (SELECT number FROM martlet.node)",
            of: database
        )
        return Int(text.dropLast())
    }

    @Test func `nodes know their number and their leader`() async throws {
        let first = try await open(lease: .seconds(3))
        let second = try await open(lease: .seconds(3))
        let stores = [first, second]
        for (index, store) in stores.enumerated() {
            for await event in store.events where event == .fleet(nodes: 2, isLeader: index == 0) { break }
        }
        await stores[0].close(isInOrder: true)
        for await event in stores[1].events where event == .fleet(nodes: 1, isLeader: true) { break }
    }

    @Test func `a back end enqueues pushes in its transaction and wakes relays`() async throws {
        let store = try await open(lease: .seconds(3))
        #expect(try await store.claimAll(at: 0).isEmpty)
        func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
        let token = "00112233445566778899aabbccddeeff"
        func enqueue(_ id: Int, _ more: String = "") -> String {
            """
            SELECT martlet.enqueue('orders', '{"aps": {"alert":"é"}, "n": 1e400}', 'com.example.orders', '\(token)',
                id => '00000000-0000-4000-8000-00000000000\(id)'\(more))
            """
        }
        let unknown = enqueue(1).replacing("'orders'", with: "'nosuch'")
        let refusal = await #expect(throws: MissingProgram.self) { try await server.ask(unknown, of: database) }
        #expect("\(refusal as Any)".contains("no relay serves the app nosuch"))
        try await server.ask("BEGIN; \(enqueue(1)); ROLLBACK", of: database)
        try await server.ask("BEGIN; \(enqueue(2)); COMMIT", of: database)
        for await event in store.events where event == .arrived(.orders, .immediate) { break }
        let claimed = try await store.claimAll(at: now())
        #expect(
            claimed.map { String(decoding: $0.push.payload, as: UTF8.self) } == [#"{"aps": {"alert":"é"}, "n": 1e400}"#]
        )
        #expect(claimed.map(\.push.id.description) == ["00000000-0000-4000-8000-000000000002"])
        // SQL and Swift calculate the same checksum.
        #expect(try await server.ask("SELECT checksum IS NOT NULL FROM martlet.push", of: database) == "t\n")
        #expect(claimed.map(\.isDamaged) == [false])
        // The same again is the same; another with its identifier is refused.
        #expect(try await server.ask(enqueue(2), of: database) == "00000000-0000-4000-8000-000000000002\n")
        await #expect(throws: MissingProgram.self) { try await server.ask(enqueue(2, ", priority => 5"), of: database) }
        await #expect(throws: MissingProgram.self) { try await server.ask(enqueue(3, ", priority => 7"), of: database) }
        #expect(try await store.claimAll(at: now()).isEmpty)
        // The count is cached for a while and may be an earlier one.
        try await eventually("one push is counted") { try await store.backlog().map(\.count) == [1] }
        // A back end needs no more than the right to call it.
        let role = "r" + database
        let rights = "GRANT USAGE ON SCHEMA martlet TO \(role); GRANT EXECUTE ON FUNCTION martlet.enqueue TO \(role)"
        try await server.ask("CREATE ROLE \(role); \(rights); SET ROLE \(role); \(enqueue(4))", of: database)
        try await eventually("the push of the role is claimed") { try await !store.claimAll(at: now()).isEmpty }
        await #expect(throws: MissingProgram.self) {
            try await server.ask("SET ROLE \(role); SELECT * FROM martlet.push", of: database)
        }
    }

    /// The pushes in flight by order key, as their senders report them.
    private actor Wire {
        var open: Set<String> = []
        var sent: [String: [OutboxPush]] = [:]
        var ended = 0
        private(set) var problems: [String] = []

        func begin(_ push: ClaimedPush) {
            let key = push.push.orderKey ?? ""
            if !open.insert(key).inserted { problems.append("two of \(key) at a time") }
            sent[key, default: []].append(push.push)
        }

        func end(_ push: ClaimedPush, for good: Bool) {
            open.remove(push.push.orderKey ?? "")
            if good { ended += 1 } else { sent[push.push.orderKey ?? ""]?.removeLast() }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `concurrent nodes keep the order of each key and lose no push`() async throws {
        let first = try await open()
        let second = try await open()
        let third = try await open()
        let stores = [first, second, third]
        let (keys, perKey) = (12, 25)
        let wire = Wire()
        func number(_ key: Int, _ number: Int) -> UInt64 { UInt64(key * 1_000 + number + 1) }
        func isScheduled(_ number: Int) -> Bool { number % 7 == 3 }
        let all = (0..<keys).flatMap { key in (0..<perKey).map { (key, $0) } }
        let scheduled = Set(
            try all.filter { isScheduled($0.1) }.map { try OutboxPush.numbered(number($0.0, $0.1)).id.description }
        )
        try await withThrowingTaskGroup { group in
            for key in 0..<keys {
                group.addTask {
                    for place in 0..<perKey {
                        let push = try OutboxPush.numbered(
                            number(key, place),
                            notBefore: isScheduled(place) ? 1_001 : nil,
                            orderKey: "key \(key)"
                        )
                        let answers = try await stores[(key + place) % 3].accept([push], at: 1_000)
                        #expect(answers == [.accepted])
                    }
                }
            }
            for (index, store) in stores.enumerated() {
                group.addTask {
                    var random = SplitMix64(state: UInt64(index))
                    while await wire.ended < keys * perKey {
                        for push in try await store.claim(.orders, .immediate, limit: 20, at: 2_000).pushes {
                            await wire.begin(push)
                            let isOver = Bool.random(using: &random) || push.attempts > 2
                            await wire.end(push, for: isOver)
                            let change: Settlement.Change =
                                isOver
                                ? .ended(Outcome(.delivered, status: 200))
                                : .postponed(until: 2_000, attempts: push.attempts + 1, unknownTries: 0)
                            try await store.settle([Settlement(push, change)], at: 2_000)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await wire.problems.isEmpty)
        for (key, pushes) in await wire.sent {
            #expect(Set(pushes.map(\.id)).count == perKey, "\(key)")
            // Scheduled ones get in line when their time has come; the others go as they came.
            let ids = pushes.map(\.id.description).filter { !scheduled.contains($0) }
            #expect(ids == ids.sorted(), "\(key)")
        }
        #expect(try await stores[0].backlog().isEmpty)
        let left = try await server.ask(
            "SELECT (SELECT count(*) FROM martlet.push) + (SELECT count(*) FROM martlet.queue)",
            of: database
        )
        #expect(left == "0\n")
    }
}

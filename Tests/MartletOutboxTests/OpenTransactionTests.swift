// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// Tests of relays while a transaction of a back end is open.
@Suite(.timeLimit(.minutes(10))) struct OpenTransactionTests {
    private let server: PostgreSQLServer
    private let database: String
    private let store: PostgreSQLOutbox

    init() async throws {
        server = try await PostgreSQLServer.shared.value
        database = try await server.makeDatabase()
        try await OutboxSchema.create(in: server.address(of: database))
        store = try await PostgreSQLOutbox(
            address: server.address(of: database),
            options: .init(lease: .seconds(3_600))
        )
        // Registers the apps.
        for lane in [Lane.orders, .rides] { _ = try await store.claimAll(lane, at: 0) }
    }

    private func begin(_ statements: [String], isCommitted: Bool = false) async throws -> OpenTransaction {
        try await OpenTransaction(statements.joined(), in: database, of: server, isCommitted: isCommitted)
    }

    private func enqueue(_ push: OutboxPush, _ more: String = "") -> String {
        """
        SELECT martlet.enqueue('\(push.lane.app)', '{"aps": {}}', 'com.example.orders', 'aabb',
            id => '\(push.id)'\(more));
        """
    }

    private func push(_ number: UInt64, _ lane: Lane = .orders) throws -> OutboxPush {
        try .numbered(number, lane, hasCallersID: true)
    }

    @Test func `only a push with an identifier of an open transaction is contested`() async throws {
        let transaction = try await begin([enqueue(push(1))])
        #expect(try await store.accept([push(1)], at: 1_000) == [.contested])
        let batch = try [push(3), push(1), push(4), push(1, .rides), push(2)]
        let answers = try await store.accept(batch, at: 1_000)
        #expect(answers == [.accepted, .contested, .accepted, .accepted, .accepted])
        try await transaction.end()
        #expect(try await store.accept([push(1)], at: 1_000) == [.accepted])
    }

    @Test func `a push is compared with that of a transaction after its commit`() async throws {
        let transaction = try await begin([enqueue(push(1))], isCommitted: true)
        #expect(try await store.accept([push(1)], at: 1_000) == [.contested])
        try await transaction.end()
        #expect(try await store.accept([push(1)], at: 1_000) == [.conflict])
    }

    @Test func `many contested pushes delay no app but theirs`() async throws {
        let transaction = try await begin((1...200).map { try enqueue(push($0)) })
        let orders = try (1...400).map { try push($0) }
        let rides = try (1...400).map { try push($0, .rides) }
        let batch: [OutboxPush] = orders + rides
        let answers = try await store.accept(batch, at: 1_000)
        #expect(answers[..<200].allSatisfy { $0 == .contested })
        #expect(answers[200..<400].allSatisfy { $0 == .accepted || $0 == .contested })
        #expect(answers[400...].allSatisfy { $0 == .accepted })
        try await transaction.end()
        let later = try await store.accept(orders, at: 1_000)
        #expect(later.allSatisfy { answer in answer == .accepted || answer.isDuplicate })
    }

    @Test func `a transaction with immediate constraints supersedes pushes at the commit`() async throws {
        let superseding = ", collapse_id => 'score', supersede => true"
        let pushes = try (1...4).map { try push($0) }
        try await server.ask(enqueue(pushes[0], superseding), of: database)
        let immediate = "SET CONSTRAINTS ALL IMMEDIATE;"
        let transaction = try await begin(
            [
                enqueue(pushes[1], superseding), enqueue(pushes[2], superseding), immediate,
                enqueue(pushes[3], superseding), immediate,
            ],
            isCommitted: true
        )
        // The push that will be replaced is not locked.
        let lock = "SELECT count(*) FROM (SELECT FROM martlet.queue FOR UPDATE NOWAIT) q"
        #expect(try await server.ask(lock, of: database) == "1\n")
        try await transaction.end()
        #expect(try await server.ask("SELECT apns_id FROM martlet.push", of: database) == "\(pushes[3].id)\n")
        #expect(try await store.status(of: pushes[0].id, of: "orders")?.outcome == Outcome(.superseded))
        #expect(try await server.ask("SELECT count(*) FROM martlet.superseding", of: database) == "0\n")
    }
}

extension Acceptance {
    fileprivate var isDuplicate: Bool { if case .duplicate = self { true } else { false } }
}

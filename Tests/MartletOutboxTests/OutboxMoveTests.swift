// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import Synchronization
import TestSupport
import Testing

/// Moving from a file into a database.
@Suite struct OutboxMoveTests {
    @Test func `a move keeps the order, the outcomes and the unknown attempts`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/relay.sqlite"
        let file = try await SQLiteOutbox(file: path)
        var pushes = try (1...1_200).map { try OutboxPush.numbered($0, hasCallersID: true) }
        for index in 0..<5 { pushes[index].orderKey = "line" }
        pushes[6].notBefore = 90_000
        pushes[7].lane = .rides
        _ = try await file.accept(pushes, at: 1_000)
        let claimed = try await file.claim(.orders, .immediate, limit: 6, at: 1_000).pushes
        let dead = Outcome(.dead, status: 503, reason: "ServiceUnavailable", attempts: 9, unknownTries: 2)
        let refused = Outcome(.refused, status: 410, reason: "Unregistered", unregisteredAt: 5, attempts: 1)
        var history = AttemptHistory()
        history.append(FailedAttempt(time: 1_500, node: "relay", keyID: "ABCDE12345", status: 503, reason: "Busy"))
        var settlements = [
            Settlement(claimed[1], .ended(dead)),
            Settlement(claimed[2], .ended(refused), isTokenUnregistered: true),
            Settlement(claimed[3], .postponed(until: 50_000, attempts: 3, unknownTries: 1)),
        ]
        for index in settlements.indices { settlements[index].history = history }
        try await file.settle(settlements, at: 2_000)
        try await file.records.setCursor(1, of: "webhook orders")
        let pause = try await file.records.pause(.rides, by: "operator", at: 2_000)
        let tokens = try await file.records.unregisteredTokens(of: "orders", after: 0, limit: 10)
        await file.close(isInOrder: false)

        let address = try await OutboxEngine.postgresql.place().address
        try await OutboxSchema.create(in: address)
        let account = try await OutboxMove(from: path, to: address).run(at: 60_000)
        #expect(account.pushes == 1_199 && account.outcomes == 2 && account.unregisteredTokens == 1)
        #expect(try await OutboxMove(from: path, to: address).run(at: 60_000) == OutboxMove.Account())

        let store = try await PostgreSQLOutbox(address: address)
        #expect(try await store.records.unregisteredTokens(of: "orders", after: 0, limit: 10) == tokens)
        #expect(try await store.records.cursor(of: "webhook orders") == 1)
        #expect(try await store.records.pauses() == [pause])
        #expect(try await store.records.deadLetters(of: "orders", limit: 10).map(\.outcome) == [dead])
        #expect(try await store.outcome(of: claimed[2].push) == refused)
        for push in claimed[1...3] {
            #expect(try await store.status(of: push.push.id, of: "orders")?.history == history)
        }
        let given = Set(claimed.map(\.push.id))
        var found: [ClaimedPush] = []
        while case let more = try await store.claimAll(at: 70_000), !more.isEmpty {
            found += more
            // A push that waits for its order key is claimed when the one before has ended.
            for push in more { try await store.end(push, at: 70_000) }
        }
        #expect(found.count == 1_199 - 1 - 1 - 1, "a dead letter, one of another app, and one whose time is to come")
        let line = found.map(\.push).filter { $0.orderKey == "line" }.map(\.id)
        #expect(line == pushes[0..<5].map(\.id))
        for push in found where given.contains(push.push.id) { #expect(push.unknownTries == 1) }
        // The same push handed in again is known.
        guard case .duplicate = try await store.accept([pushes[20]], at: 80_000)[0] else {
            Issue.record("it was not known")
            return
        }
        #expect(try await store.claimAll(.rides, at: 70_000).count == 1)
        #expect(try await store.claimAll(at: 90_000).map(\.push.id) == [pushes[6].id])
        await store.close(isInOrder: true)
    }

    @Test func `installations move with all that they have, and none twice`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/relay.sqlite"
        let file = try await SQLiteOutbox(file: path)
        for number in 1...450 as ClosedRange<UInt64> {
            var installation = try Installation.numbered(number, user: "user \(number)").with("\(1_000 + number)")
            installation.tags = ["all", number.isMultiple(of: 2) ? "even" : "odd"]
            if number.isMultiple(of: 3) { installation = installation.withActivities() }
            try await file.installations.enroll(installation, secret: 1, at: Int64(number))
        }
        try await file.installations.add(.numbered([1], expiresAt: .max), at: 10)
        let before = try await file.installations.installations(of: "orders", .all, after: 0, limit: 1_000)
        await file.close(isInOrder: true)
        try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")

        let address = try await OutboxEngine.postgresql.place().address
        #expect(try await OutboxMove(from: path, to: address).run(at: 60_000).installations == 450)
        // As if it had been interrupted before the file was changed.
        #expect(try await OutboxMove(from: path + ".copy", to: address).run(at: 60_000).installations == 450)
        let outbox = try await PostgreSQLOutbox(address: address)
        let store = outbox.installations
        let moved = try await store.installations(of: "orders", .all, after: 0, limit: 1_000)
        #expect(moved.map(\.installation) == before.map(\.installation) && moved.count == 450)
        #expect(try await store.installations(of: "orders", .tag("even"), after: 0, limit: 1_000).count == 225)
        let secret = [1] + Array(before[7].installation.id.description.utf8)
        #expect(try await store.installation(withSecret: secret)?.installation == before[7].installation)
        #expect(try await store.ticket([1], at: 10) == nil, "tickets do not move")
        await outbox.close(isInOrder: true)
    }

    @Test func `an installation that was removed after its move stays removed`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/relay.sqlite"
        let file = try await SQLiteOutbox(file: path)
        let installations = try (1...3 as ClosedRange<UInt64>).map { number in
            try Installation.numbered(number, user: "user \(number)").with("\(1_000 + number)")
        }
        for installation in installations { try await file.installations.enroll(installation, secret: 1) }
        await file.close(isInOrder: true)
        try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
        let address = try await OutboxEngine.postgresql.place().address
        _ = try await OutboxMove(from: path, to: address).run(at: 60_000)
        let outbox = try await PostgreSQLOutbox(address: address)
        let store = outbox.installations
        #expect(try await store.remove(installations[0].id, of: "orders"))
        #expect(try await store.removeUser("user 2", of: "orders") == 1)
        // As if the migration had been interrupted before the file was changed.
        _ = try await OutboxMove(from: path + ".copy", to: address).run(at: 61_000)
        let left = try await store.installations(of: "orders", .all, after: 0, limit: 9)
        #expect(left.map(\.installation) == [installations[2]])
        let secret = [1] + Array(installations[0].id.description.utf8)
        #expect(try await store.installation(withSecret: secret) == nil)
        await outbox.close(isInOrder: true)
    }

    @Test func `outcomes move by thousands, and progress is reported`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/relay.sqlite"
        let file = try await SQLiteOutbox(file: path)
        _ = try await file.accept(try (1...6_000).map { try OutboxPush.numbered($0) }, at: 1_000)
        let claimed = try await file.claim(.orders, .immediate, limit: 6_000, at: 1_000).pushes
        let delivered = Outcome(.delivered, status: 200, attempts: 1)
        // All in the same millisecond, so that the time alone does not tell one batch from the next.
        try await file.settle(claimed.map { Settlement($0, .ended(delivered)) }, at: 2_000)
        await file.close(isInOrder: true)
        let server = try await PostgreSQLServer.shared.value
        let database = try await server.makeDatabase()
        let address = server.address(of: database)
        try await OutboxSchema.create(in: address)
        let steps = Mutex<[Int]>([])
        let move = try await OutboxMove(from: path, to: address)
        let account = try await move.run(at: 60_000) { account in steps.withLock { $0.append(account.outcomes) } }
        #expect(account.outcomes == 6_000)
        #expect(steps.withLock(\.self) == [5_000, 6_000])
        #expect(
            try await server.ask("SELECT count(*), count(DISTINCT apns_id) FROM martlet.outcome", of: database)
                == "6000|6000\n"
        )
    }

    @Test func `only the error about a damaged log mentions durability`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        // The tables are in the file, not in its log.
        try await place.open().close(isInOrder: true)
        let file = try await place.open()
        _ = try await file.accept([.numbered(1)], at: 1_000)
        let copy = try await place.afterCrash()
        await file.close(isInOrder: true)
        let log = URL(filePath: copy.file + "-wal")
        var content = try Data(contentsOf: log)
        content[0] ^= 1
        try content.write(to: log)
        let problems = try OutboxCheck.run(on: copy.location).problems
        #expect(problems.contains { $0.hasSuffix("durability was relaxed)") }, "\(problems)")

        let address = try await OutboxEngine.postgresql.place().address
        let damaged = await #expect(throws: OutboxError.self) { try await OutboxMove(from: copy.file, to: address) }
        #expect(damaged?.kind == .damaged)
        #expect(damaged?.description.hasSuffix("durability was relaxed)") == true, "\(String(describing: damaged))")
        let notes = try place.directory.write(String(repeating: "no database ", count: 500), to: "notes.txt")
        let foreign = await #expect(throws: OutboxError.self) { try await OutboxMove(from: notes, to: address) }
        #expect(foreign?.kind == .damaged && foreign?.description.contains("durability") == false)
    }

    @Test func `a batch that moves again after a kill is not sent again`() async throws {
        let scratch = try ScratchDirectory()
        let (path, copy) = (scratch.path + "/relay.sqlite", scratch.path + "/copy.sqlite")
        let file = try await SQLiteOutbox(file: path)
        _ = try await file.accept(try (1...10).map { try OutboxPush.numbered($0) }, at: 1_000)
        let claimed = try await file.claim(.orders, .immediate, limit: 1, at: 1_000).pushes
        let dead = Outcome(.dead, status: 503, reason: "ServiceUnavailable", attempts: 9)
        try await file.settle([Settlement(claimed[0], .ended(dead))], at: 2_000)
        await file.close(isInOrder: true)
        // The file as it is when the program is killed after the commit in the database.
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let address = try await OutboxEngine.postgresql.place().address
        _ = try await OutboxMove(from: path, to: address).run(at: 60_000)
        let store = try await PostgreSQLOutbox(address: address)
        let sent = try await store.claim(.orders, .immediate, limit: 4, at: 60_000).pushes
        for push in sent { try await store.end(push, at: 60_000) }
        _ = try await OutboxMove(from: copy, to: address).run(at: 61_000)
        let rest = try await store.claimAll(at: 70_000)
        #expect(rest.count == 5 && Set(rest.map(\.push.id)).isDisjoint(with: sent.map(\.push.id)))
        #expect(try await store.records.deadLetters(of: "orders", limit: 10).map(\.push.id) == [claimed[0].push.id])
        await store.close(isInOrder: true)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletSQLite
import TestSupport
import Testing

@testable import MartletOutbox

/// Outboxes whose tokens and payloads are encrypted; the conformance and agreement tests run on them, too.
@Suite(.timeLimit(.minutes(10))) struct SealedOutboxTests {
    private static let sealed: [OutboxEngine] = [.sealedSQLite, .sealedPostgreSQL]
    private static let token = String(repeating: "5d3a6a1c8f9a42d6", count: 4)
    private static let activityToken = String(repeating: "c0ffee11", count: 8)
    private static let secret = "Your parcel is at the neighbour"
    private static let payload = #"{"aps":{"alert":"\#(secret)"}}"#

    // MARK: Contents

    /// Stores a push, a dead letter, an unregistered token, an installation, a job and a surface with a session.
    private func fill(_ store: any OutboxStore) async throws {
        let pushes = try (1...3 as ClosedRange<UInt64>).map { number in
            var push = try OutboxPush.numbered(
                number,
                token: Self.token,
                payload: Self.payload,
                hasCallersID: true,
                orderKey: number == 3 ? "collapse \(Self.token) parcel" : nil
            )
            push.headers.collapseID = number == 3 ? "parcel" : nil
            return push
        }
        #expect(try await store.accept(pushes, at: 10) == [.accepted, .accepted, .accepted])
        let claimed = try await store.claim(.orders, .immediate, limit: 2, at: 10).pushes
        #expect(claimed.map(\.push.payload) == pushes[..<2].map(\.payload))
        #expect(claimed.map(\.push.destination) == pushes[..<2].map(\.destination))
        let gone = Outcome(.refused, status: 410, reason: "Unregistered")
        try await store.settle([Settlement(claimed[0], .ended(Outcome(.dead)))], at: 20)
        try await store.settle(
            [Settlement(claimed[1], .ended(gone), isTokenUnregistered: true)],
            at: 20
        )
        let phone = try await store.installations.add(.numbered(1).with(Self.activityToken))
        _ = try await store.jobs.add(.numbered(1, request: Self.payload), at: 30)
        let surface = try await store.surfaces.putNew(.numbered(1, request: Self.payload))
        #expect(try await store.surfaces.finish(surface, on: [phone]))
        let due = try await store.surfaces.session(of: surface)
        #expect(try await store.surfaces.store(due, state: Self.payload) == .stored)
    }

    /// Checks that a store returns what ``fill(_:)`` has stored.
    private func checkContents(of store: any OutboxStore) async throws {
        let letter = try #require(try await store.records.deadLetters(of: "orders", limit: 10).first)
        #expect(letter.push.payload == Array(Self.payload.utf8))
        let token = try DeviceToken(hex: Self.token)
        #expect(letter.push.destination == .device(token))
        let unregistered = try await store.records.unregisteredTokens(of: "orders", after: 0, limit: 10)
        #expect(unregistered.map(\.token) == [token])
        let installations = try await store.installations.installations(of: "orders", .all, after: 0, limit: 10)
        #expect(installations.map(\.installation.deviceToken) == [Self.activityToken])
        #expect(try await store.records.pushes(to: token, of: "orders", after: 0, limit: 10).count == 2)
        #expect(try await store.jobs.activeJobs(at: 40, limit: 10).map(\.job) == [.numbered(1, request: Self.payload)])
        let surface = try #require(try await store.surfaces.surfaces(of: "orders", after: 0, limit: 10).first)
        #expect(surface.surface == .numbered(1, request: Self.payload) && !surface.isDamaged)
        #expect(try await store.surfaces.put(surface.surface, if: .none, limit: 9, at: 40) == .unchanged(surface))
        let session = try await store.surfaces.session(of: surface)
        #expect(session.session.state == Array(Self.payload.utf8) && !session.session.isDamaged)
        #expect(session.installation.installation.deviceToken == Self.activityToken)
        let again = try OutboxPush.numbered(2, token: Self.token, payload: Self.payload, hasCallersID: true)
        guard case .duplicate = try await store.accept([again], at: 40)[0] else {
            Issue.record("the ended push is known")
            return
        }
        let other = try OutboxPush.numbered(9, token: Self.token)
        guard case .suppressed(let record) = try await store.accept([other], at: 40)[0] else {
            Issue.record("the token is unregistered")
            return
        }
        #expect(record.token == token)
        let waiting = try await store.claimAll(at: 40)
        #expect(waiting.map(\.push.payload) == [Array(Self.payload.utf8)])
        #expect(waiting.map(\.push.orderKey) == ["collapse \(Self.token) parcel"])
        #expect(waiting.allSatisfy { !$0.isDamaged })
    }

    /// Everything that a copy of the outbox has, as text in which bytes are hexadecimal digits, too.
    private func copy(of place: OutboxEngine.Place) async throws -> String {
        guard let database = place.database else {
            let bytes = try place.contents().values.reduce(Data(), +)
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return String(decoding: bytes, as: UTF8.self) + digits
        }
        var text = ""
        let tables = [
            "push", "queue", "outcome", "unregistered_token", "installation_token", "job", "surface",
            "surface_session", "sealed_key",
        ]
        for table in tables {
            text += try await database.server.ask("SELECT t::text FROM martlet.\(table) t", of: database.name)
        }
        return text
    }

    /// Checks that a copy has neither tokens nor payloads.
    private func checkSecrecy(of place: OutboxEngine.Place) async throws {
        let copy = try await copy(of: place)
        let digits = Array(Self.secret.utf8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for secret in [Self.token, Self.activityToken, Self.secret, digits] {
            #expect(!copy.contains(secret), "\(secret.prefix(8))…")
        }
    }

    @Test(arguments: SealedOutboxTests.sealed)
    func `a copy has neither tokens nor payloads`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let filled = try await place.openSealed()
        try await fill(filled)
        try await checkSecrecy(of: place)
        await filled.close(isInOrder: true)
        try await checkSecrecy(of: place)
        let check = try OutboxCheck.run(on: place.location)
        #expect(check.isSound && check.sealingKey == 1 && !check.hasPlainRows, "\(check)")
        let store = try await place.open()
        try await checkContents(of: store)
        await store.close(isInOrder: true)
    }

    @Test(arguments: [OutboxEngine.sqlite, .postgresql])
    func `the first start with keys seals the rows`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let plain = try await place.open()
        try await fill(plain)
        await plain.close(isInOrder: true)
        let sealed = try await place.openSealed()
        try await checkSecrecy(of: place)
        try await checkContents(of: sealed)
        await sealed.close(isInOrder: true)
        #expect(try OutboxCheck.run(on: place.location).isSound)
    }

    // MARK: Keys

    @Test(arguments: SealedOutboxTests.sealed)
    func `the keys are replaced while the outbox is in use`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let first = try await place.openSealed(with: .numbered(1))
        try await fill(first)
        try await first.use(.numbered(2, 1))
        #expect(try await first.records.sealedKey()?.number == 2)
        await #expect(throws: OutboxError.self) { try await first.use(.numbered(3)) }
        await first.close(isInOrder: true)
        let error = try await #require(throws: OutboxError.self) { try await place.openSealed(with: .numbered(1)) }
        #expect(error.description.contains("the key 2"), "\(error)")
        let second = try await place.openSealed(with: .numbered(2))
        try await checkContents(of: second)
        await second.close(isInOrder: true)
    }

    @Test(arguments: [OutboxEngine.sqlite, .postgresql])
    func `a sealed outbox is not opened without keys`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let sealed = try await place.openSealed()
        await sealed.close(isInOrder: true)
        let error = try await #require(throws: OutboxError.self) { try await place.open() }
        #expect(error.description.contains("sealing-keys"), "\(error)")
    }

    @Test func `an outbox that other relays use is not sealed`() async throws {
        let place = try await OutboxEngine.postgresql.place()
        let plain = try await place.open()
        let error = try await #require(throws: OutboxError.self) { try await place.openSealed() }
        #expect(error.description.contains("other relays"), "\(error)")
        try await fill(plain)
        await plain.close(isInOrder: true)
    }

    @Test func `a relay without keys does not register again after the sealing`() async throws {
        let place = try await OutboxEngine.postgresql.place()
        let plain = try await place.open()
        // As if the relay had been cut off from the database.
        try await place.ask("UPDATE martlet.node SET lease_until = '-infinity'")
        let sealed = try await place.openSealed()
        _ = try await sealed.accept([.numbered(1)], at: 10)
        for _ in 1...2 {
            await #expect(throws: OutboxError.self) { try await plain.claimAll(at: 20) }
        }
        #expect(try await sealed.claimAll(at: 20).count == 1)
        await plain.close(isInOrder: true)
        await sealed.close(isInOrder: true)
    }

    // MARK: Damage

    @Test(
        arguments: [
            "payload = (SELECT payload FROM push WHERE number = 1)", "payload = substr(payload, 1, 40)",
            "token = (SELECT token FROM push WHERE number = 1)", "payload = x''", "expiration = '1'",
            "topic = 'com.example.rides'",
        ]
    )
    func `a push whose row was changed is not sent`(change: String) async throws {
        let place = try await OutboxEngine.sealedSQLite.place()
        var store = try await place.open()
        let pushes = try [OutboxPush.numbered(1), .numbered(2, token: "aabb"), .numbered(3)]
        _ = try await store.accept(pushes, at: 10)
        await store.close(isInOrder: true)
        // Without a checksum, only the encryption shows the change.
        try Connection(path: place.file).execute("UPDATE push SET \(change), checksum = NULL WHERE number = 2")
        store = try await place.open()
        #expect(try await store.claimAll(at: 10).map(\.isDamaged) == [false, true, false])
        await store.close(isInOrder: false)
    }

    @Test(arguments: SealedOutboxTests.sealed)
    func `a job whose request cannot be decrypted is marked and can end`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var store = try await place.open()
        for number in 1...2 as ClosedRange<UInt64> { _ = try await store.jobs.addNew(.numbered(number)) }
        await store.close(isInOrder: true)
        let change = "SET request = (SELECT request FROM other WHERE number = 1) WHERE number = 2"
        if place.database == nil {
            let update = "UPDATE job " + change.replacing("other", with: "job")
            try Connection(path: place.file).execute(update)
        } else {
            try await place.ask("UPDATE martlet.job " + change.replacing("other", with: "martlet.job"))
        }
        store = try await place.open()
        #expect(try await store.jobs.activeJobs(at: 40, limit: 9).map(\.isDamaged) == [false, true])
        #expect(try await store.jobs.jobs(of: "orders", before: nil, limit: 9).map(\.isDamaged) == [true, false])
        guard case .duplicate(let damaged) = try await store.jobs.add(.numbered(2), at: 40) else {
            Issue.record("the job is known")
            return
        }
        let last = JobPage(of: damaged.number, after: 0, through: 0, isLast: true, pushes: [])
        #expect(try await store.jobs.expand(last, at: 50) == .stored(pushes: 0, leftOut: [:]))
        let ended = try await store.jobs.current(damaged)
        #expect(ended.isDamaged && ended.state == .expanded && ended.endedAt == 50)
        await store.close(isInOrder: true)
    }

    @Test(arguments: SealedOutboxTests.sealed)
    func `a surface or a state that cannot be decrypted is marked`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var store = try await place.open()
        let phone = try await store.installations.add(.numbered(1).with("aa"))
        for number in 1...2 {
            let stored = try await store.surfaces.putNew(.numbered(number))
            #expect(try await store.surfaces.finish(stored, on: [phone]))
        }
        for due in try await store.surfaces.dueSessions(at: 10, limit: 9) { _ = try await store.surfaces.store(due) }
        await store.close(isInOrder: true)
        let schema = place.database == nil ? "" : "martlet."
        for (name, column) in [("surface", "request"), ("surface_session", "state")] {
            let table = schema + name
            let other = "SELECT \(column) FROM \(table) WHERE number = 1"
            let change = "UPDATE \(table) SET \(column) = (\(other)) WHERE number = 2"
            if place.database == nil {
                try Connection(path: place.file).execute(change)
            } else {
                try await place.ask(change)
            }
        }
        store = try await place.open()
        let surfaces = try await store.surfaces.surfaces(of: "orders", after: 0, limit: 9)
        #expect(surfaces.map(\.isDamaged) == [false, true])
        var sessions: [StoredSession] = []
        for stored in surfaces { sessions.append(try await store.surfaces.session(of: stored).session) }
        #expect(sessions.map(\.isDamaged) == [false, true])
        #expect(sessions.map(\.state) == [Array("{}".utf8), []])
        // It can be replaced.
        let withdrawn = try await store.surfaces.withdraw("order-2", of: "orders", if: .none, at: 20)
        guard case .changed(let damaged) = withdrawn, damaged.isDamaged else {
            Issue.record("the damaged surface was not withdrawn")
            return
        }
        #expect(try await store.surfaces.putNew(.numbered(2), at: 30).isDamaged == false)
        await store.close(isInOrder: true)
    }

    // MARK: Database

    @Test func `a sealed file is moved into a database`() async throws {
        let place = try await OutboxEngine.sealedSQLite.place()
        let file = try await place.open()
        try await fill(file)
        _ = try await file.jobs.cancel(Job.numbered(1).id, of: "orders", at: 30)
        _ = try await file.surfaces.withdraw("order-1", of: "orders", if: .none, at: 30)
        let surface = try #require(try await file.surfaces.surface("order-1", of: "orders"))
        let session = try await file.surfaces.session(of: surface)
        #expect(try await file.surfaces.store(session, isFinished: true) == .stored)
        await file.close(isInOrder: true)
        let database = try await OutboxEngine.sealedPostgreSQL.place()
        let account = try await OutboxMove(from: place.file, to: database.address).run(at: 30)
        #expect(account.pushes == 2)
        try await checkSecrecy(of: database)
        let store = try await database.open()
        let letters = try await store.records.deadLetters(of: "orders", limit: 10)
        #expect(letters.map(\.push.payload) == [Array(Self.payload.utf8)])
        let installations = try await store.installations.installations(of: "orders", .all, after: 0, limit: 10)
        #expect(installations.map(\.installation.deviceToken) == [Self.activityToken])
        #expect(try await store.claimAll(at: 40).map(\.push.payload) == [Array(Self.payload.utf8)])
        await store.close(isInOrder: true)
    }

    @Test func `a plain file is not moved into a sealed database`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let plain = try await place.open()
        await plain.close(isInOrder: true)
        let database = try await OutboxEngine.sealedPostgreSQL.place()
        let sealed = try await database.open()
        await sealed.close(isInOrder: true)
        let move = try await OutboxMove(from: place.file, to: database.address)
        let error = try await #require(throws: OutboxError.self) { try await move.run(at: 30) }
        #expect(error.description.contains("the file is not"), "\(error)")
    }

    @Test func `the function that enqueues refuses a sealed database`() async throws {
        let place = try await OutboxEngine.sealedPostgreSQL.place()
        let store = try await place.open()
        _ = try await store.accept([.numbered(1)], at: 10)
        let numbers = "SELECT last_value FROM martlet.push_number"
        let before = try await place.ask(numbers)
        await #expect(throws: (any Error).self) {
            try await place.ask(
                "SELECT martlet.enqueue('orders', '{\"aps\":{}}', 'com.example.orders', token => '\(Self.token)')"
            )
        }
        #expect(try await place.ask(numbers) == before, "nothing was inserted and rolled back")
        #expect(try await store.claimAll(at: 20).count == 1)
        await store.close(isInOrder: true)
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// The tokens of installations: one owner each, and the effect of Apple's 410.
@Suite struct InstallationTokenTests {
    private static let token = "00112233445566778899aabbccddeeff"

    @Test(arguments: OutboxEngine.allCases)
    func `a token belongs to the installation of the app that registered it last`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open().installations
        // A phone on which one user signs in after the other.
        let anna = try Installation.numbered(1, user: "anna").with("aa").with("a1", .init(.start, "Order"))
        let bert = try Installation.numbered(2, user: "bert").with("aa", at: 200)
        let rides = try Installation.numbered(3, app: "rides").with("aa")
        for installation in [anna, rides, bert] { try await store.enroll(installation, at: 200) }
        #expect(try await store.installation(anna.id, of: "orders")?.installation.tokens.count == 1)
        #expect(try await store.installation(bert.id, of: "orders")?.installation == bert)
        #expect(try await store.installation(rides.id, of: "rides")?.installation == rides)
        // The first user signs in again, and the other's late sign-out does not touch the token.
        try await store.report("aa", of: anna.id, at: 300)
        #expect(try await store.remove(bert.id, of: "orders"))
        #expect(try await store.installation(anna.id, of: "orders")?.installation.deviceToken == "aa")
    }

    /// The clock is set back, or that of the second relay is slow.
    @Test(arguments: OutboxEngine.allCases, [99, 0, .min] as [Int64])
    func `the report that is stored last takes the token`(engine: OutboxEngine, earlier: Int64) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let anna = try Installation.numbered(1, user: "anna").with(Self.token, at: 100)
        try await store.enroll(anna, at: 100)
        let bob = try Installation.numbered(2, user: "bob").with(Self.token, at: earlier)
        #expect(try await store.enroll(bob, at: 100)?.installation == bob)
        #expect(try await store.installation(anna.id, of: "orders")?.installation.deviceToken == nil)
        // A report that changes an installation takes it, too.
        try await store.report(Self.token, of: anna.id, at: earlier)
        #expect(try await store.installation(anna.id, of: "orders")?.installation.deviceToken == Self.token)
        #expect(try await store.installation(bob.id, of: "orders")?.installation.deviceToken == nil)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `two types of attributes may have the same token`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open().installations
        let slots = [Installation.TokenSlot(.start, "Order"), .init(.start, "Ride")]
        let installation = try Installation.numbered(1).with("cc", slots[0]).with("cc", slots[1])
        #expect(try await store.enroll(installation)?.installation == installation)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `phones that register a token at the same time do not both keep it`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open().installations
        var ids: [InstallationID] = []
        for number in 1...8 as ClosedRange<UInt64> {
            ids.append(try #require(try await store.enroll(.numbered(number))).installation.id)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ids { group.addTask { try await store.report("aa", of: id, at: 200) } }
            try await group.waitForAll()
        }
        let owners = try await store.installations(of: "orders", .all, after: 0, limit: 100).filter {
            $0.installation.deviceToken != nil
        }
        #expect(owners.count == 1)
    }

    /// Each installation reports through a relay of its own, as far as the engine permits two.
    @Test(arguments: OutboxEngine.allCases)
    func `installations that exchange tokens do not deadlock`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let first = try await place.open()
        let second = try await engine == .postgresql ? place.open() : first
        let anna = try Installation.numbered(1, user: "anna").with("aa").with("cc", .init(.start, "Order"))
        let bert = try Installation.numbered(2, user: "bert").with("bb").with("dd", .init(.start, "Order"))
        for installation in [anna, bert] { try await first.installations.enroll(installation) }
        let reporters: [(any OutboxStore, InstallationID, Int64)] = [(first, anna.id, 0), (second, bert.id, 1)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (outbox, id, offset) in reporters {
                group.addTask {
                    for round in 1...200 as ClosedRange<Int64> {
                        let token = (round + offset).isMultiple(of: 2) ? "aa" : "bb"
                        try await outbox.installations.report(token, of: id, at: 200 + round)
                    }
                }
            }
            try await group.waitForAll()
        }
        let stored = try await first.installations.installations(of: "orders", .all, after: 0, limit: 9)
        let tokens = stored.compactMap(\.installation.deviceToken)
        #expect(stored.count == 2 && !tokens.isEmpty && Set(tokens).count == tokens.count)
        if engine == .postgresql { await second.close(isInOrder: true) }
        await first.close(isInOrder: true)
        // A statement that ended in a deadlock was repeated.
        guard let (server, name) = place.database else { return }
        let question = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        #expect(try await server.ask(question, of: name) == "0\n")
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an enrollment removes the installation that it replaces, of the same app`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open().installations
        let old = try #require(try await store.enroll(Installation.numbered(1).with("aa"), secret: 1)).installation
        let others = try #require(try await store.enroll(.numbered(2, app: "rides"), secret: 2)).installation
        let (secret, foreign) = ([1] + Array(old.id.description.utf8), [2] + Array(others.id.description.utf8))
        try await store.enroll(Installation.numbered(3, user: "bert").with("bb", at: 200), replacing: secret)
        try await store.enroll(.numbered(4, user: "cleo"), replacing: foreign)
        #expect(try await store.users(of: "orders") == ["bert", "cleo"])
        #expect(try await store.users(of: "rides") == ["anna"])
    }

    /// The times of a registration, of the acceptance of a push and of Apple's 410, each by a clock of its own.
    private static let times: [(registered: Int64, accepted: Int64, apple: Int64?)] = [
        (100, 200, 150), (100, 200, nil), (100, 200, 100), (100, 200, 50), (200, 200, nil), (200, 200, 200),
        (300, 200, 150), (300, 200, nil), (300, 200, 299), (300, 200, 300), (300, 200, 400),
    ]

    /// The order of the registration and the acceptance in the store decides, because the clocks of relays differ.
    @Test(arguments: OutboxEngine.allCases, [true, false])
    func `a 410 removes its token unless it was registered since`(
        engine: OutboxEngine,
        isRegisteredSince: Bool
    ) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        for (index, times) in Self.times.enumerated() {
            let (start, number) = (Int64(index) * 1_000, UInt64(index) * 10)
            let token = "\(Self.token.dropLast(2))a\(String(index, radix: 16))"
            let phone = try Installation.numbered(number).with("1234").with("aa", .init(.start, "Order"))
            try await store.enroll(phone, at: start + 100)
            var tests = try Installation.numbered(number + 1, user: "bert").with("bb")
            tests.environment = .development
            try await store.enroll(tests, at: start + 100)
            let push = try OutboxPush.numbered(number + 1, token: token)
            if !isRegisteredSince { try await store.report(token, of: phone.id, at: start + times.registered) }
            #expect(try await outbox.accept([push], at: start + times.accepted) == [.accepted])
            let claimed = try await outbox.claimAll(at: start + times.accepted)
            if isRegisteredSince { try await store.report(token, of: phone.id, at: start + times.registered) }
            let apple = times.apple.map { start + $0 }
            try await outbox.settle([.refused(claimed[0], unregisteredAt: apple)], at: start + 400)
            let left = try #require(try await store.installation(phone.id, of: "orders")).installation
            #expect((left.deviceToken == nil) == !isRegisteredSince, "\(times)")
            #expect(left.tokens[.init(.start, "Order")] != nil)
            #expect(try await store.installation(tests.id, of: "orders")?.installation == tests)
            // Pushes to a registered token are not suppressed.
            let second = try OutboxPush.numbered(number + 2, token: token)
            let again = try await outbox.accept([second], at: start + 500)
            #expect((again == [.accepted]) == isRegisteredSince, "\(times)")
            // Registering it revives it.
            try await store.report(token, of: phone.id, at: start + 600)
            let third = try OutboxPush.numbered(number + 3, token: token)
            #expect(try await outbox.accept([third], at: start + 600) == [.accepted])
            #expect(try await outbox.records.unregisteredTokens(of: "orders", after: 0, limit: 9).isEmpty)
            for push in try await outbox.claimAll(at: start + 700) { try await outbox.end(push, at: start + 700) }
        }
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a 410 keeps the activity whose token it removes`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        var phone = try Installation.numbered(1).with(Self.token, .init(.activity, "A"))
        phone.activities["A"] = Installation.Activity(of: "order-1")
        try await outbox.installations.enroll(phone)
        _ = try await outbox.accept([.numbered(1, token: Self.token)], at: 200)
        let claimed = try await outbox.claimAll(at: 200)
        try await outbox.settle([.refused(claimed[0], unregisteredAt: nil)], at: 300)
        let left = try await outbox.installations.installation(phone.id, of: "orders")?.installation
        #expect(left?.tokens == [:] && left?.activities == phone.activities)
        await outbox.close(isInOrder: true)
    }

    /// The numbers of pushes, which order registrations, are not used again.
    @Test(arguments: OutboxEngine.allCases)
    func `a 410 removes a token that was registered before a restart`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        _ = try await outbox.accept((1...9).map { try OutboxPush.numbered($0, token: "dd") }, at: 100)
        for push in try await outbox.claimAll(at: 100) { try await outbox.end(push, at: 100) }
        let phone = try Installation.numbered(1).with(Self.token)
        try await outbox.installations.enroll(phone)
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        _ = try await outbox.accept([.numbered(10, token: Self.token)], at: 100)
        let claimed = try await outbox.claimAll(at: 100)
        try await outbox.settle([.refused(claimed[0], unregisteredAt: nil)], at: 100)
        #expect(try await outbox.installations.installation(phone.id, of: "orders")?.installation.deviceToken == nil)
        #expect(try await outbox.records.unregisteredTokens(of: "orders", after: 0, limit: 9).count == 1)
        await outbox.close(isInOrder: true)
    }

    /// An installation that was moved from a file has only times to compare until its app reports again.
    @Test func `a 410 to a moved push keeps a token that was registered since`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/relay.sqlite"
        let file = try await SQLiteOutbox(file: path)
        _ = try await file.accept([.numbered(1, token: "aa"), .numbered(2, token: "bb")], at: 200)
        try await file.installations.enroll(Installation.numbered(1).with("aa", at: 300))
        try await file.installations.enroll(Installation.numbered(2).with("bb", at: 100))
        await file.close(isInOrder: true)
        let address = try await OutboxEngine.postgresql.place().address
        _ = try await OutboxMove(from: path, to: address).run(at: 400)
        let outbox = try await PostgreSQLOutbox(address: address)
        for push in try await outbox.claimAll(at: 400) {
            try await outbox.settle([.refused(push, unregisteredAt: nil)], at: 400)
        }
        let moved = try await outbox.installations.installations(of: "orders", .all, after: 0, limit: 9)
        #expect(moved.map(\.installation.deviceToken) == ["aa", nil])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a 410 of one environment or app leaves the token of another`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let tests = try Installation.numbered(1).with(Self.token)
        try await store.enroll(tests)
        let rides = try Installation.numbered(2, app: "rides").with(Self.token)
        try await store.enroll(rides)
        let push = try OutboxPush.numbered(1, .orderTests, token: Self.token)
        _ = try await outbox.accept([push], at: 200)
        let claimed = try await outbox.claimAll(.orderTests, at: 200)
        try await outbox.settle([.refused(claimed[0], unregisteredAt: 300)], at: 400)
        #expect(try await store.installation(tests.id, of: "orders")?.installation == tests)
        #expect(try await store.installation(rides.id, of: "rides")?.installation == rides)
    }
}

extension Settlement {
    fileprivate static func refused(_ push: ClaimedPush, unregisteredAt: Int64?) -> Settlement {
        let outcome = Outcome(.refused, status: 410, reason: "Unregistered", unregisteredAt: unregisteredAt)
        return Settlement(push, .ended(outcome), isTokenUnregistered: true)
    }
}

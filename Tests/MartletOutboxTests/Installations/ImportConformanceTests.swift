// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// Imported installations, in the model and in each engine.
@Suite(.timeLimit(.minutes(10))) struct ImportConformanceTests {
    /// An installation with everything that an import can have.
    private func full(_ number: UInt64, user: String = "anna", token: String) throws -> Installation {
        var new = try Installation.numbered(number, user: user).with(token).withActivities()
        new.tags = ["vip", "de"]
        new.attributes = [.locale: "de-CH", .model: "iPhone17,1"]
        new.permissions = [.alerts: true, .liveActivities: false]
        new.tokens[.init(.start, "Order")] = .init(try DeviceToken(hex: token + "00"), registeredAt: 100)
        return new
    }

    @Test(arguments: OutboxEngine.allCases) func `importing again changes nothing`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let page = [try full(1, token: "aa"), try full(2, user: "bert", token: "bb")]
        #expect(try await store.importPage(page, of: "orders", at: 100) == [.added, .added])
        let stored = try await store.installations(of: "orders", .all, after: 0, limit: 10)
        #expect(stored.map(\.installation) == page)
        #expect(try await store.importPage(page, of: "orders", at: 200) == [.unchanged, .unchanged])
        #expect(try await store.installations(of: "orders", .all, after: 0, limit: 10) == stored)
        #expect(try await store.importPage([], of: "orders", at: 200) == [])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `importing again replaces the user, the tags and a token`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let old = try full(1, token: "aa")
        _ = try await store.importPage([old], of: "orders", at: 100)
        var new = try Installation.numbered(1, user: "bert").with("bb", at: 200)
        new.tags = ["new"]
        #expect(try await store.importPage([new], of: "orders", at: 200) == [.changed])
        let stored = try await store.installation(old.id, of: "orders")
        #expect(stored?.installation.user == "bert" && stored?.installation.tags == ["new"] && stored?.revision == 2)
        #expect(stored?.installation.tokens == new.tokens && stored?.installation.attributes == [:])
        #expect(stored?.installation.activities == [:])
        #expect(stored?.installation.createdAt == 100 && stored?.installation.changedAt == 200)
        #expect(try await store.users(of: "orders", .tag("vip")) == [])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `importing another state of an activity changes it`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        var new = try full(1, token: "aa")
        _ = try await store.importPage([new], of: "orders", at: 100)
        new.activities["B"]?.end = Installation.Activity.End(.user, at: 150)
        #expect(try await store.importPage([new], of: "orders", at: 200) == [.changed])
        #expect(try await store.installation(new.id, of: "orders")?.installation.activities == new.activities)
        #expect(try await store.importPage([new], of: "orders", at: 300) == [.unchanged])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an import takes no token from an enrolled app`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let enrolled = try #require(try await store.enroll(Installation.numbered(1).with("aa")))
        let page = [
            try Installation.numbered(1, user: "bert").with("bb"),
            try Installation.numbered(2, user: "bert").with("aa").with("cc", .init(.widgets)),
        ]
        #expect(try await store.importPage(page, of: "orders", at: 200) == [.known, .added])
        let same = [try Installation.numbered(3, user: "bert").with("aa")]
        #expect(try await store.importPage(same, of: "orders", at: 200) == [.known])
        #expect(try await store.installation(enrolled.installation.id, of: "orders") == enrolled)
        #expect(try await store.users() == ["anna", "bert"])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an app that enrolls replaces its import`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let (whole, partial) = (try Installation.numbered(1).with("aa"), try full(2, token: "bb"))
        _ = try await store.importPage([whole, partial], of: "orders", at: 100)
        let enrolled = try await store.enroll(Installation.numbered(3, user: "bert").with("aa"))
        #expect(enrolled?.installation.deviceToken == "aa")
        #expect(try await store.installation(whole.id, of: "orders") == nil)
        try await store.report("bb", of: Installation.numbered(3).id, at: 200)
        let rest = try await store.installation(partial.id, of: "orders")
        #expect(rest?.installation.tokens.keys.map(\.kind) == [.start])
        #expect(try await store.importPage([whole], of: "orders", at: 300) == [.added])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an import does not revive an unregistered token`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let lane = Lane(app: "orders", environment: .production)
        #expect(try await outbox.accept([try .numbered(1, lane, token: "aa")], at: 100) == [.accepted])
        for push in try await outbox.claimAll(lane, at: 100) {
            let outcome = Outcome(.refused, status: 410, reason: "Unregistered")
            try await outbox.settle(
                [Settlement(push, .ended(outcome), isTokenUnregistered: true)],
                at: 100
            )
        }
        var other = try Installation.numbered(2).with("aa")
        #expect(try await store.importPage([other], of: "orders", at: 200) == [.unregistered])
        other.environment = .development
        #expect(try await store.importPage([other], of: "orders", at: 200) == [.added])
        #expect(try await outbox.records.unregisteredTokens(of: "orders", after: 0, limit: 10).count == 1)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an identifier of another app is refused`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let own = try Installation.numbered(1, app: "rides").with("aa")
        _ = try await store.importPage([own], of: "rides", at: 100)
        let new = try Installation.numbered(1, user: "bert").with("aa")
        #expect(try await store.importPage([new], of: "orders", at: 100) == [.identifierIsTaken])
        #expect(try await store.installation(own.id, of: "rides")?.installation == own)
        #expect(try await store.users() == [])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a user gets no more installations than the limit`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let page = try (1...22).map { try Installation.numbered($0).with("\(100 + $0)0") }
        let expected = (1...22).map { $0 > Installation.limitPerUser ? ImportResult.userIsFull : .added }
        #expect(try await store.importPage(page, of: "orders", at: 100) == expected)
        let again = expected.map { $0 == .added ? ImportResult.unchanged : $0 }
        #expect(try await store.importPage(page, of: "orders", at: 200) == again)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an import that another one has emptied is removed`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let first = [try Installation.numbered(1).with("aa"), try Installation.numbered(2, user: "bert").with("bb")]
        _ = try await store.importPage(first, of: "orders", at: 100)
        // Two installations of the page exchange their tokens.
        let swapped = [try Installation.numbered(1).with("bb"), try Installation.numbered(2, user: "bert").with("aa")]
        #expect(try await store.importPage(swapped, of: "orders", at: 200) == [.changed, .changed])
        let found = try await store.installations(of: "orders", .all, after: 0, limit: 10)
        #expect(found.map(\.installation.deviceToken) == ["bb", "aa"])
        let third = try Installation.numbered(3, user: "cleo").with("bb")
        #expect(try await store.importPage([third], of: "orders", at: 300) == [.added])
        #expect(try await store.users() == ["bert", "cleo"])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an imported installation has no secret`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        _ = try await store.importPage([try full(1, token: "aa")], of: "orders", at: 100)
        #expect(try await store.installation(withSecret: []) == nil)
        _ = try await store.enroll(Installation.numbered(2), replacing: nil)
        #expect(try await store.users() == ["anna", "anna"])
        #expect(try await store.removeUser("anna", of: "orders") == 2)
        await outbox.close(isInOrder: true)
    }
}

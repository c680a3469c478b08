// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

/// Audiences, and pushes to users, in every engine.
@Suite(.timeLimit(.minutes(10))) struct AudienceTests {
    /// The token of ``OutboxPush/numbered``.
    private static let token = "00112233445566778899aabbccddeeff"
    private static let device = Installation.TokenSlot(.device)

    @Test(arguments: OutboxEngine.allCases)
    func `the members of an audience are those of its users in the app`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        #expect(try await store.members(of: .users(["anna"]), in: "orders", Self.device).isEmpty)
        let users = ["anna", "é", "bert", "e\u{301}", "anna"]
        var installations: [Installation] = []
        for (index, user) in users.enumerated() {
            var installation = try Installation.numbered(UInt64(index), user: user).with("a\(index)")
            if index == 0 {
                installation.environment = .development
                installation.bundleID = "com.example.other"
                installation.permissions = [.alerts: false, .frequentUpdates: true]
                installation.attributes[.locale] = "de-CH"
                installation.attributes[.timeZone] = "Europe/Berlin"
                installation.attributes[.appVersion] = "2.1"
                installation.attributes[.systemVersion] = "26.1"
                installation = try installation.with("b0", .init(.start, "Order")).with("c0", .init(.activity, "42"))
            }
            try await store.enroll(installation)
            installations.append(installation)
        }
        try await store.enroll(Installation.numbered(9, user: "anna", app: "rides").with("a0"))
        func found(_ audience: Audience, _ slot: Installation.TokenSlot = Self.device) async throws -> [String?] {
            try await store.members(of: audience, in: "orders", slot).map { $0.token?.hex }
        }
        #expect(try await found(.users(["anna", "é", "anna", "nobody"])) == ["a0", "a1", "a4"])
        #expect(try await found(.users(["e\u{301}"])) == ["a3"])
        // A user who is named twice has each phone once.
        let many = ["anna"] + (0..<9).map { "nobody\($0)" } + ["é", "e\u{301}", "anna"]
        #expect(try await found(.users(many)) == ["a0", "a1", "a3", "a4"])
        for user in ["Anna", "ann%", "", #"anna","bert"#] { #expect(try await found(.users([user])).isEmpty) }
        #expect(try await found(.users(["anna"]), .init(.start, "Order")) == ["b0", nil])
        #expect(try await found(.users(["anna"]), .init(.activity, "43")) == [nil, nil])
        let first = try await store.members(of: .installation(installations[0].id), in: "orders", Self.device)
        let stored = try #require(try await store.installation(installations[0].id, of: "orders"))
        let expected = AudienceMember(
            number: stored.number,
            installation: installations[0].id,
            user: "anna",
            environment: .development,
            bundleID: "com.example.other",
            permissions: [.alerts: false, .frequentUpdates: true],
            token: try DeviceToken(hex: "a0"),
            locale: "de-CH",
            timeZone: "Europe/Berlin",
            appVersion: "2.1",
            systemVersion: "26.1"
        )
        #expect(first == [expected])
        #expect(try await store.members(of: .installation(installations[0].id), in: "rides", Self.device).isEmpty)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `audiences that are looked up together have their own members`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        var queries: [AudienceQuery] = []
        var expected: [[String?]] = []
        for number in 0..<3 as Range<UInt64> {
            let activity = Installation.TokenSlot(.activity, "order-\(number)")
            let installation = try Installation.numbered(number, user: "user \(number)")
                .with("a\(number)").with("b\(number)", activity)
            try await store.enroll(installation)
            queries.append(AudienceQuery(.users(["user \(number)"]), activity))
            queries.append(AudienceQuery(.users(["nobody"]), Self.device))
            queries.append(AudienceQuery(.installation(installation.id), Self.device))
            expected += [["b\(number)"], [], ["a\(number)"]]
        }
        queries.append(AudienceQuery(.users(["user 2", "user 0", "user 2"]), Self.device))
        expected.append(["a0", "a2"])
        let found = try await store.members(of: queries, in: "orders")
        #expect(found.map { $0.map { $0.token?.hex } } == expected)
        #expect(try await store.members(of: [], in: "orders").isEmpty)
        #expect(try await store.members(of: queries, in: "rides").allSatisfy(\.isEmpty))
        // More than are read in one step, some of them larger than a step.
        let large = AudienceQuery(.users((0...Installation.usersPerStep).map { "user \($0)" }), Self.device)
        let many = Array(repeatElement(queries, count: 30).joined()) + [large, large]
        let members = try await store.allMembers(of: many, in: "orders") {}
        let all = members.map { $0.map { $0.token?.hex } }
        #expect(all == Array(repeatElement(expected, count: 30).joined()) + [["a0", "a1", "a2"], ["a0", "a1", "a2"]])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push to a user moves when the token has left the user`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let anna = try Installation.numbered(1).with(Self.token)
        try await outbox.installations.enroll(anna)
        let toUser = try OutboxPush.numbered(1, user: "anna")
        let toToken = try OutboxPush.numbered(2, token: Self.token)
        _ = try await outbox.accept([toUser, toToken], at: 100)
        let first = try await outbox.claimAll(at: 100)
        #expect(first.map(\.hasFormerUser) == [false, false] && first.map(\.push.user) == ["anna", nil])
        #expect(first.allSatisfy { !$0.isDamaged })
        let later = Settlement.Change.postponed(until: 200, attempts: 1, unknownTries: 0)
        try await outbox.settle(first.map { Settlement($0, later) }, at: 150)
        // Both by another user and after a restart.
        try await outbox.installations.enroll(Installation.numbered(2, user: "bob").with(Self.token, at: 160))
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        let moved = try await outbox.claimAll(at: 200)
        #expect(moved.map(\.hasFormerUser) == [true, true] && moved.allSatisfy { !$0.isDamaged })
        // A phone that comes back to its user, with another installation, gets the push.
        try await outbox.settle(moved.map { Settlement($0, later) }, at: 210)
        try await outbox.installations.enroll(Installation.numbered(3).with(Self.token, at: 220))
        #expect(try await outbox.claimAll(at: 300).map(\.hasFormerUser) == [false, false])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push to a user belongs to that user, whoever has the token`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        try await outbox.installations.enroll(Installation.numbered(1).with(Self.token))
        let push = try OutboxPush.numbered(1, user: "anna")
        #expect(try await outbox.accept([push], at: 100) == [.accepted])
        try await outbox.installations.enroll(Installation.numbered(2, user: "bob").with(Self.token))
        #expect(try await outbox.erasePushes(ofUser: "bob", at: 200).allSatisfy(\.cancelled.isEmpty))
        #expect(try await outbox.claimAll(at: 100).map(\.hasFormerUser) == [true])
        #expect(try await outbox.pushes(ofUser: "anna").map(\.id) == [push.id])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a repeated push to a user is one push, also with another token`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        try await outbox.installations.enroll(Installation.numbered(1).with(Self.token))
        let push = try OutboxPush.numbered(1, hasCallersID: true, user: "anna")
        #expect(try await outbox.accept([push], at: 100) == [.accepted])
        let again = try OutboxPush.numbered(1, .orderTests, token: "ffee", hasCallersID: true, user: "anna")
        var others = [again, again, again]
        others[0].user = "bob"
        others[1].user = nil
        others[2].payload = Array("{}".utf8)
        var status = try #require(try await outbox.status(of: push.id, of: "orders"))
        // A duplicate is described without it.
        status.dueAt = nil
        #expect(try await outbox.accept([again], at: 200) == [.duplicate(status)])
        #expect(try await outbox.accept(others, at: 200) == [.conflict, .conflict, .conflict])
        #expect(try await outbox.backlog().map(\.count) == [1])
        // What a relay asks before it stores the pushes of a request.
        let new = try HashedPush(OutboxPush.numbered(2, hasCallersID: true, user: "anna"))
        #expect(try await outbox.conflicts(with: [new, HashedPush(again)]).isEmpty)
        for other in others { #expect(try await outbox.conflicts(with: [new, HashedPush(other)]) == [1]) }
        for claimed in try await outbox.claimAll(at: 200) { try await outbox.end(claimed, at: 300) }
        #expect(try await outbox.conflicts(with: [HashedPush(again), new]).isEmpty)
        #expect(try await outbox.conflicts(with: [HashedPush(others[2])]) == [0])
        others[2].lane = .rides
        #expect(try await outbox.conflicts(with: [HashedPush(others[2])]).isEmpty)
        #expect(try await outbox.status(of: new.push.id, of: "orders") == nil)
        await outbox.close(isInOrder: true)
    }

    @Test func `a push to a user that moves to a database is still one to a user`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/relay.sqlite"
        let file = try await SQLiteOutbox(file: path)
        try await file.installations.enroll(Installation.numbered(1).with(Self.token))
        _ = try await file.accept([.numbered(1, user: "anna"), .numbered(2)], at: 100)
        await file.close(isInOrder: true)
        let address = try await OutboxEngine.postgresql.place().address
        #expect(try await OutboxMove(from: path, to: address).run(at: 300).pushes == 2)
        let outbox = try await PostgreSQLOutbox(address: address)
        try await outbox.installations.enroll(Installation.numbered(2, user: "bob").with(Self.token, at: 400))
        let claimed = try await outbox.claimAll(at: 400)
        #expect(claimed.map(\.hasFormerUser) == [true, true] && claimed.allSatisfy { !$0.isDamaged })
        await outbox.close(isInOrder: true)
        let check = try OutboxCheck.run(on: .database(address))
        #expect(check.waiting == 2 && check.damaged == 0)
    }
}

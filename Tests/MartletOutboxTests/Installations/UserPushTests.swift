// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

/// The pushes of users, which the tokens of their installations may have left.
@Suite(.timeLimit(.minutes(10))) struct UserPushTests {
    private static let token = "00112233445566778899aabbccddeeff"

    @Test(arguments: OutboxEngine.allCases)
    func `a push belongs to the user who had the token at acceptance`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let anna = try Installation.numbered(1, user: "anna").with(Self.token)
        try await outbox.installations.enroll(anna)
        try await outbox.installations.enroll(Installation.numbered(2, app: "rides").with(Self.token))
        let pushes = try (1...3).map { try OutboxPush.numbered($0, token: Self.token) }
        let rides = try OutboxPush.numbered(4, .rides, token: Self.token)
        _ = try await outbox.accept([pushes[0], pushes[1], rides], at: 100)
        // An enrolled phone reports the token of another user.
        try await outbox.installations.enroll(Installation.numbered(3, user: "bob").with(Self.token, at: 200))
        _ = try await outbox.accept([pushes[2]], at: 200)
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        #expect(try await outbox.pushes(ofUser: "anna").map(\.id) == [pushes[0].id, pushes[1].id])
        #expect(try await outbox.pushes(ofUser: "bob").map(\.id) == [pushes[2].id])
        #expect(try await outbox.pushes(ofUser: "anna", of: "rides").map(\.id) == [rides.id])
        for user in ["ann", "Anna", "na", "%"] { #expect(try await outbox.pushes(ofUser: user).isEmpty) }
        let cancelled = try await outbox.erasePushes(ofUser: "bob", at: 300).flatMap(\.cancelled)
        #expect(cancelled.map(\.id) == [pushes[2].id] && cancelled[0].lane == .orders)
        #expect(try await outbox.outcome(of: pushes[2])?.state == .cancelled)
        // Erasing a user who has no installation any more cancels the pushes, too.
        _ = try await outbox.installations.removeUser("anna", of: "orders")
        #expect(try await outbox.erasePushes(ofUser: "anna", at: 300).flatMap(\.cancelled).count == 2)
        #expect(try await outbox.erasePushes(ofUser: "anna", at: 300).allSatisfy(\.cancelled.isEmpty))
        #expect(try await outbox.pushes(ofUser: "anna", of: "rides").map(\.id) == [rides.id])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push to a token without an owner belongs to its next owner`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        var channel = try OutboxPush.numbered(2)
        channel.destination = .channel("dHN0LWNo", bundle: "com.example.orders")
        let push = try OutboxPush.numbered(1, token: Self.token)
        _ = try await outbox.accept([push, channel], at: 100)
        #expect(try await outbox.pushes(ofUser: "anna").isEmpty)
        // The token is in two slots, and the push is listed once.
        let slots = [Installation.TokenSlot(.start, "Order"), .init(.start, "Ride")]
        try await outbox.installations.enroll(
            Installation.numbered(1).with(Self.token, slots[0]).with(Self.token, slots[1])
        )
        #expect(try await outbox.pushes(ofUser: "anna").map(\.id) == [push.id])
        let cancelled = try await outbox.erasePushes(ofUser: "anna", at: 200).flatMap(\.cancelled)
        #expect(cancelled.map(\.id) == [push.id])
        #expect(try await outbox.status(of: channel.id, of: "orders")?.state == .accepted)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a claimed push whose token has another user is marked`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let other = "ffeeddcc"
        try await outbox.installations.enroll(Installation.numbered(1, user: "anna").with(Self.token))
        try await outbox.installations.enroll(Installation.numbered(2, user: "anna").with("aabb"))
        let pushes = try [Self.token, Self.token, "aabb", other].enumerated().map { index, token in
            try OutboxPush.numbered(UInt64(index) + 1, token: token)
        }
        _ = try await outbox.accept(pushes, at: 100)
        #expect(try await outbox.claim(.orders, .immediate, limit: 1, at: 100).pushes.map(\.hasFormerUser) == [false])
        try await outbox.installations.enroll(Installation.numbered(3, user: "bob").with(Self.token, at: 200))
        // The same token in another app, another phone of the same user, and a token that had no user.
        try await outbox.installations.enroll(Installation.numbered(4, user: "bob", app: "rides").with("aabb"))
        try await outbox.installations.enroll(Installation.numbered(5, user: "anna").with("aabb", at: 200))
        try await outbox.installations.enroll(Installation.numbered(6, user: "bob").with(other, at: 200))
        let claimed = try await outbox.claimAll(at: 200)
        #expect(claimed.map(\.push.id) == pushes[1...].map(\.id))
        #expect(claimed.map(\.hasFormerUser) == [true, false, false])
        for push in claimed { try await outbox.settle([push.postponed(until: 300)], at: 200) }
        // The first user signs in again, and then nobody has the token.
        let again = try Installation.numbered(7, user: "anna").with(Self.token, at: 300)
        try await outbox.installations.enroll(again)
        let second = try await outbox.claimAll(at: 300)
        #expect(second.count == 3 && second.allSatisfy { !$0.hasFormerUser })
        for push in second { try await outbox.settle([push.postponed(until: 400)], at: 300) }
        #expect(try await outbox.installations.remove(again.id, of: "orders"))
        #expect(try await outbox.claimAll(at: 400).allSatisfy { !$0.hasFormerUser })
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the pushes of a user are cancelled in steps, behind others too`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        try await outbox.installations.enroll(Installation.numbered(1).with(Self.token))
        var pushes = try (1...30).map { try OutboxPush.numbered($0, token: Self.token) }
        for index in 0..<10 { pushes[index].orderKey = "line" }
        for index in 10..<15 { pushes[index].notBefore = 90_000 }
        pushes[29] = try OutboxPush.numbered(30, token: "ffee")
        _ = try await outbox.accept(pushes, at: 100)
        let claimed = try await outbox.claim(.orders, .immediate, limit: 1, at: 100).pushes
        #expect(claimed.map(\.push.id) == [pushes[0].id])
        let steps = try await outbox.erasePushes(ofUser: "anna", limit: 12, at: 200)
        // The last step is that of the pushes to the token before it had a user.
        #expect(steps.map(\.cancelled.count) == [12, 12, 4, 0])
        #expect(try await outbox.status(of: pushes[0].id, of: "orders")?.state == .inFlight)
        try await outbox.end(claimed[0], at: 300)
        #expect(try await outbox.claimAll(at: 100_000).map(\.push.id) == [pushes[29].id])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a step before the first push removes nothing`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let job = try await outbox.jobs.addNew(.numbered(1))
        let erased = try await outbox.erasePushes(.user("anna"), of: "orders", before: -1, limit: 2, at: 100)
        #expect(erased == ErasedPushes())
        let cancelled = try await outbox.jobs.cancelPushes(of: job, before: -1, limit: 2, at: 100)
        #expect(cancelled == CancelledPushes())
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an erased user's claimed push is not sent later`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        // To the token before it had a user, to the token, and to the user; and to the phone of another user.
        _ = try await outbox.accept([.numbered(1, token: Self.token)], at: 100)
        try await store.enroll(Installation.numbered(1).with(Self.token))
        try await store.enroll(Installation.numbered(2, user: "bob").with("ffee"))
        _ = try await outbox.accept(
            [
                .numbered(2, token: Self.token), .numbered(3, token: Self.token, user: "anna"),
                .numbered(4, token: "ffee"),
            ],
            at: 100
        )
        let claimed = try await outbox.claimAll(at: 100)
        #expect(claimed.map(\.hasFormerUser) == [false, false, false, false])
        #expect(try await outbox.erasePushes(ofUser: "anna", at: 200).allSatisfy(\.cancelled.isEmpty))
        #expect(try await store.removeUser("anna", of: "orders") == 1)
        try await outbox.settle(claimed.map(\.returned), at: 300)
        let again = try await outbox.claimAll(at: 300)
        #expect(again.map(\.hasFormerUser) == [true, true, true, false] && again.allSatisfy { !$0.isDamaged })
        // Nor is it sent when the user comes back, because it belonged to the erased one.
        try await outbox.settle(again.map(\.returned), at: 400)
        try await store.enroll(Installation.numbered(3).with(Self.token, at: 400))
        #expect(try await outbox.claimAll(at: 400).map(\.hasFormerUser) == [true, true, false, false])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a returned push is claimed before those that came later`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0, token: Self.token) }
        _ = try await outbox.accept([pushes[0]], at: 100)
        _ = try await outbox.accept([pushes[1]], at: 200)
        let first = try await outbox.claimAll(at: 200)
        #expect(first.map(\.readyAt) == [100, 200])
        _ = try await outbox.accept([pushes[2]], at: 300)
        try await outbox.settle([first[1].returned], at: 9_000)
        try await outbox.settle([first[0].returned], at: 9_000)
        #expect(try await outbox.claimAll(at: 9_000).map(\.push.id) == pushes.map(\.id))
        await outbox.close(isInOrder: true)
    }

    @Test func `a page of a file reads no more rows than its limit`() async throws {
        let outbox = try await OutboxEngine.sqlite.place().open()
        let (token, other) = (try DeviceToken(hex: Self.token), "aabbccff")
        // The index has the last byte of a token alone, so that it finds these pushes, too.
        let others = try (1...5).map { try OutboxPush.numbered($0, token: other) }
        _ = try await outbox.accept(others + [OutboxPush.numbered(6, token: Self.token)], at: 100)
        let selection = PushSelection.tokenWithoutUser(token)
        var (pages, cursor): ([Int], Int64?) = ([], 0)
        while let after = cursor {
            let page = try await outbox.records.pushes(selection, of: "orders", after: after, limit: 2)
            pages.append(page.pushes.count)
            cursor = page.next
        }
        #expect(pages == [0, 0, 1, 0])
        var (steps, end): ([Int], Int64?) = ([], nil)
        repeat {
            let step = try await outbox.erasePushes(selection, of: "orders", before: end, limit: 2, at: 200)
            steps.append(step.cancelled.count)
            end = step.next
        } while end != nil
        #expect(steps == [1, 0, 0, 0])
        #expect(try await outbox.backlog().map(\.count) == [5])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the dead letters of a user are deleted with their payloads`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        try await outbox.installations.enroll(Installation.numbered(1).with(Self.token))
        let pushes = try [
            OutboxPush.numbered(1, token: Self.token), .numbered(2, token: "ffeeff"), .numbered(3, token: Self.token),
        ]
        _ = try await outbox.accept(pushes, at: 100)
        for push in try await outbox.claimAll(at: 100) where push.push.id != pushes[2].id {
            try await outbox.end(push, .dead, at: 200)
        }
        try await outbox.installations.enroll(Installation.numbered(2, user: "bob").with(Self.token, at: 200))
        #expect(try await outbox.pushes(ofUser: "anna").map(\.id) == [pushes[0].id, pushes[2].id])
        for (user, app, count) in [("anna", "rides", 0), ("bob", "orders", 0), ("anna", "orders", 1)] {
            let steps = try await outbox.erasePushes(ofUser: user, of: app, at: 300)
            #expect(steps.reduce(0) { $0 + $1.deadLetters } == count && steps.allSatisfy(\.cancelled.isEmpty))
        }
        #expect(try await outbox.records.deadLetters(of: "orders", limit: 9).map(\.push.id) == [pushes[1].id])
        #expect(try await outbox.records.deadLetterCounts()["orders"]?.count == 1)
        #expect(try await outbox.status(of: pushes[0].id, of: "orders") == nil)
        #expect(try await outbox.status(of: pushes[2].id, of: "orders")?.state == .inFlight)
        await outbox.close(isInOrder: true)
    }

    @Test func `a push that moves to a database keeps its user`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/relay.sqlite"
        let file = try await SQLiteOutbox(file: path)
        try await file.installations.enroll(Installation.numbered(1).with(Self.token))
        let pushes = try (1...2).map { try OutboxPush.numbered($0, token: Self.token) }
        _ = try await file.accept([pushes[0]], at: 100)
        try await file.installations.enroll(Installation.numbered(2, user: "bob").with(Self.token, at: 200))
        _ = try await file.accept([pushes[1]], at: 200)
        await file.close(isInOrder: true)
        let address = try await OutboxEngine.postgresql.place().address
        #expect(try await OutboxMove(from: path, to: address).run(at: 300).pushes == 2)
        let outbox = try await PostgreSQLOutbox(address: address)
        #expect(try await outbox.pushes(ofUser: "anna").map(\.id) == [pushes[0].id])
        #expect(try await outbox.pushes(ofUser: "bob").map(\.id) == [pushes[1].id])
        await outbox.close(isInOrder: true)
    }
}

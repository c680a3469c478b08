// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// Tickets and installations in every engine.
@Suite struct EnrollmentConformanceTests {
    @Test(arguments: OutboxEngine.allCases)
    func `a ticket is valid until its end and for its app`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open().installations
        let ticket = EnrollmentTicket.numbered([1], isSingleUse: false, expiresAt: 1_000)
        try await store.add(ticket, at: 10)
        try await store.add(.numbered([2]), at: 10)
        #expect(try await store.ticket([1], at: 999) == ticket)
        #expect(try await store.ticket([1], at: 1_000) == nil)
        #expect(try await store.ticket([3], at: 10) == nil)
        let enrollment = Enrollment(ticketHash: [1], installation: .numbered(1), secretHash: [9])
        let others: [(String, String, Int64)] = [
            ("anna", "orders", 1_000), ("anna", "rides", 10), ("bert", "orders", 10),
        ]
        for (user, app, now) in others {
            var other = enrollment
            other.installation = .numbered(1, user: user, app: app)
            #expect(try await store.enroll(other, at: now) == false, "\(user) \(app) \(now)")
        }
        #expect(try await store.users().isEmpty)
        #expect(try await store.users(of: "rides").isEmpty)
        #expect(try await store.enroll(enrollment, at: 999))
        #expect(try await store.users() == ["anna"])
    }

    @Test(arguments: OutboxEngine.allCases, [true, false])
    func `a single-use ticket is accepted once by concurrent requests`(
        engine: OutboxEngine,
        isSingleUse: Bool
    ) async throws {
        let store = try await engine.place().open().installations
        try await store.add(.numbered([1], isSingleUse: isSingleUse), at: 10)
        let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 1...8 as ClosedRange<UInt64> {
                group.addTask {
                    let installation = Installation.numbered(number)
                    let secret = [UInt8(number)]
                    let enrollment = Enrollment(ticketHash: [1], installation: installation, secretHash: secret)
                    return try await store.enroll(enrollment, at: 20)
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == (isSingleUse ? 1 : 8))
        #expect(try await store.users().count == accepted)
        #expect((try await store.ticket([1], at: 20) == nil) == isSingleUse)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an installation is read as it was stored, also after a restart`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        var full = try Installation.numbered(1, user: "Zoë 👋 \"'; DROP TABLE installation --", at: 5).with("ab")
            .with("cd", .init(.start, "OrderAttributes"), at: .max).with("cd", .init(.start, "RideAttributes"), at: 0)
            .with("ef", .init(.activity, "a|b\\c")).withActivities()
        for attribute in Installation.Attribute.allCases { full.attributes[attribute] = "value of \(attribute)" }
        full.permissions = [.alerts: true, .liveActivities: false]
        full.tags = ["a", "b:c", "d@e.f-_"]
        full.changedAt = 7
        full.seenAt = 8
        let stored = try await outbox.installations.enroll(full, secret: 7)
        #expect(stored?.installation == full && stored?.revision == 1)
        let plain = try await outbox.installations.enroll(.numbered(2))
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        let store = outbox.installations
        #expect(try await store.installation(full.id, of: "orders") == stored)
        #expect(try await store.installation(full.id, of: "rides") == nil)
        let secret = [7] + Array(full.id.description.utf8)
        #expect(try await store.installation(withSecret: secret) == stored)
        #expect(try await store.installation(withSecret: Array(full.id.description.utf8)) == nil)
        let both = [stored, plain].compactMap(\.self)
        #expect(try await store.installations(of: "orders", .all, after: 0, limit: 9) == both)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `installations are found by user and tag, page by page, and only in their app`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open().installations
        for number in 1...6 as ClosedRange<UInt64> {
            var installation = Installation.numbered(number, user: number.isMultiple(of: 2) ? "even" : "odd")
            if number > 2 { installation.tags = ["late", "all"] }
            try await store.enroll(installation)
        }
        var other = Installation.numbered(7, user: "even", app: "rides")
        other.tags = ["late"]
        try await store.enroll(other)
        #expect(try await store.users(.user("even")) == ["even", "even", "even"])
        #expect(try await store.users(.tag("late")) == ["odd", "even", "odd", "even"])
        for selection in [.tag("LATE"), .user("eve"), .user("even%"), .tag("lat_")] as [InstallationSelection] {
            #expect(try await store.users(selection).isEmpty)
        }
        for selection in [.all, .user("odd"), .tag("late")] as [InstallationSelection] {
            let all = try await store.installations(of: "orders", selection, after: 0, limit: 100)
            var paged: [StoredInstallation] = []
            while true {
                let cursor = paged.last?.number ?? 0
                let page = try await store.installations(of: "orders", selection, after: cursor, limit: 2)
                guard !page.isEmpty else { break }
                paged += page
            }
            #expect(paged == all && !all.isEmpty)
        }
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a page of large installations ends early`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open().installations
        for number in 1...80 as ClosedRange<UInt64> {
            var installation = Installation.numbered(number, user: "user \(number / 10)")
            let name = "\(number) " + String(repeating: "n", count: 112)
            // Each installation has its own tokens, because a token belongs to one.
            for index in 10..<41 {
                let digits = String(repeating: "\(100 + number)\(index)0", count: 66)
                installation = try installation.with(digits, .init(.control, "\(name)\(index)"))
            }
            try await store.enroll(installation)
        }
        let all = try await store.installations(of: "orders", .all, after: 0, limit: 100)
        let first = try await store.page(of: "orders", .all, after: 0, limit: 100)
        let rest = try await store.page(of: "orders", .all, after: first.last?.number ?? 0, limit: 100)
        #expect(first.count == 70 && rest.count == 10 && first + rest == all)
        #expect(try await store.page(of: "orders", .all, after: all.last?.number ?? 0, limit: 100).isEmpty)
        #expect(try await store.page(of: "orders", .all, after: 0, limit: 13).count == 13)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a change is stored only over the state that it was made from`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open().installations
        let stored = try #require(try await store.enroll(Installation.numbered(1).with("aa")))
        var first = stored.installation
        first.tags = ["first"]
        first.tokens[.init(.device)] = nil
        first.tokens[.init(.widgets)] = .init(try DeviceToken(hex: "bb"), registeredAt: 200)
        first.environment = .development
        first.attributes[.locale] = "de-CH"
        first.permissions[.alerts] = true
        #expect(try await store.replace(stored, with: first))
        var second = stored.installation
        second.tags = ["second"]
        #expect(try await store.replace(stored, with: second) == false)
        let now = try #require(try await store.installation(first.id, of: "orders"))
        #expect(now.installation == first && now.revision == 2)
        #expect(try await store.users(.tag("first")) == ["anna"])
        #expect(try await store.remove(first.id, of: "rides") == false)
        #expect(try await store.remove(first.id, of: "orders"))
        #expect(try await store.remove(first.id, of: "orders") == false)
        #expect(try await store.replace(now, with: second) == false)
        #expect(try await store.users(.tag("first")).isEmpty)
        #expect(try await store.users().isEmpty)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `removing a user removes the installations and tickets of that user in that app`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open().installations
        for number in 1...3 as ClosedRange<UInt64> { try await store.enroll(.numbered(number)) }
        try await store.enroll(.numbered(4, user: "bert"))
        try await store.enroll(.numbered(5, app: "rides"))
        try await store.add(.numbered([1]), at: 10)
        try await store.add(.numbered([2], user: "bert"), at: 10)
        #expect(try await store.removeUser("anna", of: "orders") == 3)
        #expect(try await store.removeUser("anna", of: "orders") == 0)
        #expect(try await store.users() == ["bert"])
        #expect(try await store.users(of: "rides") == ["anna"])
        #expect(try await store.ticket([1], at: 10) == nil)
        #expect(try await store.ticket([2], at: 10) != nil)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an additional installation replaces the one seen longest ago`(
        engine: OutboxEngine
    ) async throws {
        let store = try await engine.place().open().installations
        let limit = Installation.limitPerUser
        for number in 1...UInt64(limit) {
            // The second was seen longest ago.
            try await store.enroll(.numbered(number, at: number == 2 ? 50 : 100))
        }
        try await store.enroll(.numbered(98, user: "bert", at: 1))
        try await store.enroll(.numbered(99, app: "rides", at: 1))
        #expect(try await store.users().count == limit + 1)
        // Its clock is behind that of the others, and yet it stays.
        try await store.enroll(.numbered(50, at: 10))
        let left = try await store.installations(of: "orders", .user("anna"), after: 0, limit: 100).map(\.number)
        #expect(left.count == limit && !left.contains(2) && left.contains(1))
        #expect(try await store.users(of: "rides") == ["anna"])
        #expect(try await store.users().count == limit + 1)
    }
}

extension InstallationStore {
    fileprivate func users(_ selection: InstallationSelection) async throws -> [String] {
        try await users(of: "orders", selection)
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

/// The installations that match an expression, in every engine.
@Suite(.timeLimit(.minutes(10))) struct AudienceScanTests {
    private static let device = Installation.TokenSlot(.device)

    /// Reads all pages of a scan.
    private func members(
        of scan: AudienceScan,
        in store: any InstallationStore,
        limit: Int
    ) async throws -> [AudienceMember] {
        var scan = scan
        var members: [AudienceMember] = []
        while true {
            let page = try await store.audiencePage(of: scan, limit: limit)
            #expect(page.examined <= limit && page.members.count <= page.examined)
            members += page.members
            guard let next = page.next else { return members }
            try #require(next > scan.cursor && page.examined == limit)
            scan.cursor = next
        }
    }

    @Test(arguments: OutboxEngine.allCases)
    func `pages have the installations that match, in order`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        let vip = AudienceScan(try AudienceExpression("vip"), of: "orders", Self.device)
        #expect(try await store.audiencePage(of: vip, limit: 10) == AudiencePage())
        var numbers: [Int64] = []
        for index in 0..<9 {
            var installation = Installation.numbered(UInt64(index), user: "user \(index)")
            if index != 4 { installation = try installation.with("a\(index)") }
            installation.tags = index.isMultiple(of: 2) ? ["vip"] : ["trial"]
            if index == 8 { installation.tags = ["vip", "trial"] }
            numbers.append(try #require(try await store.enroll(installation)?.number))
        }
        var other = Installation.numbered(9, app: "rides")
        other.tags = ["vip", "trial"]
        try await store.enroll(other)
        func users(_ text: String, after cursor: Int64 = 0, through mark: Int64 = .max) async throws -> [String] {
            let expression = try AudienceExpression(text)
            let scan = AudienceScan(expression, of: "orders", Self.device, after: cursor, through: mark)
            return try await members(of: scan, in: store, limit: 2).map { String($0.user.suffix(1)) }
        }
        #expect(try await users("vip") == ["0", "2", "4", "6", "8"])
        #expect(try await users("vip && trial") == ["8"])
        #expect(try await users("vip && !trial", after: numbers[0], through: numbers[6]) == ["2", "4", "6"])
        #expect(try await users("all", after: numbers[6]) == ["7", "8"])
        #expect(try await users("vip && new").isEmpty)
        #expect(try await users("vip || trial", through: numbers[1]) == ["0", "1"])
        let all = try await members(of: vip, in: store, limit: 100)
        let one = try #require(try await store.members(of: .users(["user 0"]), in: "orders", Self.device).first)
        #expect(all.map { $0.token?.hex } == ["a0", "a2", nil, "a6", "a8"] && all.first == one)
        var start = vip
        start.slot = .init(.start, "Order")
        #expect(try await members(of: start, in: store, limit: 100).allSatisfy { $0.token == nil })
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: [OutboxEngine.sqlite, .postgresql])
    func `the rarest required tag limits what is examined`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        for index in 0..<60 {
            var installation = Installation.numbered(UInt64(index), user: "user \(index)")
            installation.tags = index.isMultiple(of: 20) ? ["common", "rare"] : ["common"]
            try await store.enroll(installation)
        }
        for text in ["rare", "common && rare", "rare && !trial && common", "!(!rare || trial)"] {
            let scan = AudienceScan(try AudienceExpression(text), of: "orders", Self.device)
            let page = try await store.audiencePage(of: scan, limit: 10)
            #expect(page.examined == 3 && page.members.count == 3 && page.next == nil, "\(text)")
        }
        // Without a required tag, a page may be empty although others follow.
        let scan = AudienceScan(try AudienceExpression("locale:de"), of: "orders", Self.device)
        let page = try await store.audiencePage(of: scan, limit: 10)
        #expect(page.examined == 10 && page.members.isEmpty && page.next != nil)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: [OutboxEngine.sqlite, .postgresql], 1...3 as ClosedRange<UInt64>)
    func `every engine agrees with the expression`(engine: OutboxEngine, seed: UInt64) async throws {
        let outbox = try await engine.place().open()
        let store = outbox.installations
        var random = RandomConditions(seed: seed)
        var stored: [StoredInstallation] = []
        for index in 0..<60 {
            var installation = random.installation()
            installation.user = "user \(index)"
            if let new = try await store.enroll(installation) { stored.append(new) }
        }
        try #require(stored.count == 60)
        var matched = 0
        for _ in 0..<150 {
            // Half of the conditions have a required tag.
            let others: [AudienceExpression.Condition] = Bool.random(using: &random.random) ? [.tag("vip")] : [.all]
            let expression = try AudienceExpression(
                AudienceExpression.Condition.and(others + [random.next()]).description
            )
            let cursor = stored[Int.random(in: 0..<20, using: &random.random)].number
            let mark = stored[Int.random(in: 40..<60, using: &random.random)].number
            let scan = AudienceScan(expression, of: "orders", Self.device, after: cursor, through: mark)
            let limit = Int.random(in: 1...30, using: &random.random)
            let found = try await members(of: scan, in: store, limit: limit).map(\.installation)
            let expected = stored.filter { $0.number > cursor && $0.number <= mark }.map(\.installation)
                .filter { expression.matches($0) }.map(\.id)
            try #require(found == expected, "seed \(seed): \(expression)")
            matched += found.count
        }
        #expect(matched > 500, "the conditions match too seldom to prove much")
        await outbox.close(isInOrder: true)
    }
}

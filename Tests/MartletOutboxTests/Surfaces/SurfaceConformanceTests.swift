// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import Testing

/// Tests of surfaces that every engine of the outbox passes.
@Suite(.timeLimit(.minutes(10))) struct SurfaceConformanceTests {
    @Test(arguments: OutboxEngine.allCases)
    func `a surface changes only with its content`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        var surface = Surface.numbered(1, to: .users(["anna", "é"]), endsAt: 500)
        let stored = try await outbox.surfaces.putNew(surface, at: 10)
        let expected = StoredSurface(
            number: stored.number,
            revision: 1,
            surface: surface,
            createdAt: 10,
            changedAt: 10
        )
        #expect(stored == expected)
        surface.caller = "other"
        #expect(try await outbox.surfaces.put(surface, if: .none, limit: 9, at: 20) == .unchanged(stored))
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        #expect(try await outbox.surfaces.current(stored) == stored)
        var last = stored
        for change in 0..<3 {
            switch change {
            case 0: surface.fingerprint = [1]
            case 1: surface.endsAt = nil
            default: surface.audience = .users(["anna", "e\u{301}"])
            }
            let changed = try await outbox.surfaces.putNew(surface, at: 30)
            #expect(changed.number == stored.number && changed.revision == last.revision + 1)
            #expect(changed.surface == surface && changed.createdAt == 10 && changed.changedAt == 30)
            last = changed
        }
        let ofOtherApp = try await outbox.surfaces.putNew(.numbered(1, app: "rides"), at: 40)
        #expect(ofOtherApp.number > stored.number && ofOtherApp.revision == 1)
        #expect(try await outbox.surfaces.surface("order-1", of: "orders") == last)
        #expect(try await outbox.surfaces.surface("order-2", of: "orders") == nil)
        #expect(try await outbox.surfaces.surface("order-1", of: "games") == nil)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a surface that does not meet the condition stays`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        func put(_ request: String, _ condition: SurfacePrecondition) async throws -> SurfaceChange {
            try await surfaces.put(.numbered(1, request: request), if: condition, limit: 9, at: 20)
        }
        #expect(try await put("1", .hasRevision(1)) == .refused(nil))
        guard case .changed(let first) = try await put("1", .isAbsent) else {
            Issue.record("the surface does not exist")
            return
        }
        #expect(try await put("1", .isAbsent) == .refused(first), "also with the same content")
        #expect(try await put("2", .hasRevision(2)) == .refused(first))
        #expect(try await put("1", .hasRevision(1)) == .unchanged(first))
        #expect(try await surfaces.withdraw("order-1", of: "orders", if: .hasRevision(2), at: 30) == .refused(first))
        #expect(try await surfaces.withdraw("order-1", of: "orders", if: .isAbsent, at: 30) == .refused(first))
        let withdrawal = try await surfaces.withdraw("order-1", of: "orders", if: .hasRevision(1), at: 30)
        var withdrawn = first
        (withdrawn.revision, withdrawn.changedAt, withdrawn.withdrawnAt) = (2, 30, 30)
        #expect(withdrawal == .changed(withdrawn))
        #expect(try await put("1", .hasRevision(2)) == .refused(withdrawn))
        guard case .changed(let again) = try await put("1", .isAbsent) else {
            Issue.record("the surface is withdrawn")
            return
        }
        #expect(again.number == first.number && again.revision == 3 && again.withdrawnAt == nil)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a removed user is in no audience`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let (surfaces, installations) = (outbox.surfaces, outbox.installations)
        let phone = try await installations.add(.numbered(1, user: "bob"))
        let shared = try await surfaces.putNew(.numbered(1, to: .users(["anna", "q\"é", "bob"])))
        try await surfaces.putNew(.numbered(2))
        let onPhone = try await surfaces.putNew(.numbered(3))
        #expect(try await surfaces.finish(onPhone, on: [phone]))
        try await surfaces.putNew(.numbered(4))
        _ = try await surfaces.withdraw("order-4", of: "orders", if: .none, at: 20)
        let ofOtherApp = try await surfaces.putNew(.numbered(1, app: "rides"))
        let id = Installation.numbered(2).id
        try await surfaces.putNew(.numbered(5, to: .installation(id)))
        let ofOtherPhone = try await surfaces.putNew(.numbered(6, to: .installation(phone.installation.id)))
        try await surfaces.removeUser("anna", with: [id], of: "orders", at: 30)
        #expect(try await surfaces.surface("order-5", of: "orders") == nil)
        #expect(try await surfaces.current(ofOtherPhone) == ofOtherPhone)
        var expected = shared
        expected.surface.audience = .users(["q\"é", "bob"])
        #expect(try await surfaces.current(shared) == expected)
        #expect(try await surfaces.surface("order-2", of: "orders") == nil)
        #expect(try await surfaces.surface("order-4", of: "orders") == nil)
        let left = try await surfaces.current(onPhone)
        #expect(left.surface.audience == .users([]) && left.withdrawnAt == 30, "a phone may still show it")
        #expect(left.revision == onPhone.revision + 1 && left.cursor == 0)
        #expect(left.surface.request.isEmpty && left.surface.fingerprint.isEmpty && !left.isDamaged)
        #expect(try await surfaces.current(ofOtherApp) == ofOtherApp)
        #expect(try await surfaces.surfaces(for: "anna", id, of: "orders").isEmpty)
        // The audience is stored as a caller stores it.
        #expect(try await surfaces.put(expected.surface, if: .none, limit: 9, at: 40) == .unchanged(expected))
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a withdrawn surface can be shown again`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        #expect(try await surfaces.withdraw("order-1", of: "orders", if: .none, at: 10) == .refused(nil))
        let phone = try await outbox.installations.add(.numbered(1))
        let stored = try await surfaces.putNew(.numbered(1))
        #expect(try await surfaces.finish(stored, on: [phone]))
        try await surfaces.rest()
        let finished = try await surfaces.current(stored)
        #expect(finished.cursor == nil)
        guard case .changed(let withdrawn) = try await surfaces.withdraw("order-1", of: "orders", if: .none, at: 20)
        else {
            Issue.record("the surface was not withdrawn")
            return
        }
        #expect(withdrawn.revision == 2 && withdrawn.withdrawnAt == 20 && withdrawn.changedAt == 20)
        #expect(try await surfaces.withdraw("order-1", of: "orders", if: .none, at: 30) == .unchanged(withdrawn))
        #expect(try await surfaces.unfinishedSurfaces(limit: 9) == [withdrawn])
        #expect(try await surfaces.finish(withdrawn, on: []))
        let session = try await surfaces.session(of: stored)
        #expect(session.session.revision == 0 && session.session.dueAt == 10 && session.surface.withdrawnAt == 20)
        let again = try await surfaces.putNew(.numbered(1), at: 40)
        #expect(again.number == stored.number && again.revision == 3 && again.cursor == 0)
        #expect(try await surfaces.finish(again, on: [phone]))
        let joined = try await surfaces.session(of: stored).session
        #expect(joined.number == session.session.number && joined.revision == 3)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an app has a limited number of surfaces`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        for number in 1...2 { try await surfaces.putNew(.numbered(number)) }
        try await surfaces.putNew(.numbered(1, app: "rides"))
        #expect(try await surfaces.put(.numbered(3), if: .none, limit: 2, at: 20) == .full)
        #expect(try await surfaces.surface("order-3", of: "orders") == nil)
        #expect(try await surfaces.surfaceCounts() == ["orders": 2, "rides": 1])
        // One that is shown takes no other place.
        guard case .changed = try await surfaces.put(.numbered(2, request: "2"), if: .none, limit: 2, at: 20) else {
            Issue.record("the surface was not changed")
            return
        }
        _ = try await surfaces.withdraw("order-1", of: "orders", if: .none, at: 30)
        guard case .changed = try await surfaces.put(.numbered(3), if: .none, limit: 2, at: 30) else {
            Issue.record("a withdrawn surface takes no place")
            return
        }
        #expect(try await surfaces.put(.numbered(1), if: .none, limit: 2, at: 40) == .full)
        // Those of a removed user are withdrawn, and so is one that has ended.
        try await surfaces.removeUser("anna", with: [], of: "orders", at: 50)
        #expect(try await surfaces.surfaceCounts() == ["rides": 1])
        let ending = Surface.numbered(4, endsAt: 60)
        guard case .changed = try await surfaces.put(ending, if: .none, limit: 1, at: 50) else {
            Issue.record("the surfaces of a removed user take no place")
            return
        }
        #expect(try await surfaces.put(.numbered(5), if: .none, limit: 1, at: 50) == .full)
        #expect(try await surfaces.endSurfaces(withdrawnBefore: 0, at: 60, limit: 9) == 1)
        guard case .changed = try await surfaces.put(.numbered(5), if: .none, limit: 1, at: 60) else {
            Issue.record("a surface that has ended takes no place")
            return
        }
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a channel belongs to one surface of an app`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        func put(_ number: Int, on channel: String?, limit: Int = 9) async throws -> SurfaceChange {
            let surface = Surface.numbered(number, request: channel ?? "none", channel: channel)
            return try await surfaces.put(surface, if: .none, limit: limit, at: 20)
        }
        let first = try await surfaces.putNew(.numbered(1, request: "X", channel: "X"))
        #expect(first.surface.channel == "X")
        try await surfaces.putNew(.numbered(2))
        try await surfaces.putNew(.numbered(1, app: "rides", channel: "X"))
        #expect(try await put(1, on: "X") == .unchanged(first))
        for number in 2...3 { #expect(try await put(number, on: "X", limit: 2) == .channelInUse(by: "order-1")) }
        #expect(try await surfaces.surface("order-3", of: "orders") == nil)
        #expect(try await surfaces.surfaceCounts() == ["orders": 2, "rides": 1], "a refused one takes no place")
        // A surface with another channel frees the first one, and so does a withdrawn one.
        guard case .changed = try await put(1, on: "Y"), case .changed = try await put(2, on: "X"),
            case .changed = try await surfaces.withdraw("order-1", of: "orders", if: .none, at: 30),
            case .changed = try await put(3, on: "Y"), case .changed = try await put(3, on: nil)
        else {
            Issue.record("the channel is free")
            return
        }
        guard case .changed = try await put(1, on: "Y") else {
            Issue.record("the withdrawn surface is shown again")
            return
        }
        #expect(try await put(3, on: "Y") == .channelInUse(by: "order-1"))
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `of surfaces that ask for a channel at once, one gets it`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        // Half of them exist without a channel.
        for number in 1...4 { try await surfaces.putNew(.numbered(number)) }
        let changes = try await withThrowingTaskGroup(of: SurfaceChange.self) { group in
            for number in 1...8 {
                group.addTask {
                    let surface = Surface.numbered(number, request: "X", channel: "X")
                    return try await surfaces.put(surface, if: .none, limit: 9, at: 20)
                }
            }
            var changes: [SurfaceChange] = []
            for try await change in group { changes.append(change) }
            return changes
        }
        let stored = try await surfaces.surfaces(of: "orders", after: 0, limit: 9).filter { $0.surface.channel == "X" }
        try #require(stored.count == 1)
        #expect(changes.count { $0 == .channelInUse(by: stored[0].surface.id) } == 7, "\(changes)")
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `surfaces are listed, and found by their audiences`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let phone = try await outbox.installations.add(.numbered(1, user: "é"))
        let id = phone.installation.id
        let vip = try AudienceExpression("vip && app-version>=2.1")
        var stored: [StoredSurface] = []
        for audience in [.users(["anna", "é", "é"]), .installation(id), .matching(vip), .users(["e\u{301}"])]
            as [SurfaceAudience]
        {
            stored.append(try await outbox.surfaces.putNew(.numbered(stored.count, to: audience)))
        }
        try await outbox.surfaces.putNew(.numbered(9, app: "rides", to: .users(["é"])))
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        let surfaces = outbox.surfaces
        #expect(try await surfaces.surfaces(of: "orders", after: 0, limit: 9) == stored)
        #expect(try await surfaces.surfaces(of: "orders", after: stored[0].number, limit: 2) == Array(stored[1...2]))
        #expect(try await surfaces.surfaces(of: "games", after: 0, limit: 9).isEmpty)
        #expect(try await surfaces.surfaces(for: "é", id, of: "orders") == stored[...1].map(\.withoutContent))
        let other = Installation.numbered(2).id
        #expect(try await surfaces.surfaces(for: "e\u{301}", other, of: "orders") == [stored[3].withoutContent])
        #expect(try await surfaces.surfaces(for: "bob", other, of: "orders").isEmpty)
        #expect(try await surfaces.surfacesWithExpression(of: "orders") == [stored[2].withoutContent])
        #expect(try await surfaces.surfacesWithExpression(of: "rides").isEmpty)
        // With another audience, the users before do not find it.
        try await surfaces.putNew(.numbered(0, to: .users(["bob"])), at: 20)
        _ = try await surfaces.withdraw("order-2", of: "orders", if: .none, at: 20)
        #expect(try await surfaces.surfaces(for: "é", id, of: "orders") == [stored[1].withoutContent])
        #expect(try await surfaces.surfaces(for: "bob", other, of: "orders").map(\.number) == [stored[0].number])
        #expect(try await surfaces.surfacesWithExpression(of: "orders").isEmpty)
        #expect(try await surfaces.surfaces(of: "orders", after: 0, limit: 9).count == 4, "withdrawn ones are listed")
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `surfaces with a channel are found`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        var stored: [StoredSurface] = []
        for (number, channel) in ["C", nil, "B", "A", "D"].enumerated() {
            stored.append(try await surfaces.putNew(.numbered(number, channel: channel)))
        }
        try await surfaces.putNew(.numbered(9, app: "rides", channel: "E"))
        _ = try await surfaces.withdraw("order-4", of: "orders", if: .none, at: 20)
        let found = try await surfaces.surfacesWithChannel(of: "orders", after: "", limit: 2)
        #expect(found == [stored[3], stored[2]])
        #expect(try await surfaces.surfacesWithChannel(of: "orders", after: "B", limit: 2) == [stored[0]])
        #expect(try await surfaces.surfacesWithChannel(of: "games", after: "", limit: 2).isEmpty)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `surfaces with a next page are found`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let first = try await outbox.surfaces.putNew(.numbered(1), at: 20)
        let second = try await outbox.surfaces.putNew(.numbered(2, app: "rides"), at: 10)
        let third = try await outbox.surfaces.putNew(.numbered(3), at: 30)
        #expect(try await outbox.surfaces.unfinishedSurfaces(limit: 9) == [second, first, third])
        #expect(try await outbox.surfaces.unfinishedSurfaces(limit: 1) == [second])
        #expect(try await outbox.surfaces.unfinishedSurfaces(limit: 2) == [second, first])
        #expect(try await outbox.surfaces.finish(second, on: []))
        #expect(try await outbox.surfaces.unfinishedSurfaces(limit: 9) == [first, third])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `surfaces end at their time and are deleted later`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let phone = try await outbox.installations.add(.numbered(1))
        let ending = try await surfaces.putNew(.numbered(1, endsAt: 50))
        let later = try await surfaces.putNew(.numbered(2, endsAt: 60))
        try await surfaces.putNew(.numbered(3))
        #expect(try await surfaces.finish(ending, on: [phone]))
        #expect(try await surfaces.endSurfaces(withdrawnBefore: 0, at: 49, limit: 9) == 0)
        #expect(try await surfaces.endSurfaces(withdrawnBefore: 50, at: 50, limit: 9) == 1)
        let ended = try await surfaces.current(ending)
        #expect(ended.withdrawnAt == 50 && ended.revision == 2 && ended.cursor == 0 && ended.changedAt == 50)
        #expect(try await surfaces.endSurfaces(withdrawnBefore: 50, at: 70, limit: 1) == 1)
        #expect(try await surfaces.current(later).withdrawnAt == 70)
        _ = try await surfaces.withdraw("order-3", of: "orders", if: .none, at: 80)
        #expect(try await surfaces.endSurfaces(withdrawnBefore: 81, at: 90, limit: 1) == 1)
        #expect(try await surfaces.surface("order-2", of: "orders") == nil, "the oldest without a session")
        #expect(try await surfaces.endSurfaces(withdrawnBefore: 81, at: 90, limit: 9) == 1)
        #expect(try await surfaces.surfaces(of: "orders", after: 0, limit: 9).map(\.number) == [ending.number])
        _ = try await surfaces.store(try await surfaces.session(of: ending), isFinished: true)
        #expect(try await surfaces.endSurfaces(withdrawnBefore: 81, at: 90, limit: 9) == 1)
        // The next one is another surface.
        let next = try await surfaces.putNew(.numbered(1), at: 100)
        #expect(next.number > ending.number && next.revision == 1 && next.createdAt == 100)
        await outbox.close(isInOrder: true)
    }
}

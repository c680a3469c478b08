// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import Testing

/// Tests of the installations that get surfaces, by pages and after their changes, that every engine passes.
@Suite(.timeLimit(.minutes(10))) struct SurfaceAudienceTests {
    private static let vip = SurfaceAudience.matching(.tag("vip"))

    // MARK: Pages

    @Test(arguments: OutboxEngine.allCases)
    func `each installation of a page gets a session`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        var phones: [StoredInstallation] = []
        for number in 1...3 as ClosedRange<UInt64> {
            phones.append(try await outbox.installations.add(.numbered(number, user: "user \(number)")))
        }
        let stored = try await outbox.surfaces.putNew(.numbered(1, to: .matching(.all)))
        let numbers = phones.map(\.number)
        let first = SurfacePage(of: stored, next: numbers[0], installations: [numbers[0]])
        #expect(try await outbox.surfaces.store(first, at: 20))
        #expect(try await outbox.surfaces.store(first, at: 20) == false, "the surface has another cursor")
        #expect(try await outbox.surfaces.current(stored).cursor == numbers[0])
        // One is removed after the page was read.
        #expect(try await outbox.installations.remove(phones[1].installation.id, of: "orders"))
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        let surfaces = outbox.surfaces
        #expect(try await surfaces.finish(stored, on: Array(phones[1...]), at: 30))
        let finished = try await surfaces.current(stored)
        #expect(finished.cursor == nil && finished.revision == 1)
        #expect(try await surfaces.unfinishedSurfaces(limit: 9).isEmpty)
        let due = try await surfaces.dueSessions(at: 30, limit: 9)
        #expect(due.map(\.installation) == [phones[0], phones[2]])
        for session in due.map(\.session) {
            #expect(session.revision == 1 && session.state.isEmpty && session.results.isEmpty)
        }
        #expect(due.map(\.session.dueAt) == [20, 30])
        #expect(due.allSatisfy { $0.surface == finished })
        #expect(try await surfaces.dueSessions(at: 30, limit: 1) == Array(due.prefix(1)))
        #expect(try await surfaces.sessions(of: finished, after: 0, limit: 9) == due)
        #expect(try await surfaces.sessions(of: finished, after: numbers[0], limit: 9) == Array(due.dropFirst()))
        #expect(try await surfaces.sessions(of: finished, after: 0, limit: 1) == Array(due.prefix(1)))
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `pages and events are stored together`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let anna = try await outbox.installations.add(.numbered(1))
        let bob = try await outbox.installations.add(.numbered(2, user: "bob"))
        var stored: [StoredSurface] = []
        for number in 1...3 { stored.append(try await surfaces.putNew(.numbered(number, to: .matching(.all)))) }
        let old = SurfacePage(of: stored[1], next: nil, installations: [anna.number, bob.number])
        stored[1] = try await surfaces.putNew(.numbered(2, to: .matching(.all), request: "2"), at: 20)
        let pages = [
            SurfacePage(of: stored[2], next: anna.number, installations: [anna.number]), old,
            SurfacePage(of: stored[0], next: nil, installations: [bob.number, anna.number]),
        ]
        #expect(try await surfaces.store(pages, at: 30) == [true, false, true])
        #expect(try await surfaces.current(stored[2]).cursor == anna.number)
        #expect(try await surfaces.current(stored[0]).cursor == nil)
        let due = try await surfaces.dueSessions(at: 30, limit: 9)
        #expect(due.filter { $0.surface.number == stored[0].number }.count == 2 && due.count == 3)
        #expect(try await surfaces.store([] as [SurfacePage], at: 30).isEmpty)
        for phone in [anna, bob] { try await outbox.installations.change(phone) { $0.tags = ["vip"] } }
        let events = try await surfaces.installationEvents(limit: 9)
        try await outbox.installations.change(bob) { $0.tags = ["new"] }
        let current = try await surfaces.current(stored[1])
        try await surfaces.store(events.map { SurfaceMembership(of: $0, in: [current]) }, at: 40)
        let left = try await surfaces.sessions(of: stored[0]).map(\.session.revision)
        #expect(left == [0, 1], "bob has a newer event")
        #expect(try await surfaces.session(of: stored[1]).installation.number == anna.number)
        #expect(try await surfaces.event().installation.number == bob.number)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an installation has the surfaces that it was in last`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let outbox = try await place.open()
        let surfaces = outbox.surfaces
        let anna = try await outbox.installations.add(.numbered(1))
        func numbers(limit: Int = 9) async throws -> [Int64] {
            try await surfaces.surfaces(on: anna.number, limit: limit).map(\.number)
        }
        let first = try await surfaces.putNew(.numbered(1), at: 10)
        let second = try await surfaces.putNew(.numbered(2), at: 20)
        #expect(try await numbers() == [])
        for stored in [first, second] { #expect(try await surfaces.finish(stored, on: [anna])) }
        #expect(try await numbers() == [second.number, first.number])
        #expect(try await numbers(limit: 1) == [second.number])
        let current = try await surfaces.current(second)
        #expect(try await surfaces.surfaces(on: anna.number, limit: 1) == [current])
        // It has left with the last page of the new revision.
        let changed = try await surfaces.putNew(.numbered(1, to: .users(["bob"])), at: 30)
        #expect(try await numbers() == [first.number, second.number])
        #expect(try await surfaces.finish(changed, on: []))
        #expect(try await numbers() == [second.number])
        _ = try await surfaces.withdraw("order-2", of: "orders", if: .none, at: 40)
        #expect(try await numbers() == [])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `installations that no page names have left`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let anna = try await outbox.installations.add(.numbered(1))
        let bob = try await outbox.installations.add(.numbered(2, user: "bob"))
        let stored = try await surfaces.putNew(.numbered(1, to: .users(["anna", "bob"])))
        let other = try await surfaces.putNew(.numbered(2, to: .users(["anna"])))
        #expect(try await surfaces.finish(stored, on: [anna, bob]))
        #expect(try await surfaces.finish(other, on: [anna]))
        try await surfaces.rest()
        #expect(try await surfaces.dueSessions(at: 1_000, limit: 9).isEmpty)
        let old = SurfacePage(of: stored, next: nil, installations: [bob.number])
        let changed = try await surfaces.putNew(.numbered(1, to: .users(["bob", "carl"])), at: 20)
        #expect(try await surfaces.store(old, at: 20) == false, "the surface has another revision")
        #expect(try await surfaces.dueSessions(at: 1_000, limit: 9).isEmpty)
        let first = SurfacePage(of: changed, next: anna.number, installations: [])
        #expect(try await surfaces.store(first, at: 20))
        #expect(try await surfaces.dueSessions(at: 1_000, limit: 9).isEmpty)
        #expect(try await surfaces.finish(changed, on: [bob]))
        let sessions = try await surfaces.sessions(of: stored)
        #expect(sessions.map(\.installation.number) == [anna.number, bob.number])
        #expect(sessions.map(\.session.revision) == [0, 2] && sessions.allSatisfy { $0.session.dueAt == 10 })
        let ofOther = try await surfaces.session(of: other).session
        #expect(ofOther.revision == 1 && ofOther.dueAt == nil)
        await outbox.close(isInOrder: true)
    }

    // MARK: Events

    @Test(arguments: OutboxEngine.allCases)
    func `an event leads to the sessions of an installation`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let vip = try await outbox.surfaces.putNew(.numbered(1, to: Self.vip))
        let own = try await outbox.surfaces.putNew(.numbered(2))
        for stored in [vip, own] { #expect(try await outbox.surfaces.finish(stored, on: [])) }
        let first = try await outbox.surfaces.current(vip)
        let second = try await outbox.surfaces.current(own)
        var phone = try await outbox.installations.add(.numbered(1).with("aa"))
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        let surfaces = outbox.surfaces
        var event = try await surfaces.event()
        #expect(event.installation == phone)
        try await surfaces.store([second], for: event, at: 20)
        #expect(try await surfaces.installationEvents(limit: 9).isEmpty)
        #expect(try await surfaces.dueSessions(at: 20, limit: 9).map(\.surface) == [second])
        try await surfaces.rest()
        phone = try await outbox.installations.change(phone) { $0.tags = ["vip"] }
        #expect(try await surfaces.session(of: own).session.dueAt == 200)
        event = try await surfaces.event()
        #expect(event.installation == phone)
        try await surfaces.store([first, second], for: event, at: 30)
        #expect(try await surfaces.session(of: vip).session.revision == 1)
        try await surfaces.rest()
        phone = try await outbox.installations.change(phone) { $0.tags = ["other"] }
        event = try await surfaces.event()
        try await surfaces.store([second], for: event, at: 40)
        let left = try await surfaces.session(of: vip).session
        #expect(left.revision == 0 && left.dueAt == 40)
        #expect(try await surfaces.session(of: own).session.revision == 1)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an installation gets a session of a surface that its phone shows without being in the audience`(
        engine: OutboxEngine
    ) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let withdrawn = try await surfaces.putNew(.numbered(1))
        _ = try await surfaces.withdraw("order-1", of: "orders", if: .none, at: 20)
        let phone = try await outbox.installations.add(.numbered(1, user: "bob"))
        let current = try await surfaces.current(withdrawn)
        var event = try await surfaces.event()
        let membership = SurfaceMembership(of: event, in: [], showing: [current])
        try await surfaces.store([membership], at: 30)
        let due = try await surfaces.session(of: withdrawn)
        #expect(due.session.revision == 0 && due.session.dueAt == 30 && due.installation == phone)
        #expect(try await surfaces.store(due, state: "known", at: 30) == .stored)
        try await outbox.installations.change(phone) { $0.tags = ["new"] }
        event = try await surfaces.event()
        let changed = try await surfaces.session(of: withdrawn)
        try await surfaces.store([SurfaceMembership(of: event, in: [], showing: [current])], at: 40)
        #expect(try await surfaces.session(of: withdrawn) == changed, "it has a session")
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an old event changes nothing`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        var phone = try await outbox.installations.add(.numbered(1))
        let stored = try await surfaces.putNew(.numbered(1, to: Self.vip))
        #expect(try await surfaces.finish(stored, on: [phone]))
        let current = try await surfaces.current(stored)
        try await outbox.installations.change(phone) { $0.tags = ["other"] }
        let old = try await surfaces.event()
        phone = try await outbox.installations.change(phone) { $0.tags = ["vip"] }
        try await surfaces.store([], for: old, at: 20)
        #expect(try await surfaces.session(of: stored).session.revision == 1)
        let new = try await surfaces.event()
        #expect(new.installation == phone && new.number > old.number)
        // A page that names the installation replaces its event, whose surfaces may have been read before.
        let changed = try await surfaces.putNew(.numbered(1, to: .matching(.all)), at: 30)
        #expect(try await surfaces.finish(changed, on: [phone]))
        try await surfaces.store([], for: new, at: 40)
        #expect(try await surfaces.session(of: stored).session.revision == 2)
        let newest = try await surfaces.event()
        #expect(newest.installation == phone && newest.number > new.number)
        try await surfaces.store([current], for: newest, at: 50)
        #expect(try await surfaces.installationEvents(limit: 9).isEmpty)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an event leaves changed surfaces to their pages`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let phone = try await outbox.installations.add(.numbered(1))
        let shown = try await surfaces.putNew(.numbered(1, to: Self.vip))
        let new = try await surfaces.putNew(.numbered(2))
        #expect(try await surfaces.finish(shown, on: [phone]))
        try await outbox.installations.change(phone) { $0.tags = ["other"] }
        let event = try await surfaces.event()
        try await surfaces.putNew(.numbered(1, to: .matching(.tag("other"))), at: 20)
        try await surfaces.putNew(.numbered(2, request: "2"), at: 20)
        try await surfaces.store([new], for: event, at: 30)
        #expect(try await surfaces.installationEvents(limit: 9).isEmpty)
        #expect(try await surfaces.session(of: shown).session.revision == 1, "its pages come")
        #expect(try await surfaces.sessions(of: new).isEmpty)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an app with surfaces has one event for an installation`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let phone = try await outbox.installations.add(.numbered(1))
        #expect(try await surfaces.installationEvents(limit: 9).isEmpty, "there is no surface yet")
        try await surfaces.putNew(.numbered(1))
        let rides = try await outbox.installations.add(.numbered(2, app: "rides"))
        #expect(try await surfaces.installationEvents(limit: 9).isEmpty, "the app has no surface")
        let first = try await outbox.installations.change(phone) { $0.tags = ["vip"] }
        let event = try await surfaces.event()
        #expect(event.installation == first)
        let bob = try await outbox.installations.add(.numbered(3, user: "bob").with("bb"))
        let second = try await outbox.installations.change(phone) { $0.permissions[.alerts] = true }
        let events = try await surfaces.installationEvents(limit: 9)
        #expect(events.map(\.installation) == [bob, second])
        #expect(events.allSatisfy { $0.number > event.number })
        #expect(try await surfaces.installationEvents(limit: 1) == Array(events.prefix(1)))
        for event in events { try await surfaces.store([], for: event, at: 20) }
        _ = try await surfaces.withdraw("order-1", of: "orders", if: .none, at: 30)
        try await outbox.installations.change(phone) { $0.tags = [] }
        try await outbox.installations.change(rides) { $0.tags = ["vip"] }
        #expect(try await surfaces.event().installation.number == phone.number, "its phone may show it nevertheless")
        await outbox.close(isInOrder: true)
    }

    // MARK: Changes of installations

    /// Whether a session is due and its installation has an event; afterwards neither.
    private func takeChange(of stored: StoredSurface, in surfaces: any SurfaceStore) async throws -> [Bool] {
        let isDue = try await surfaces.session(of: stored).session.dueAt != nil
        let hasEvent = try await surfaces.installationEvents(limit: 9).count == 1
        try await surfaces.rest()
        return [isDue, hasEvent]
    }

    @Test(arguments: OutboxEngine.allCases)
    func `each change of an installation is noticed`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let (surfaces, installations) = (outbox.surfaces, outbox.installations)
        let phone = try await installations.add(.numbered(1).with("aa"))
        let stored = try await surfaces.putNew(.numbered(1))
        #expect(try await surfaces.finish(stored, on: [phone]))
        try await surfaces.rest()
        let (token, other) = (try DeviceToken(hex: "aa"), try DeviceToken(hex: "bb"))
        let activity = Installation.TokenSlot(.activity, "1")
        var (start, end) = (ActivityChange(), ActivityChange())
        start.surface = "order-1"
        end.end = Installation.Activity.End(.user, at: 150)
        let (started, ended) = (start, end)
        let changes: [@Sendable (inout InstallationChange) -> Void] = [
            { $0.tags = ["vip"] }, { $0.tags = ["new"] }, { $0.attributes[.locale] = .some("de") },
            { $0.permissions[.liveActivities] = .some(false) }, { $0.bundleID = "com.example.other" },
            { $0.tokens[activity] = .some(other) }, { $0.tokens.updateValue(nil, forKey: activity) },
            { $0.activities["1"] = .some(started) }, { $0.activities["1"] = .some(ended) },
            { $0.activities.updateValue(nil, forKey: "1") },
            { $0.environment = .development },
        ]
        for (index, change) in changes.enumerated() {
            try await installations.change(phone, at: 200, change)
            #expect(try await takeChange(of: stored, in: surfaces) == [true, true], "change \(index)")
        }
        // Reports of the same, with later times.
        try await installations.change(phone) { $0.tokens[.init(.device)] = .some(token) }
        _ = try await takeChange(of: stored, in: surfaces)
        for now in [300, 10_000_000] as [Int64] {
            try await installations.change(phone, at: now) { change in
                change.tokens[.init(.device)] = .some(token)
                change.tags = ["new"]
            }
            #expect(try await takeChange(of: stored, in: surfaces) == [false, false])
        }
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the loss of a token is noticed`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let (surfaces, installations) = (outbox.surfaces, outbox.installations)
        let phone = try await installations.add(.numbered(1).with("aa"))
        let other = try await installations.add(.numbered(2, user: "bob").with("bb"))
        let stored = try await surfaces.putNew(.numbered(1))
        #expect(try await surfaces.finish(stored, on: [phone]))
        try await surfaces.rest()
        _ = try await outbox.accept([.numbered(1, token: "aa")], at: 10)
        let claimed = try #require(try await outbox.claimAll(at: 10).first)
        let gone = Outcome(.refused, status: 410, reason: "Unregistered")
        try await outbox.settle([Settlement(claimed, .ended(gone), isTokenUnregistered: true)], at: 20)
        #expect(try await surfaces.session(of: stored).installation.installation.tokens.isEmpty)
        #expect(try await takeChange(of: stored, in: surfaces) == [true, true])
        try await installations.report("aa", of: phone.installation.id, at: 30)
        #expect(try await takeChange(of: stored, in: surfaces) == [true, true])
        // Another phone reports the token.
        try await installations.report("aa", of: other.installation.id, at: 40)
        #expect(try await surfaces.session(of: stored).session.dueAt == 30, "the last change of the phone itself")
        let events = try await surfaces.installationEvents(limit: 9)
        #expect(Set(events.map(\.installation.number)) == [phone.number, other.number])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an import is noticed, also of another user`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let stored = try await surfaces.putNew(.numbered(1))
        #expect(try await surfaces.finish(stored, on: []))
        let page = [try Installation.numbered(1).with("aa"), try Installation.numbered(2, user: "bob").with("bb")]
        #expect(try await outbox.installations.importPage(page, of: "orders", at: 100) == [.added, .added])
        #expect(try await surfaces.installationEvents(limit: 9).count == 2)
        try await surfaces.rest()
        #expect(try await surfaces.session(of: stored).session.revision == 1)
        #expect(try await outbox.installations.importPage(page, of: "orders", at: 200) == [.unchanged, .unchanged])
        #expect(try await takeChange(of: stored, in: surfaces) == [false, false])
        var moved = page[0]
        moved.user = "carl"
        #expect(try await outbox.installations.importPage([moved], of: "orders", at: 300) == [.changed])
        #expect(try await surfaces.session(of: stored).session.dueAt == 300)
        try await surfaces.rest()
        #expect(try await surfaces.session(of: stored).session.revision == 0)
        // An import that another one empties is removed.
        var taking = page[1]
        taking.tokens = moved.tokens
        #expect(try await outbox.installations.importPage([taking], of: "orders", at: 400) == [.changed])
        #expect(try await surfaces.sessions(of: stored).isEmpty)
        #expect(try await surfaces.installationEvents(limit: 9).map(\.installation.installation.user) == ["bob"])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a removed installation has no sessions and events`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let (surfaces, installations) = (outbox.surfaces, outbox.installations)
        let stored = try await surfaces.putNew(.numbered(1, to: .matching(.all)))
        var phones: [StoredInstallation] = []
        for (number, user) in ["anna", "anna", "bob", "carl"].enumerated() {
            phones.append(try await installations.add(.numbered(UInt64(number + 1), user: user)))
        }
        #expect(try await surfaces.finish(stored, on: phones))
        let due = try #require(try await surfaces.dueSessions(at: 10, limit: 9).first)
        let push = try OutboxPush.numbered(1)
        #expect(try await surfaces.store(due, pushes: [push]) == .stored)
        #expect(try await installations.removeUser("anna", of: "orders") == 2)
        #expect(try await installations.remove(phones[2].installation.id, of: "orders"))
        let left = [phones[3].number]
        #expect(try await surfaces.sessions(of: stored).map(\.installation.number) == left)
        #expect(try await surfaces.dueSessions(at: 10, limit: 9).map(\.installation.number) == left)
        #expect(try await surfaces.installationEvents(limit: 9).map(\.installation.number) == left)
        // A push of a removed session ends like any other.
        let claimed = try #require(try await outbox.claimAll(at: 20).first)
        try await outbox.end(claimed, at: 30)
        #expect(try await outbox.outcome(of: push)?.state == .delivered)
        #expect(try await surfaces.store(due) == .outdated)
        await outbox.close(isInOrder: true)
    }
}

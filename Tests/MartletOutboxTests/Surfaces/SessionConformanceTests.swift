// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import Testing

/// Tests of the steps of sessions, and of the results of their pushes, that every engine of the outbox passes.
@Suite(.timeLimit(.minutes(10))) struct SessionConformanceTests {
    /// Stores a surface with a session on a new phone, whose token is `aa`.
    private func makeSession(in outbox: any OutboxStore, user: String = "anna") async throws -> DueSession {
        let phone = try await outbox.installations.add(.numbered(1, user: user).with("aa"))
        let stored = try await outbox.surfaces.putNew(.numbered(1, to: .users([user])))
        #expect(try await outbox.surfaces.finish(stored, on: [phone]))
        return try await outbox.surfaces.session(of: stored)
    }

    /// Stores a surface with a session on each of three new phones.
    private func makeThreeSessions(in outbox: any OutboxStore) async throws -> [DueSession] {
        var phones: [StoredInstallation] = []
        for number in 1...3 as ClosedRange<UInt64> {
            phones.append(try await outbox.installations.add(.numbered(number)))
        }
        let stored = try await outbox.surfaces.putNew(.numbered(1))
        #expect(try await outbox.surfaces.finish(stored, on: phones))
        let due = try await outbox.surfaces.sessions(of: stored)
        try #require(due.map(\.installation.number) == phones.map(\.number))
        return due
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a step is stored once, with its pushes`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let due = try await makeSession(in: outbox)
        let pushes = try (1...2).map { try OutboxPush.numbered($0, token: "aa", user: "anna") }
        let step = SessionStep(of: due, state: Array("first".utf8), dueAt: 60, pushes: pushes)
        #expect(try await outbox.surfaces.store([step], at: 20) == StoredSteps(results: [.stored]))
        #expect(try await outbox.surfaces.store([step], at: 20).results == [.outdated])
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        let surfaces = outbox.surfaces
        let stored = try await surfaces.session(of: due.surface)
        #expect(stored.session.number == due.session.number && stored.session.version > due.session.version)
        #expect(stored.session.state == Array("first".utf8) && stored.session.dueAt == 60)
        #expect(stored.session.results.isEmpty && !stored.session.isDamaged)
        #expect(try await surfaces.dueSessions(at: 59, limit: 9).isEmpty)
        #expect(try await surfaces.dueSessions(at: 60, limit: 9) == [stored])
        let claimed = try await outbox.claimAll(at: 30)
        #expect(claimed.map(\.push.id) == pushes.map(\.id))
        #expect(claimed.allSatisfy { $0.push.session == due.session.number && !$0.isDamaged && !$0.hasFormerUser })
        #expect(try await surfaces.store([] as [SessionStep], at: 30) == StoredSteps())
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the status of a push has its surface`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let due = try await makeSession(in: outbox)
        let push = try OutboxPush.numbered(1, token: "aa")
        #expect(try await outbox.surfaces.store(due, pushes: [push]) == .stored)
        let other = try OutboxPush.numbered(2, token: "aa")
        _ = try await outbox.accept([other], at: 20)
        #expect(due.place.surface == "order-1")
        #expect(try await outbox.status(of: push.id, of: "orders")?.surface == due.place)
        for claimed in try await outbox.claimAll(at: 30) { try await outbox.end(claimed, at: 30) }
        let status = try await outbox.status(of: push.id, of: "orders")
        #expect(status?.outcome?.state == .delivered && status?.surface == due.place)
        #expect(try await outbox.status(of: other.id, of: "orders")?.surface == nil)
        #expect(try await outbox.installations.remove(due.installation.installation.id, of: "orders"))
        #expect(try await outbox.status(of: push.id, of: "orders")?.surface == nil)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a step is outdated after any change`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        var due = try await makeSession(in: outbox)
        let first = try OutboxPush.numbered(1, token: "aa")
        #expect(try await surfaces.store(due, pushes: [first]) == .stored)
        let waiting = try await surfaces.session(of: due.surface)
        #expect(waiting.session.dueAt == nil)
        for change in 0..<4 {
            due = try await surfaces.session(of: due.surface)
            switch change {
            case 0: #expect(try await surfaces.store(due, state: "other") == .stored)
            case 1: #expect(try await outbox.cancel(first.id, of: "orders", at: 30) != nil)
            case 2: try await outbox.installations.report("bb", of: due.installation.installation.id, at: 40)
            default:
                let changed = try await surfaces.putNew(.numbered(1, request: "2"))
                #expect(try await surfaces.finish(changed, on: []))
            }
            let push = try OutboxPush.numbered(UInt64(change) + 2, token: "aa")
            let result = try await surfaces.store(due, state: "late", isFinished: true, pushes: [push])
            #expect(result == .outdated, "change \(change)")
            #expect(try await outbox.status(of: push.id, of: "orders") == nil)
        }
        let current = try await surfaces.session(of: due.surface).session
        #expect(current.state == Array("other".utf8) && current.results.map(\.id) == [first.id] && current.dueAt == 10)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `every end of a push is a result, in their order`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var outbox = try await place.open()
        let due = try await makeSession(in: outbox)
        var pushes = try (1...6).map { try OutboxPush.numbered($0, token: $0 == 2 ? "cc" : "aa") }
        pushes[3].expiresAt = 40
        pushes[5].lane = .orderTests
        #expect(try await outbox.surfaces.store(due, pushes: pushes) == .stored)
        _ = try await outbox.accept([.numbered(9, token: "aa")], at: 20)
        let claimed = try await outbox.claim(.orders, .immediate, limit: 3, at: 20).pushes
        #expect(claimed.map(\.push.id) == pushes[..<3].map(\.id))
        for (number, push) in claimed.enumerated() {
            let outcomes = [Outcome(.delivered, status: 200), Outcome(.refused, status: 410), Outcome(.dead)]
            let settlement = Settlement(push, .ended(outcomes[number]), isTokenUnregistered: number == 1)
            try await outbox.settle([settlement], at: 30 + Int64(number))
        }
        await outbox.close(isInOrder: true)
        outbox = try await place.open()
        #expect(try await outbox.expire(at: 40, limit: 9).map(\.id) == [pushes[3].id])
        _ = try await outbox.cancel(pushes[4].id, of: "orders", at: 50)
        #expect(try await outbox.purge(.orderTests, upTo: nil, limit: 9, at: 60).pushes.count == 1)
        let session = try await outbox.surfaces.session(of: due.surface)
        let results = [
            SessionResult(id: pushes[0].id, state: .delivered, status: 200, endedAt: 30),
            SessionResult(id: pushes[1].id, state: .refused, status: 410, endedAt: 31),
            SessionResult(id: pushes[2].id, state: .dead, status: nil, endedAt: 32),
            SessionResult(id: pushes[3].id, state: .expired, status: nil, endedAt: 40),
            SessionResult(id: pushes[4].id, state: .cancelled, status: nil, endedAt: 50),
            SessionResult(id: pushes[5].id, state: .cancelled, status: nil, endedAt: 60),
        ]
        #expect(session.session.results == results && session.session.dueAt == 30)
        // The push of a caller is none of them, and a step takes the results.
        for push in try await outbox.claimAll(at: 70) { try await outbox.end(push, at: 70) }
        #expect(try await outbox.surfaces.session(of: due.surface) == session)
        #expect(try await outbox.surfaces.store(session, dueAt: 90) == .stored)
        let after = try await outbox.surfaces.session(of: due.surface).session
        #expect(after.results.isEmpty && after.dueAt == 90)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a step sends an alert in place of one that it cancels`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        var due = try await makeSession(in: outbox)
        let alerts = try (UInt64(1)...3).map { number in
            var alert = try OutboxPush.numbered(number, token: "aa", notBefore: 100, user: "anna")
            alert.alertLimit = AlertLimit(perDay: 1, request: APNsID(randomBits: (number, 1 << 32)))
            return alert
        }
        #expect(try await outbox.surfaces.store(due, pushes: [alerts[0]]) == .stored)
        for place in 1...2 {
            due = try await outbox.surfaces.session(of: due.surface)
            let (old, new) = (alerts[place - 1], alerts[place])
            #expect(try await outbox.surfaces.store(due, cancelled: [old.id], pushes: [new]) == .stored)
            #expect(try await outbox.outcome(of: old) == Outcome(.cancelled))
            #expect(try await outbox.status(of: new.id, of: "orders")?.state == .accepted)
        }
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `an accepted push waits for the next step`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        var due = try await makeSession(in: outbox)
        let expected: [(dueAt: Int64?, after: Int64)] = [(nil, 30), (500, 500), (50_000, 10_030)]
        for (number, (dueAt, after)) in expected.enumerated() {
            let push = try OutboxPush.numbered(UInt64(number) + 1, token: "aa")
            #expect(try await surfaces.store(due, dueAt: dueAt, pushes: [push]) == .stored)
            let sent = try await surfaces.session(of: due.surface).session
            for push in try await outbox.claimAll(at: 20) { try await outbox.end(push, at: 30) }
            due = try await surfaces.session(of: due.surface)
            #expect(due.session.dueAt == after && due.session.version > sent.version)
            #expect(due.session.results.map(\.id) == [push.id])
        }
        // Any other end makes the session due at once.
        let push = try OutboxPush.numbered(9, token: "aa")
        #expect(try await surfaces.store(due, dueAt: 500, pushes: [push]) == .stored)
        #expect(try await outbox.cancel(push.id, of: "orders", at: 40) != nil)
        #expect(try await surfaces.session(of: due.surface).session.dueAt == 40)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the removal of a user's pushes is a result`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let due = try await makeSession(in: outbox)
        let push = try OutboxPush.numbered(1, token: "aa", user: "anna")
        #expect(try await outbox.surfaces.store(due, pushes: [push]) == .stored)
        #expect(try await outbox.erasePushes(ofUser: "anna", at: 30).flatMap(\.cancelled).map(\.id) == [push.id])
        let result = SessionResult(id: push.id, state: .cancelled, status: nil, endedAt: 30)
        #expect(try await outbox.surfaces.session(of: due.surface).session.results == [result])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a superseded push is a result`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let due = try await makeSession(in: outbox)
        let pushes = try (1...4).map { try OutboxPush.numbered($0, token: "aa", orderKey: "order-1") }
        let first = [pushes[0], pushes[1].superseding]
        #expect(try await surfaces.store(due, dueAt: 500, pushes: first, at: 20) == .stored)
        #expect(try await outbox.accept([pushes[2].superseding], at: 30)[0].superseded.map(\.id) == [pushes[1].id])
        let session = try await surfaces.session(of: due.surface)
        let results = [
            SessionResult(id: pushes[0].id, state: .superseded, status: nil, endedAt: 20),
            SessionResult(id: pushes[1].id, state: .superseded, status: nil, endedAt: 30),
        ]
        #expect(session.session.results == results && session.session.dueAt == 20)
        // A push that a step replaces is counted as ended, and is no result of its session if a caller sent it.
        #expect(try await surfaces.store(session, dueAt: 600, pushes: [pushes[3].superseding], at: 40) == .stored)
        let after = try await surfaces.session(of: due.surface).session
        #expect(after.results.isEmpty && after.dueAt == 600)
        #expect(try await outbox.outcome(of: pushes[2])?.state == .superseded)
        #expect(try await outbox.backlog().reduce(0) { $0 + $1.count } == 1)
        #expect(try await outbox.claimAll(at: 50).map(\.push.id) == [pushes[3].id])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push that was not stored is cancelled`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let due = try await makeSession(in: outbox)
        // Apple has reported a token as unregistered.
        _ = try await outbox.accept([.numbered(9, token: "cc")], at: 10)
        let claimed = try #require(try await outbox.claimAll(at: 10).first)
        let gone = Outcome(.refused, status: 410, reason: "Unregistered")
        try await outbox.settle([Settlement(claimed, .ended(gone), isTokenUnregistered: true)], at: 20)
        let pushes = [
            try OutboxPush.numbered(1, token: "aa", user: "bob"), try OutboxPush.numbered(2, token: "aa"),
            try OutboxPush.numbered(3, token: "cc"),
        ]
        #expect(try await surfaces.store(due, dueAt: 500, pushes: pushes, at: 30) == .stored)
        let session = try await surfaces.session(of: due.surface).session
        let results = [pushes[0], pushes[2]].map { push in
            SessionResult(id: push.id, state: .cancelled, status: nil, endedAt: 30)
        }
        #expect(session.results == results && session.dueAt == 30)
        #expect(try await outbox.claimAll(at: 40).map(\.push.id) == [pushes[1].id])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push of several sessions is stored once`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let due = try await makeThreeSessions(in: outbox)
        // A broadcast, on which each of the sessions has decided.
        var push = try OutboxPush.numbered(1, orderKey: "channel")
        push.destination = .channel("Y2hhbm5lbA==", bundle: "com.example.orders")
        let steps = due[..<2].map { SessionStep(of: $0, state: [], dueAt: 500, pushes: [push]) }
        #expect(try await surfaces.store(steps, at: 20) == StoredSteps(results: [.stored, .stored]))
        let claimed = try await outbox.claimAll(at: 30)
        #expect(claimed.map(\.push.session) == [due[0].session.number])
        #expect(claimed.map(\.push.destination) == [push.destination])
        for push in claimed { try await outbox.end(push, at: 40) }
        #expect(try await surfaces.store(due[2], dueAt: 500, pushes: [push], at: 50) == .stored)
        #expect(try await outbox.claimAll(at: 60).isEmpty)
        let sessions = try await surfaces.sessions(of: due[0].surface).map(\.session)
        #expect(sessions.map { $0.results.map(\.state) } == [[.delivered], [.cancelled], [.cancelled]])
        #expect(sessions.map(\.dueAt) == [500, 20, 50])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a step with too many pushes is not stored`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open(limit: 2)
        let surfaces = outbox.surfaces
        let due = try await makeSession(in: outbox)
        let pushes = try (1...3).map { try OutboxPush.numbered($0, token: "aa") }
        #expect(try await surfaces.store(due, state: "full", pushes: pushes) == .full)
        #expect(try await surfaces.session(of: due.surface) == due)
        #expect(try await outbox.status(of: pushes[0].id, of: "orders") == nil)
        #expect(try await surfaces.store(due, pushes: Array(pushes[..<2])) == .stored)
        let next = try await surfaces.session(of: due.surface)
        #expect(try await surfaces.store(next, pushes: [pushes[2]]) == .full)
        #expect(try await surfaces.store(next, state: "without") == .stored)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a step cancels pushes that are not claimed`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        var due = try await makeSession(in: outbox)
        let pushes = try (1...4).map { try OutboxPush.numbered($0, token: "aa", orderKey: "order-1") }
        #expect(try await surfaces.store(due, pushes: Array(pushes[..<3])) == .stored)
        let claimed = try await outbox.claimAll(at: 20)
        #expect(claimed.map(\.push.id) == [pushes[0].id])
        due = try await surfaces.session(of: due.surface)
        let other = try OutboxPush.numbered(9, token: "aa")
        _ = try await outbox.accept([other], at: 20)
        let cancelled = pushes[..<3].map(\.id) + [other.id, try OutboxPush.numbered(10).id]
        let step = SessionStep(of: due, state: [], dueAt: 90, cancelled: cancelled, pushes: [pushes[3]])
        let stored = try await surfaces.store([step], at: 30)
        #expect(stored.results == [.stored] && stored.cancelled.map(\.id) == [pushes[1].id, pushes[2].id])
        for status in stored.cancelled {
            #expect(status.lane == .orders && status.state == .ended(Outcome(.cancelled), at: 30))
        }
        let session = try await surfaces.session(of: due.surface).session
        #expect(session.results.map(\.id) == [pushes[1].id, pushes[2].id] && session.dueAt == 30)
        #expect(session.results.allSatisfy { $0.state == .cancelled && $0.endedAt == 30 })
        #expect(try await outbox.status(of: pushes[0].id, of: "orders")?.state == .inFlight)
        for push in claimed { try await outbox.end(push, at: 40) }
        #expect(Set(try await outbox.claimAll(at: 50).map(\.push.id)) == [pushes[3].id, other.id])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a finished session is removed`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        var due = try await makeSession(in: outbox)
        let pushes = try (1...2).map { try OutboxPush.numbered($0, token: "aa") }
        #expect(try await surfaces.store(due, pushes: pushes) == .stored)
        due = try await surfaces.session(of: due.surface)
        #expect(try await surfaces.store(due, isFinished: true, cancelled: [pushes[0].id]) == .stored)
        #expect(try await surfaces.sessions(of: due.surface).isEmpty)
        #expect(try await surfaces.store(due) == .outdated)
        #expect(try await outbox.outcome(of: pushes[0])?.state == .cancelled)
        for push in try await outbox.claimAll(at: 20) { try await outbox.end(push, at: 20) }
        #expect(try await outbox.outcome(of: pushes[1])?.state == .delivered)
        // The results of the earlier session are none of a new one.
        let changed = try await surfaces.putNew(.numbered(1, request: "2"))
        #expect(try await surfaces.finish(changed, on: [due.installation]))
        let next = try await surfaces.session(of: due.surface).session
        #expect(next.number > due.session.number && next.state.isEmpty && next.results.isEmpty)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `steps are stored together, each if it can be`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let due = try await makeThreeSessions(in: outbox)
        #expect(try await surfaces.store(due[1], dueAt: 70) == .stored)
        let steps = try due.enumerated().map { index, due in
            SessionStep(
                of: due,
                state: Array("together".utf8),
                dueAt: 80 - Int64(index),
                pushes: [try OutboxPush.numbered(UInt64(index) + 1)]
            )
        }
        #expect(try await surfaces.store(steps, at: 20).results == [.stored, .outdated, .stored])
        #expect(
            try await outbox.claimAll(at: 20).map(\.push.session) == [due[0].session.number, due[2].session.number]
        )
        let order = try await surfaces.dueSessions(at: 90, limit: 9).map(\.installation.number)
        #expect(order == [1, 2, 0].map { due[$0].installation.number }, "longest waiting first")
        let ends = try await surfaces.dueSessions(at: 90, limit: 2).map(\.installation.number)
        #expect(
            ends == [1, 0].map { due[$0].installation.number },
            "the longest waiting, and the one that became due last"
        )
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a change of a large surface comes first to reachable phones`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        let due = try await makeThreeSessions(in: outbox)
        let phones = due.map(\.installation)
        for (index, session) in due.enumerated() {
            #expect(try await surfaces.store(session, isReachable: index > 0) == .stored)
        }
        let changed = try await surfaces.putNew(.numbered(1, request: "2"), at: 20)
        let first = SurfacePage(of: changed, next: phones[1].number, installations: phones[..<2].map(\.number))
        #expect(try await surfaces.store(first, at: 20))
        #expect(try await surfaces.finish(changed, on: [phones[2]], at: 30))
        let dueAt = try await surfaces.sessions(of: changed).map(\.session.dueAt)
        #expect(dueAt == [20 + SurfacePage.unreachableDelay, 20, 30])
        // A surface with one page is a small one.
        try await surfaces.rest()
        let unreachable = try await surfaces.sessions(of: changed)[0]
        #expect(try await surfaces.store(unreachable, isReachable: false) == .stored)
        let small = try await surfaces.putNew(.numbered(1, request: "3"), at: 40)
        #expect(try await surfaces.finish(small, on: phones, at: 40))
        #expect(try await surfaces.sessions(of: small).map(\.session.dueAt) == [40, 40, 40])
        await outbox.close(isInOrder: true)
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

/// The engines against the model, with random surfaces, pages, steps, ends of pushes and changes of installations.
@Suite(.timeLimit(.minutes(10))) struct SurfaceAgreementTests {
    /// A step, the same for the model and the engine.
    private enum Step: Sendable {
        case put(Surface, SurfacePrecondition)
        case withdraw(String, String)
        /// Stores the next page, of this number of examined installations, or one of another revision.
        case page(String, String, limit: Int, isOld: Bool)
        /// Stores the surfaces of all events, as they are or as they were before a surface.
        case events(beforePut: Surface?)
        /// Stores the step of one of the sessions that are due, or of an earlier version.
        case session(Int, state: UInt8, dueAt: Int64?, cancelled: [APNsID], [OutboxPush], isOld: Bool)
        case endSurfaces(before: Int64)
        case claim
        /// Settles the claimed pushes, each as its identifier determines.
        case settle
        case cancelPush(APNsID, String)
        case expire
        case enroll(Installation)
        case importPage([Installation], String)
        case report(InstallationID, String, InstallationChange)
        case remove(InstallationID, String)
        case removeUser(String, String)
        case restart(isInOrder: Bool)
    }

    private struct Steps {
        static let apps = ["orders", "rides"]
        private static let users = ["anna", "bob", "é", "e\u{301}"]
        private static let tokens = ["aa", "bb", "cc", "dd", "ee"]
        private static let tags = ["vip", "new"]
        private static let conditions: [SurfacePrecondition] = [.none, .none, .isAbsent, .hasRevision(1)]

        var random: SplitMix64
        var now: Int64 = 1_000
        private var phones: [(id: InstallationID, app: String)] = []
        private var pushes: [OutboxPush] = []
        private var number: UInt64 = 0

        init(seed: UInt64) { random = SplitMix64(state: seed) }

        private mutating func pick<Element>(_ elements: [Element]) -> Element? {
            elements.randomElement(using: &random)
        }

        private mutating func happens(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

        private mutating func app() -> String { happens(in: 4) ? "rides" : "orders" }

        private mutating func id() -> String { "order-\(Int.random(in: 1...4, using: &random))" }

        private mutating func surface() throws -> Surface {
            let audience: SurfaceAudience
            switch Int.random(in: 0..<6, using: &random) {
            case 0..<2: audience = .users([pick(Self.users) ?? "", pick(Self.users) ?? ""])
            case 2: audience = .installation(pick(phones)?.id ?? Installation.numbered(1).id)
            case 3: audience = .matching(.all)
            default: audience = .matching(.tag(pick(Self.tags) ?? ""))
            }
            var surface = Surface.numbered(1, app: app(), to: audience, request: pick(["1", "2"]) ?? "")
            surface.id = id()
            if happens(in: 4) { surface.endsAt = now + .random(in: 1...300, using: &random) }
            if happens(in: 2) {
                surface.channel = pick(["X", "Y"])
                // The request names the channel, so that the fingerprint differs, too.
                surface.fingerprint += Array((surface.channel ?? "").utf8)
            }
            return surface
        }

        private mutating func session() throws -> Step {
            var new: [OutboxPush] = []
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                number += 1
                let push = try OutboxPush.numbered(
                    number,
                    token: pick(Self.tokens) ?? "",
                    expiresAt: happens(in: 4) ? now + .random(in: 1...200, using: &random) : nil,
                    orderKey: happens(in: 3) ? "order" : nil,
                    user: happens(in: 3) ? pick(Self.users) : nil
                )
                new.append(happens(in: 3) ? push.superseding : push)
            }
            let cancelled = happens(in: 2) ? [pick(pushes), pick(pushes)].compactMap { $0?.id } : []
            pushes += new
            return .session(
                Int.random(in: 0..<100, using: &random),
                state: .random(in: 0...255, using: &random),
                dueAt: happens(in: 2) ? nil : now + .random(in: 0...200, using: &random),
                cancelled: cancelled,
                new,
                isOld: happens(in: 8)
            )
        }

        private mutating func installation(_ app: String) throws -> Installation {
            number += 1
            var new = Installation(
                id: InstallationID(milliseconds: now, using: &random),
                app: app,
                user: pick(Self.users) ?? "",
                environment: .production,
                bundleID: "com.example",
                at: now
            )
            new.tokens[.init(.device)] = .init(try DeviceToken(hex: pick(Self.tokens) ?? ""), registeredAt: now)
            if happens(in: 2) { new.tags = [pick(Self.tags) ?? ""] }
            return new
        }

        private mutating func report() throws -> Step? {
            guard let phone = pick(phones) else { return nil }
            var change = InstallationChange()
            switch Int.random(in: 0..<6, using: &random) {
            case 0: change.tags = happens(in: 3) ? [] : [pick(Self.tags) ?? ""]
            case 1: change.tokens[.init(.device)] = .some(try DeviceToken(hex: pick(Self.tokens) ?? ""))
            case 2: change.tokens.updateValue(nil, forKey: .init(.device))
            case 3: change.permissions[.liveActivities] = .some(happens(in: 2))
            case 4:
                var activity = ActivityChange()
                activity.surface = id()
                change.activities.updateValue(happens(in: 3) ? nil : activity, forKey: "1")
            default: change.attributes[.locale] = .some(pick(["de", "en"]) ?? "")
            }
            return .report(phone.id, phone.app, change)
        }

        private mutating func importPage() throws -> Step {
            let app = app()
            var new = try installation(app)
            if happens(in: 2), let known = pick(phones) { new.id = known.id }
            phones.append((new.id, app))
            return .importPage([new], app)
        }

        private mutating func enroll() throws -> Step {
            let new = try installation(app())
            phones.append((new.id, new.app))
            return .enroll(new)
        }

        mutating func next() throws -> Step {
            now += .random(in: 1...30, using: &random)
            let step: Step? =
                switch Int.random(in: 0..<50, using: &random) {
                case 0..<5: .put(try surface(), pick(Self.conditions) ?? SurfacePrecondition.none)
                case 5: .withdraw(id(), app())
                case 6..<14: .page(id(), app(), limit: .random(in: 1...4, using: &random), isOld: happens(in: 8))
                case 14..<18: .events(beforePut: happens(in: 4) ? try surface() : nil)
                case 18..<30: try session()
                case 30: .endSurfaces(before: now - .random(in: 0...300, using: &random))
                case 31..<33: .claim
                case 33..<36: .settle
                case 36: pick(pushes).map { .cancelPush($0.id, $0.lane.app) }
                case 37: .expire
                case 38..<41: try enroll()
                case 41..<43: try importPage()
                case 43..<47: try report()
                case 47: pick(phones).map { .remove($0.id, $0.app) }
                case 48: happens(in: 3) ? .removeUser(pick(Self.users) ?? "", app()) : nil
                default: happens(in: 2) ? .restart(isInOrder: happens(in: 2)) : nil
                }
            guard let step else { return try next() }
            return step
        }
    }

    /// An outbox that steps are performed on.
    private struct World {
        let place: OutboxEngine.Place
        var outbox: any OutboxStore
        private var claimed: [ClaimedPush] = []

        init(_ engine: OutboxEngine) async throws {
            place = try await engine.place()
            outbox = try await place.open()
        }

        /// Performs a step, and describes what it returned.
        mutating func perform(_ step: Step, at now: Int64) async throws -> String {
            let (surfaces, installations) = (outbox.surfaces, outbox.installations)
            switch step {
            case .put(let surface, let condition):
                return describe(try await surfaces.put(surface, if: condition, limit: 3, at: now))
            case .withdraw(let id, let app):
                return describe(try await surfaces.withdraw(id, of: app, if: .none, at: now))
            case .page(let id, let app, let limit, let isOld):
                guard var stored = try await surfaces.surface(id, of: app), stored.cursor != nil else { return "none" }
                if isOld { stored.revision -= 1 }
                let next = try await page(of: stored, limit: limit)
                return "\(try await surfaces.store(next, at: now))"
            case .events(let put): return try await takeEvents(beforePut: put, at: now)
            case .session(let index, let state, let dueAt, let cancelled, let pushes, let isOld):
                let found = try await surfaces.dueSessions(at: now, limit: 1_000).sorted { name($0) < name($1) }
                guard !found.isEmpty else { return "none" }
                var due = found[index % found.count]
                if isOld { due.session.version -= 1 }
                let step = SessionStep(
                    of: due,
                    state: [state],
                    dueAt: dueAt,
                    isReachable: !state.isMultiple(of: 3),
                    isFinished: due.session.revision == 0 && state.isMultiple(of: 2),
                    cancelled: cancelled,
                    pushes: pushes.map { push in
                        var push = push
                        push.lane.app = due.surface.surface.app
                        return push
                    }
                )
                let stored = try await surfaces.store([step], at: now)
                return "\(name(due)) \(stored.cancelled.map(\.id.description).sorted()) \(stored.results)"
            case .endSurfaces(let time):
                return "\(try await surfaces.endSurfaces(withdrawnBefore: time, at: now, limit: 1_000))"
            case .enroll(let new): return "\(try await installations.enroll(new, at: now) != nil)"
            case .importPage(let page, let app):
                return "\(try await installations.importPage(page, of: app, at: now))"
            case .report(let id, let app, let change):
                guard let stored = try await installations.installation(id, of: app) else { return "unknown" }
                var new = stored.installation
                try new.apply(change, at: now, by: .app)
                return "\(try await installations.replace(stored, with: new))"
            case .remove(let id, let app): return "\(try await installations.remove(id, of: app))"
            case .removeUser(let user, let app):
                let phones = try await installations.installations(of: app, .user(user), after: 0, limit: 1_000)
                let removed = try await installations.removeUser(user, of: app)
                try await surfaces.removeUser(user, with: phones.map(\.installation.id), of: app, at: now)
                return "\(removed)"
            default: return try await performOnPushes(step, at: now)
            }
        }

        private mutating func performOnPushes(_ step: Step, at now: Int64) async throws -> String {
            switch step {
            case .claim:
                var new: [ClaimedPush] = []
                for app in Steps.apps {
                    new += try await outbox.claimAll(Lane(app: app, environment: .production), at: now)
                }
                claimed += new
                return "\(new.map(\.push.id.description).sorted())"
            case .settle:
                for push in claimed.sorted(by: { $0.push.id.description < $1.push.id.description }) {
                    let isGone = push.push.id.description.last == "2"
                    let outcome = isGone ? Outcome(.refused, status: 410) : Outcome(.delivered, status: 200)
                    let settlement = Settlement(push, .ended(outcome), isTokenUnregistered: isGone)
                    try await outbox.settle([settlement], at: now)
                }
                claimed = []
                return ""
            case .cancelPush(let id, let app):
                let status = try await outbox.cancel(id, of: app, at: now)
                return status.map { "\($0.state)" } ?? "unknown"
            case .expire:
                return "\(try await outbox.expire(at: now, limit: 1_000).map(\.id.description).sorted())"
            case .restart(let isInOrder):
                claimed = []
                await outbox.close(isInOrder: isInOrder)
                outbox = try await place.open()
                return ""
            default: return ""
            }
        }

        /// Returns the next page of a surface, as a relay makes it.
        private func page(of stored: StoredSurface, limit: Int) async throws -> SurfacePage {
            guard stored.withdrawnAt == nil else { return SurfacePage(of: stored, next: nil, installations: []) }
            let examined = try await outbox.installations.installations(
                of: stored.surface.app,
                .all,
                after: stored.cursor ?? 0,
                limit: limit
            )
            let members = examined.filter { isMember($0, of: stored) }
            let next = examined.count == limit ? examined.last?.number : nil
            return SurfacePage(of: stored, next: next, installations: members.map(\.number))
        }

        private func isMember(_ phone: StoredInstallation, of stored: StoredSurface) -> Bool {
            switch stored.surface.audience {
            case .users(let users): users.contains { $0.utf8.elementsEqual(phone.installation.user.utf8) }
            case .installation(let id): id == phone.installation.id
            case .matching(let expression): expression.matches(phone.installation)
            }
        }

        private func takeEvents(beforePut put: Surface?, at now: Int64) async throws -> String {
            let surfaces = outbox.surfaces
            var taken: [SurfaceMembership] = []
            for event in try await surfaces.installationEvents(limit: 1_000) {
                let phone = event.installation.installation
                let own = try await surfaces.surfaces(for: phone.user, phone.id, of: phone.app)
                let others = try await surfaces.surfacesWithExpression(of: phone.app)
                let members = own + others.filter { isMember(event.installation, of: $0) }
                var shown: [StoredSurface] = []
                for id in Set(phone.activities.values.map(\.surface)).subtracting(members.map(\.surface.id)).sorted() {
                    if let surface = try await surfaces.surface(id, of: phone.app) { shown.append(surface) }
                }
                taken.append(SurfaceMembership(of: event, in: members, showing: shown))
            }
            if let put { _ = try await surfaces.put(put, if: .none, limit: 3, at: now) }
            try await surfaces.store(taken, at: now)
            return "\(taken.map { $0.event.installation.installation.id.description }.sorted())"
        }

        /// The surfaces, sessions and events; without numbers and versions, which may have gaps.
        func state(at now: Int64) async throws -> [String] {
            let surfaces = outbox.surfaces
            var state: [String] = []
            for app in Steps.apps {
                for stored in try await surfaces.surfaces(of: app, after: 0, limit: 1_000) {
                    state.append(describe(stored))
                    for due in try await surfaces.sessions(of: stored, after: 0, limit: 1_000) {
                        let results = due.session.results.map { "\($0.id) \($0.state) \($0.status ?? 0) \($0.endedAt)" }
                        state.append(
                            "\(name(due)) \(due.session.revision) \(due.session.state)"
                                + " \(due.session.dueAt.map { "\($0)" } ?? "waits") \(results.sorted())"
                        )
                    }
                }
            }
            state += try await surfaces.surfaceCounts().map { "\($0.key) has \($0.value)" }.sorted()
            state += try await surfaces.unfinishedSurfaces(limit: 1_000).map { $0.surface.app + $0.surface.id }.sorted()
            state += try await surfaces.dueSessions(at: now, limit: 1_000).map { name($0) }.sorted()
            let events = try await surfaces.installationEvents(limit: 1_000)
            return state + events.map(\.installation.installation.id.description).sorted()
        }

        private func name(_ due: DueSession) -> String {
            "\(due.surface.surface.app) \(due.surface.surface.id) \(due.installation.installation.id)"
        }

        private func describe(_ change: SurfaceChange) -> String {
            switch change {
            case .changed(let stored): "changed " + describe(stored)
            case .unchanged(let stored): "unchanged " + describe(stored)
            case .refused(let stored): "refused " + (stored.map { describe($0) } ?? "")
            case .channelInUse(let id): "channel in use by \(id)"
            case .full: "full"
            }
        }

        private func describe(_ stored: StoredSurface) -> String {
            let cursor = stored.cursor.map { $0 == 0 ? "new" : "partial" } ?? "finished"
            return "\(stored.surface.app) \(stored.surface.id) \(stored.revision) \(stored.surface.request)"
                + " \(stored.surface.audience) \(stored.surface.endsAt ?? 0) \(stored.createdAt) \(stored.changedAt)"
                + " \(stored.withdrawnAt ?? 0) \(cursor) \(stored.surface.channel ?? "")"
        }
    }

    @Test(arguments: OutboxEngine.stores, 1...6 as ClosedRange<UInt64>)
    func `every engine agrees with the model`(engine: OutboxEngine, seed: UInt64) async throws {
        var model = try await World(.model)
        var world = try await World(engine)
        var steps = Steps(seed: seed)
        var stored = 0
        for index in 0..<400 {
            let step = try steps.next()
            let expected = try await model.perform(step, at: steps.now)
            let found = try await world.perform(step, at: steps.now)
            if expected.hasSuffix("stored]") { stored += 1 }
            try #require(found == expected, "seed \(seed), step \(index): \(step)")
            let ours = try await model.state(at: steps.now)
            let theirs = try await world.state(at: steps.now)
            try #require(theirs == ours, "seed \(seed), after step \(index): \(step)")
        }
        #expect(stored > 10, "the steps store too few steps of sessions to prove much")
        await world.outbox.close(isInOrder: true)
    }
}

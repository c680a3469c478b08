// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

/// The engines against the model, with random enrollments, reports, 410s and removals.
@Suite(.timeLimit(.minutes(10))) struct InstallationAgreementTests {
    /// A step, the same for the model and the engine, so that what each returns can be compared.
    private enum Step: Sendable {
        case ticket(EnrollmentTicket)
        case enroll(Enrollment)
        case importPage([Installation], String)
        case report(InstallationID, String, InstallationChange)
        case remove(InstallationID, String)
        case removeUser(String, String)
        case accept(OutboxPush)
        case unregister(Lane, apple: Int64?)
    }

    private struct Steps {
        static let apps = ["orders", "rides"]
        static let users = ["anna", "bert", "é", "e\u{301}"]
        private static let tokens = ["aa", "bb", "cc", "dd"]
        private static let tags = ["vip", "de", "new"]

        var random: SplitMix64
        var now: Int64 = 1_000
        private var issued: [EnrollmentTicket] = []
        private var known: [(id: InstallationID, app: String)] = []
        private var secrets: [[UInt8]] = []
        private var number: UInt8 = 0

        init(seed: UInt64) { random = SplitMix64(state: seed) }

        private mutating func pick<Element>(_ elements: [Element]) -> Element? {
            elements.randomElement(using: &random)
        }

        private mutating func slot() -> Installation.TokenSlot {
            let started: [Installation.TokenSlot] = [.init(.start, "Order"), .init(.start, "Ride")]
            return pick(started + [.init(.activity, "1"), .init(.device)]) ?? .init(.device)
        }

        private mutating func change() throws -> InstallationChange {
            var change = InstallationChange()
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let hex = Bool.random(using: &random) ? pick(Self.tokens) : nil
                change.tokens.updateValue(try hex.map { try DeviceToken(hex: $0) }, forKey: slot())
            }
            if Int.random(in: 0..<8, using: &random) == 0 { change.environment = pick(PushEnvironment.allCases) }
            if Int.random(in: 0..<8, using: &random) == 0 { change.removedKinds = [.start] }
            if Int.random(in: 0..<8, using: &random) == 0 { change.removedKinds.insert(.activity) }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                change.activities.updateValue(activity(), forKey: pick(["1", "2", "3"]) ?? "")
            }
            if Bool.random(using: &random) { change.tags = Set([pick(Self.tags), pick(Self.tags)].compactMap(\.self)) }
            change.attributes.updateValue(pick(["de", "en"]), forKey: .locale)
            return change
        }

        /// A change of an activity that may be known, or nil to remove it.
        private mutating func activity() -> ActivityChange? {
            guard Int.random(in: 0..<6, using: &random) > 0 else { return nil }
            var change = ActivityChange()
            change.surface = pick(["order-1", "\"ride\\"])
            let end = Installation.Activity.End(pick(Installation.Activity.End.Cause.allCases) ?? .user, at: now)
            let times: [Int64?] = [nil, 0, now]
            let starters: [Installation.Activity.Starter?] = [nil, .app, .push, .channel]
            let ends: [Installation.Activity.End?] = [nil, end]
            change.startedAt = pick(times)
            change.startedBy = pick(starters)
            if Bool.random(using: &random) { change.end = pick(ends) }
            return change
        }

        mutating func next() throws -> Step {
            now += .random(in: 1...50, using: &random)
            number &+= 1
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<3:
                let ticket = EnrollmentTicket(
                    hash: [number],
                    app: pick(Self.apps) ?? "",
                    user: pick(Self.users) ?? "",
                    tags: [pick(Self.tags) ?? ""],
                    isSingleUse: Int.random(in: 0..<3, using: &random) == 0,
                    expiresAt: now + .random(in: 1...3_000, using: &random)
                )
                issued.removeAll { $0.hash == ticket.hash }
                issued.append(ticket)
                return .ticket(ticket)
            case 3..<6:
                guard let ticket = pick(issued) else { return try next() }
                let id = InstallationID(milliseconds: now, using: &random)
                var new = Installation(
                    id: id,
                    app: ticket.app,
                    user: ticket.user,
                    environment: .production,
                    bundleID: "com.example",
                    at: now
                )
                try new.apply(change(), at: now, by: .app)
                let secret = [UInt8](id.description.utf8)
                let replaced = Int.random(in: 0..<4, using: &random) == 0 ? pick(secrets) : nil
                known.append((id, ticket.app))
                secrets.append(secret)
                return .enroll(
                    Enrollment(
                        ticketHash: ticket.hash,
                        installation: new,
                        secretHash: secret,
                        replacedSecretHash: replaced
                    )
                )
            case 6..<9:
                guard let (id, app) = pick(known) else { return try next() }
                return .report(id, app, try change())
            case 9:
                guard let (id, app) = pick(known), Bool.random(using: &random) else { return try next() }
                return .remove(id, app)
            case 10:
                guard let user = pick(Self.users), let app = pick(Self.apps), number.isMultiple(of: 8) else {
                    return try next()
                }
                return .removeUser(user, app)
            case 11..<13:
                var push = try OutboxPush.numbered(UInt64(now), lane(), token: pick(Self.tokens) ?? "")
                push.headers.topic = pick(["one", "two"])
                return .accept(push)
            case 13..<15: return try importPage()
            default:
                let apple = Bool.random(using: &random) ? now - .random(in: 0...400, using: &random) : nil
                return .unregister(lane(), apple: apple)
            }
        }

        /// A page of installations that were imported before, have enrolled, or are new.
        private mutating func importPage() throws -> Step {
            let app = pick(Self.apps) ?? ""
            var page: [Installation] = []
            for hex in Self.tokens.shuffled(using: &random).prefix(.random(in: 1...3, using: &random)) {
                let another = InstallationID(milliseconds: now, using: &random)
                let id = Bool.random(using: &random) ? pick(known)?.id ?? another : another
                guard !page.contains(where: { $0.id == id }) else { continue }
                var new = Installation(
                    id: id,
                    app: app,
                    user: pick(Self.users) ?? "",
                    environment: pick(PushEnvironment.allCases) ?? .production,
                    bundleID: "com.example",
                    at: now
                )
                new.tokens[slot()] = .init(try DeviceToken(hex: hex), registeredAt: now)
                if Bool.random(using: &random) { new.tags = Set([pick(Self.tags)].compactMap(\.self)) }
                if Bool.random(using: &random) {
                    var activity = Installation.Activity(of: pick(["order-1", "order-2"]) ?? "")
                    activity.startedAt = pick([0, now])
                    new.activities = ["1": activity]
                }
                known.append((id, app))
                page.append(new)
            }
            return .importPage(page, app)
        }

        private mutating func lane() -> Lane {
            Lane(app: pick(Self.apps) ?? "", environment: pick(PushEnvironment.allCases) ?? .production)
        }
    }

    /// Performs a step, and describes what it returned.
    private func perform(_ step: Step, on outbox: any OutboxStore, at now: Int64) async throws -> String {
        let store = outbox.installations
        switch step {
        case .ticket(let ticket):
            // A hash that is used again stands for another ticket, which no store expects.
            guard try await store.ticket(ticket.hash, at: 0) == nil else { return "known" }
            try await store.add(ticket, at: 0)
            return "\(String(describing: try await store.ticket(ticket.hash, at: now)?.user))"
        case .enroll(let enrollment): return "\(try await store.enroll(enrollment, at: now))"
        case .importPage(let page, let app): return "\(try await store.importPage(page, of: app, at: now))"
        case .report(let id, let app, let change):
            guard let stored = try await store.installation(id, of: app) else { return "unknown" }
            var new = stored.installation
            try new.apply(change, at: now, by: .app)
            return "\(try await store.replace(stored, with: new))"
        case .remove(let id, let app): return "\(try await store.remove(id, of: app))"
        case .removeUser(let user, let app): return "\(try await store.removeUser(user, of: app))"
        case .accept(let push): return "\(try await outbox.accept([push], at: now) == [.accepted])"
        case .unregister(let lane, let apple):
            let claimed = try await outbox.claimAll(lane, at: now)
            let outcome = Outcome(.refused, status: 410, reason: "Unregistered", unregisteredAt: apple)
            let settlements = claimed.map { push in
                Settlement(push, .ended(outcome), isTokenUnregistered: true)
            }
            for settlement in settlements { try await outbox.settle([settlement], at: now) }
            return "\(claimed.map { "\($0.push.id) \($0.hasFormerUser)" })"
        }
    }

    /// The installations of a store, the unregistered tokens and the pushes of users; without the numbers,
    /// which may have gaps.
    private func state(of outbox: any OutboxStore) async throws -> [String] {
        var state: [String] = []
        for app in Steps.apps {
            for stored in try await outbox.installations.installations(of: app, .all, after: 0, limit: 1_000) {
                let new = stored.installation
                let tokens = new.tokens.map { slot, registered in
                    "\(slot.kind) \(slot.name) \(registered.token) \(registered.registeredAt)"
                }
                state.append(
                    "\(new.id) \(Array(new.user.utf8)) \(new.environment) \(tokens.sorted()) \(new.tags.sorted())"
                        + " \(new.attributes) \(new.changedAt) \(new.seenAt) \(stored.revision)"
                        + " \(new.activities.sorted { $0.key < $1.key })"
                )
            }
            for dead in try await outbox.records.unregisteredTokens(of: app, after: 0, limit: 1_000) {
                state.append("\(dead.token) \(dead.environment) \(dead.topic)")
            }
            let users = Steps.users.map { AudienceQuery(.users([$0]), .init(.device)) }
            let queries = users + [AudienceQuery(.users(Steps.users), .init(.start, "Order"))]
            for members in try await outbox.installations.members(of: queries, in: app) {
                let phones = members.map { "\($0.installation) \($0.environment) \($0.token?.hex ?? "")" }
                state.append("\(phones)")
            }
            for user in Steps.users {
                // The selections of several tokens have no order.
                let pushes = try await outbox.pushes(ofUser: user, of: app).map(\.id.description).sorted()
                state.append("\(Array(user.utf8)) \(pushes)")
            }
        }
        return state
    }

    @Test(arguments: OutboxEngine.stores, 1...4 as ClosedRange<UInt64>)
    func `every engine agrees with the model`(engine: OutboxEngine, seed: UInt64) async throws {
        let model: any OutboxStore = ModelOutbox(on: ModelOutbox.Disk(), limit: 1_000)
        let outbox = try await engine.place().open()
        var steps = Steps(seed: seed)
        var enrollments = 0
        for index in 0..<200 {
            let step = try steps.next()
            let expected = try await perform(step, on: model, at: steps.now)
            let found = try await perform(step, on: outbox, at: steps.now)
            if case .enroll = step, expected == "true" { enrollments += 1 }
            try #require(found == expected, "seed \(seed), step \(index): \(step)")
            if index.isMultiple(of: 10) {
                let ours = try await state(of: model)
                let theirs = try await state(of: outbox)
                try #require(theirs == ours, "seed \(seed), after step \(index): \(step)")
            }
        }
        #expect(try await state(of: outbox) == state(of: model))
        #expect(enrollments > 10, "the steps enroll too seldom to prove much")
        await outbox.close(isInOrder: true)
    }
}

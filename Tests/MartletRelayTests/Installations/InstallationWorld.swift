// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import OutboxModel

@testable import MartletRelay

/// Phones that change users, two relays over one outbox, and Apple, from a seed.
///
/// The clocks of the relays and of Apple differ by up to a minute, and that of one relay is set forward or back by an
/// hour and corrected again. The world has the owner of each token from the order of the answers, without a clock.
/// After each step the outbox has to agree.
struct InstallationWorld {
    private static let lane = Lane(app: "orders", environment: .production)
    private static let app = lane.app
    private static let users = ["anna", "bert", "cleo"]
    private static let steps = 40

    private let seed: UInt64
    private let relays: [Relay]
    private let tell: ((String) -> Void)?
    private var random: SplitMix64
    /// Seconds since 1970.
    private var time: Int64
    /// The differences of the relays' clocks, and of Apple's, from the time.
    private let skews: [Int64]
    private let skewOfApple: Int64
    /// The error of the first relay's clock while that is wrong.
    private var wrongBy: Int64 = 0
    private var phones = ["aa11", "bb22", "cc33"].map { Phone(token: $0) }
    private var sessions: [Session] = []
    /// The secrets of installations that were removed.
    private var voidSecrets: [String] = []
    private var pushes: [Push] = []
    private var unregistered: Set<String> = []
    private var order = 0

    init(seed: UInt64, _ relays: [Relay], tell: ((String) -> Void)? = nil) {
        self.seed = seed
        self.relays = relays
        self.tell = tell
        var random = SplitMix64(state: seed)
        // Later than the worlds before, so that the outbox behaves as if it were new.
        time = 1_795_000_000 + Int64(seed % 1_000_000) * 100_000
        // Two clocks never show the same time, because a report of the time that is stored changes nothing. The time
        // is a multiple of 4.
        skews = [4 * Int64.random(in: -7...7, using: &random), 4 * Int64.random(in: -7...7, using: &random) + 1]
        skewOfApple = 4 * Int64.random(in: -7...7, using: &random) + 3
        self.random = random
    }

    // MARK: Running

    mutating func run() async throws {
        var problem: (any Error)?
        do {
            for _ in 0..<Self.steps { try await step() }
        } catch {
            problem = error
        }
        try await clear()
        if let problem { throw problem }
    }

    private mutating func step() async throws {
        let wait = 4 * Int64.random(in: 1...10, using: &random)
        time += wait
        setClocks()
        let phone = Int.random(in: phones.indices, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<4: try await signIn(on: phone)
        case 4..<7: try await report(isOvertaken: false)
        case 7: try await report(isOvertaken: true)
        case 8: try await signOut()
        case 9: try await erase(pick(Self.users))
        case 10..<14: try await send()
        case 14..<16: try await claim()
        case 16..<18: try await settle()
        case 18:
            tell?("phone \(phone) removes the app")
            phones[phone].unregisteredAt = phones[phone].unregisteredAt ?? (time + skewOfApple) * 1_000
        default:
            wrongBy = wrongBy != 0 ? 0 : Bool.random(using: &random) ? 3_602 : -3_598
            tell?("the clock of relay 0 is wrong by \(wrongBy) s")
        }
        try await compare()
    }

    private func setClocks() {
        for (index, relay) in relays.enumerated() {
            let shown = time + skews[index] + (index == 0 ? wrongBy : 0)
            relay.clock.advance(by: shown - relay.clock.now)
        }
    }

    /// Removes everything that the world has stored.
    private func clear() async throws {
        for push in pushes {
            guard let claim = push.claim else {
                _ = try await relays[0].outbox.cancel(push.push.id, of: Self.app, at: relays[0].now)
                continue
            }
            let relay = relays[claim.relay]
            let settlement = Settlement(claim.push, .ended(Outcome(.delivered, status: 200)))
            try await relay.outbox.settle([settlement], at: relay.now)
        }
        for user in Self.users { _ = try await relays[0].outbox.installations.removeUser(user, of: Self.app) }
        for phone in phones {
            let token = try DeviceToken(hex: phone.token)
            _ = try await relays[0].outbox.records.markRegistered(token, of: Self.app)
        }
    }

    private mutating func relay() -> Relay { relays[Int.random(in: relays.indices, using: &random)] }

    private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

    /// The session that the token of a phone belongs to.
    private func owner(of phone: Int) -> Session? { sessions.first { $0.phone == phone && $0.ownsToken } }

    // MARK: Phones

    /// A user signs in on a phone, where the app of another user may not have signed out yet.
    private mutating func signIn(on phone: Int) async throws {
        let user = pick(Self.users)
        let issuing = relay()
        let enrolling = relay()
        let old = Bool.random(using: &random) ? sessions.last { $0.phone == phone } : nil
        tell?("\(user) signs in on phone \(phone)\(old == nil ? "" : ", replacing an installation")")
        phones[phone].unregisteredAt = nil
        let body: JSONValue = ["user": .string(user), "seconds": 86_400]
        let request = try TicketRequest(InstallationReader.Field(body, named: "the body"))
        let issued = try await issuing.registry.issueTicket(request, of: Self.app)
        let ticket = try await enrolling.registry.ticket("Bearer \(issued.text)")
        let change = try self.change(reporting: phone)
        let enrolled = try await enrolling.registry.enroll(
            with: ticket,
            change,
            in: .production,
            "com.example.orders",
            replacing: old.flatMap { RandomSecret($0.secret, .installation) }
        )
        if let old { removeSessions { $0.id == old.id } }
        registerToken(of: phone)
        let id = enrolled.installation.id
        sessions.append(
            Session(id: id, user: user, secret: enrolled.secret, phone: phone, ownsToken: true, order: order)
        )
        try await check(enrolled.installation, enrolled.secret)
    }

    /// The app reports its token, its locale or nothing new; when it is overtaken, a user signs in on the phone after
    /// the relay has read the installation.
    private mutating func report(isOvertaken: Bool) async throws {
        guard let session = sessions.randomElement(using: &random), phones[session.phone].unregisteredAt == nil else {
            return
        }
        let relay = relay()
        let stored = try await relay.registry.installation("Bearer \(session.secret)")
        if isOvertaken { try await signIn(on: session.phone) }
        var change = InstallationChange()
        let kind = Int.random(in: 0..<4, using: &random)
        if kind < 2 { change = try self.change(reporting: session.phone) }
        if kind == 2 { change.attributes.updateValue(pick(["de", "en"]), forKey: .locale) }
        tell?("\(session.user) reports \(kind < 2 ? "the token of phone \(session.phone)" : "no token")")
        let answer = try await relay.registry.change(stored, change, by: .app)
        let index = sessions.firstIndex { $0.id == session.id }
        if kind < 2, let index {
            registerToken(of: session.phone)
            sessions[index].ownsToken = true
            sessions[index].order = order
        }
        guard (answer == nil) == (index == nil) else {
            throw Violation(description: "the answer to a report is \(String(describing: answer))")
        }
        if let answer { try await check(answer, session.secret) }
    }

    private func change(reporting phone: Int) throws -> InstallationChange {
        var change = InstallationChange()
        change.tokens[.init(.device)] = try DeviceToken(hex: phones[phone].token)
        return change
    }

    /// Takes the token of a phone from its owner, as a registration does.
    private mutating func registerToken(of phone: Int) {
        for index in sessions.indices where sessions[index].phone == phone { sessions[index].ownsToken = false }
        unregistered.remove(phones[phone].token)
        order += 1
    }

    /// An app signs out, perhaps long after another user has signed in on the phone.
    private mutating func signOut() async throws {
        guard let session = sessions.randomElement(using: &random) else { return }
        tell?("\(session.user) signs out on phone \(session.phone)")
        try await relay().registry.remove("Bearer \(session.secret)")
        removeSessions { $0.id == session.id }
    }

    private mutating func removeSessions(_ isRemoved: (Session) -> Bool) {
        voidSecrets += sessions.filter(isRemoved).map(\.secret)
        sessions.removeAll(where: isRemoved)
    }

    // MARK: Back ends

    /// A back end sends to each phone of a user, or to a token that it has from elsewhere.
    private mutating func send() async throws {
        let relay = relay()
        let user = pick(Self.users)
        let store = relay.outbox.installations
        let listed = try await store.page(of: Self.app, .user(user), after: 0, limit: 100)
        var tokens = listed.flatMap { $0.installation.tokens.values.map(\.token.hex) }
        let expected = sessions.filter { $0.user == user && $0.ownsToken }.map { phones[$0.phone].token }
        guard tokens == expected else { throw Violation(description: "\(user) has \(tokens), not \(expected)") }
        if Int.random(in: 0..<4, using: &random) == 0 { tokens = [pick(phones.map(\.token))] }
        for token in tokens { try await send(to: token, through: relay) }
    }

    private mutating func send(to token: String, through relay: Relay) async throws {
        guard let phone = phones.firstIndex(where: { $0.token == token }) else { return }
        tell?("a push to phone \(phone)")
        order += 1
        let push = OutboxPush(
            lane: Self.lane,
            id: APNsID(randomBits: (UInt64(order), seed)),
            destination: .device(try DeviceToken(hex: token)),
            headers: PushHeaders(topic: "com.example.orders"),
            payload: []
        )
        let answers = try await relay.outbox.accept([push], at: relay.now)
        let isAccepted = answers == [.accepted]
        guard isAccepted != unregistered.contains(token) else {
            throw Violation(description: "a push to \(token) is answered with \(answers)")
        }
        guard isAccepted else { return }
        pushes.append(Push(push: push, phone: phone, user: owner(of: phone)?.user, order: order))
    }

    /// A back end erases a user.
    private mutating func erase(_ user: String) async throws {
        tell?("\(user) is erased")
        let relay = relay()
        let waiting = pushes.filter { $0.claim == nil && ($0.user ?? owner(of: $0.phone)?.user) == user }
        let expected = Set(waiting.map(\.push.id))
        let steps = try await relay.outbox.erasePushes(ofUser: user, of: Self.app, at: relay.now)
        let cancelled = Set(steps.flatMap(\.cancelled).map(\.id))
        guard cancelled == expected else {
            throw Violation(description: "erasing \(user) cancels \(cancelled), not \(expected)")
        }
        pushes.removeAll { cancelled.contains($0.push.id) }
        // A claimed push must not be sent again.
        for place in pushes.indices where (pushes[place].user ?? self.owner(of: pushes[place].phone)?.user) == user {
            pushes[place].user = Push.erasedUser
        }
        _ = try await relay.outbox.installations.removeUser(user, of: Self.app)
        removeSessions { $0.user == user }
    }

    // MARK: Delivery

    /// A relay claims pushes, and Apple answers those that it sends.
    private mutating func claim() async throws {
        let index = Int.random(in: relays.indices, using: &random)
        let limit = Int.random(in: 1...4, using: &random)
        let (outbox, now) = (relays[index].outbox, relays[index].now)
        let found = try await outbox.claim(Self.lane, .immediate, limit: limit, at: now).pushes
        for claimed in found {
            guard let place = pushes.firstIndex(where: { $0.push.id == claimed.push.id && $0.claim == nil }) else {
                throw Violation(description: "\(claimed.push.id) is claimed after its end or twice")
            }
            let push = pushes[place]
            let owner = owner(of: push.phone)?.user
            tell?("relay \(index) claims a push to phone \(push.phone), former user: \(claimed.hasFormerUser)")
            let isFormer = push.user == Push.erasedUser || owner != nil && push.user != owner
            guard claimed.hasFormerUser == (push.user != nil && isFormer) else {
                throw Violation(
                    description: "a push of \(push.user ?? "nobody") to the phone of \(owner ?? "nobody") is"
                        + (claimed.hasFormerUser ? " not sent" : " sent")
                )
            }
            pushes[place].claim = Push.Claim(
                relay: index,
                push: claimed,
                unregisteredAt: phones[push.phone].unregisteredAt
            )
        }
    }

    /// A relay stores the result of a push, perhaps long after Apple's answer.
    private mutating func settle() async throws {
        let claimed = pushes.indices.filter { pushes[$0].claim != nil }
        guard let place = claimed.randomElement(using: &random), let claim = pushes[place].claim else { return }
        let push = pushes[place]
        let relay = relays[claim.relay]
        if Int.random(in: 0..<4, using: &random) == 0 {
            pushes[place].claim = nil
            try await relay.outbox.settle([claim.push.postponed(until: relay.now)], at: relay.now)
            return
        }
        let answer = claim.unregisteredAt.map { time in
            Outcome(.refused, status: 410, reason: "Unregistered", unregisteredAt: time)
        }
        let outcome = claim.push.outcomeWithoutSending(at: relay.now) ?? answer ?? Outcome(.delivered, status: 200)
        let isUnregistered = outcome.status == 410
        let settlement = Settlement(
            claim.push,
            .ended(outcome),
            isTokenUnregistered: isUnregistered
        )
        tell?("a push to phone \(push.phone) ends as \(outcome.state)")
        try await relay.outbox.settle([settlement], at: relay.now)
        pushes.remove(at: place)
        guard isUnregistered else { return }
        if let index = sessions.firstIndex(where: { $0.phone == push.phone && $0.ownsToken }) {
            // Registered since the push was accepted.
            guard sessions[index].order < push.order else { return }
            sessions[index].ownsToken = false
        }
        unregistered.insert(phones[push.phone].token)
    }

    // MARK: Checks

    /// Compares an answer with what a relay shows and with what is stored.
    private mutating func check(_ answer: Installation, _ secret: String) async throws {
        let shown = try await relay().registry.installation("Bearer \(secret)").installation
        let stored = try await relay().outbox.installations.installation(answer.id, of: Self.app)?.installation
        guard shown == answer, stored == answer else {
            let found = String(describing: stored)
            throw Violation(description: "the answer is \(answer), shown \(shown), stored \(found)")
        }
    }

    /// Compares what is stored with the sessions and tokens of the world.
    private mutating func compare() async throws {
        let relay = relay()
        let all = try await relay.outbox.installations.installations(of: Self.app, .all, after: 0, limit: 1_000)
        let found = all.map(\.installation).map { "\($0.id) \($0.user) \($0.tokens.values.map(\.token.hex))" }
        let expected = sessions.map { session in
            let tokens = session.ownsToken ? [phones[session.phone].token] : []
            return "\(session.id) \(session.user) \(tokens)"
        }
        guard found == expected else { throw Violation(description: "stored \(found), not \(expected)") }
        let records = try await relay.outbox.records.unregisteredTokens(of: Self.app, after: 0, limit: 1_000)
        let reported = Set(records.map(\.token.hex))
        guard reported == unregistered else {
            throw Violation(description: "unregistered \(reported), not \(unregistered)")
        }
        guard let secret = voidSecrets.randomElement(using: &random) else { return }
        do throws(InstallationError) {
            _ = try await relay.registry.installation("Bearer \(secret)")
        } catch {
            guard error.kind != .invalidCredential else { return }
        }
        throw Violation(description: "the secret of a removed installation is not refused")
    }
}

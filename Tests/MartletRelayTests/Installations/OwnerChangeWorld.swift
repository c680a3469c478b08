// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel

@testable import MartletRelay

/// Phones that change users while two relays send slowly, from a seed.
///
/// Each relay has a delivery machine, and a client with few streams, on which Apple answers late. A push may not begin
/// on a stream after the answer to a change that made its user a former one.
struct OwnerChangeWorld {
    enum Fault: CaseIterable, Sendable {
        /// Pushes wait for a stream for any time.
        case waitsForStreams
        /// The relay answers before the claimed pushes were sent or returned.
        case answersAtOnce
    }

    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    /// The maximum time between a change and its answer, in milliseconds.
    private static let wait: Int64 = 550
    private static let step: Int64 = 10
    private static let duration: Int64 = 6_000
    private static let lane = Lane(app: "orders", environment: .production)
    private static let users = ["anna", "bert", "cleo"]

    private struct Relay {
        var machine: DeliveryMachine
        /// The maximum number of pushes on the wire.
        let streams: Int
        /// The pushes that wait for a stream, each with the end of its wait.
        var waiting: [(push: ClaimedPush, until: Int64)] = []
        /// The pushes on the wire, each with the time of Apple's answer.
        var onWire: [(push: ClaimedPush, answer: Int64)] = []
        /// The claims whose results arrive with the next step.
        var claims: [(claim: Claim, action: DeliveryMachine.ClaimAction)] = []
    }

    private struct Phone {
        let token: String
        var user: String?
        var installation: InstallationID?
        /// The time of the answer to the last change of the user.
        var answeredAt = Int64.min
    }

    private struct Push {
        let phone: Int
        /// The user at the acceptance.
        let user: String?
        let isToUser: Bool
        let acceptedAt: Int64
    }

    /// The erasure of a user.
    private struct Erasure {
        let user: String
        let madeAt: Int64
        let answeredAt: Int64
    }

    private let seed: UInt64
    private let outbox: any OutboxStore
    private let fault: Fault?
    private let tell: ((String) -> Void)?
    private var random: SplitMix64
    private var now: Int64
    private let begin: Int64
    private var relays: [Relay] = []
    private var phones: [Phone] = []
    private var pushes: [APNsID: Push] = [:]
    private var erasures: [Erasure] = []
    /// The number of pushes that began on a stream.
    private(set) var sentCount = 0
    private var count: UInt64 = 0

    init(seed: UInt64, over outbox: any OutboxStore, fault: Fault? = nil, tell: ((String) -> Void)? = nil) {
        self.seed = seed
        self.outbox = outbox
        self.fault = fault
        self.tell = tell
        random = SplitMix64(state: seed)
        // Later than the worlds before, so that the outbox behaves as if it were new.
        begin = 1_795_000_000_000 + Int64(seed % 1_000_000) * 100_000
        now = begin
        for index in 0..<2 {
            var machine = DeliveryMachine(seed: seed)
            let rate = Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 1...20, using: &random) : nil
            machine.add(Self.lane, rate: rate, at: now)
            relays.append(Relay(machine: machine, streams: Int.random(in: 1...4, using: &random)))
            tell?("relay \(index) sends \(rate.map { "\($0)" } ?? "any number of") pushes in a second")
        }
        // Tokens of this world alone, because the outbox may be used by many.
        phones = (1...3).map { Phone(token: "aa" + String(seed, radix: 16).leftPadded(to: 16) + "0\($0)") }
    }

    // MARK: Running

    mutating func run() async throws {
        var problem: (any Error)?
        do {
            while now < begin + Self.duration { try await takeStep() }
        } catch {
            problem = error
        }
        try await clear()
        if let problem { throw problem }
    }

    private mutating func takeStep() async throws {
        now += Self.step
        let isQuiet = now > begin + Self.duration - 1_000
        if !isQuiet, chance(of: 4) { try await send() }
        if !isQuiet, chance(of: 40) { try await changeOwner() }
        for index in relays.indices { try await advance(index) }
    }

    /// Ends what the world has stored.
    private mutating func clear() async throws {
        for index in relays.indices {
            relays[index].machine.drain()
            for claim in relays[index].claims { relays[index].machine.claimed(claim.claim, claim.action, at: now) }
            for wire in relays[index].onWire {
                relays[index].machine.answered(wire.push.number, .accepted(uniqueID: nil), at: now)
            }
            for waiting in relays[index].waiting { relays[index].machine.notStarted(waiting.push.number, at: now) }
            try await outbox.settle(relays[index].machine.takeActions(at: now).settlements, at: now)
        }
        for id in pushes.keys { _ = try await outbox.cancel(id, of: Self.lane.app, at: now) }
        for user in Self.users { _ = try await outbox.installations.removeUser(user, of: Self.lane.app) }
    }

    private mutating func chance(of count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    // MARK: Back ends

    private mutating func send() async throws {
        let phone = Int.random(in: phones.indices, using: &random)
        let isToUser = phones[phone].user != nil && !chance(of: 3)
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            count += 1
            let push = OutboxPush(
                lane: Self.lane,
                id: APNsID(randomBits: (count, seed)),
                destination: .device(try DeviceToken(hex: phones[phone].token)),
                headers: PushHeaders(topic: "com.example.orders"),
                payload: [],
                user: isToUser ? phones[phone].user : nil
            )
            let answers = try await outbox.accept([push], at: now)
            guard answers == [.accepted] else { throw Violation(description: "a push is answered with \(answers)") }
            pushes[push.id] = Push(phone: phone, user: phones[phone].user, isToUser: isToUser, acceptedAt: now)
        }
        for index in relays.indices { relays[index].machine.markReady(Self.lane) }
    }

    // MARK: Users

    private mutating func changeOwner() async throws {
        let phone = Int.random(in: phones.indices, using: &random)
        guard let user = phones[phone].user else { return try await enroll(phone) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0..<2: try await enroll(phone)
        case 2: try await signOut(phone)
        default: try await erase(user)
        }
    }

    private mutating func enroll(_ phone: Int) async throws {
        guard let user = Self.users.randomElement(using: &random) else { return }
        tell?("\(now - begin) ms: \(user) enrolls phone \(phone)")
        count += 1
        let hash = Array("\(seed) \(count)".utf8)
        let app = Self.lane.app
        let ticket = EnrollmentTicket(
            hash: hash,
            app: app,
            user: user,
            tags: [],
            isSingleUse: true,
            expiresAt: now + 1_000
        )
        try await outbox.installations.add(ticket, at: now)
        var installation = Installation(
            id: InstallationID(milliseconds: now, using: &random),
            app: app,
            user: user,
            environment: .production,
            bundleID: "com.example.orders",
            at: now
        )
        let token = try DeviceToken(hex: phones[phone].token)
        installation.tokens[.init(.device)] = .init(token, registeredAt: now)
        let enrollment = Enrollment(ticketHash: hash, installation: installation, secretHash: hash + [0])
        guard try await outbox.installations.enroll(enrollment, at: now) else {
            throw Violation(description: "a ticket is refused")
        }
        phones[phone].user = user
        phones[phone].installation = installation.id
        phones[phone].answeredAt = answerTime
    }

    private mutating func signOut(_ phone: Int) async throws {
        guard let id = phones[phone].installation else { return }
        tell?("\(now - begin) ms: the user of phone \(phone) signs out")
        _ = try await outbox.installations.remove(id, of: Self.lane.app)
        removeUser(of: phone)
    }

    private mutating func removeUser(of phone: Int) {
        phones[phone].user = nil
        phones[phone].installation = nil
        phones[phone].answeredAt = answerTime
    }

    private mutating func erase(_ user: String) async throws {
        tell?("\(now - begin) ms: \(user) is erased")
        _ = try await outbox.erasePushes(ofUser: user, at: now)
        _ = try await outbox.installations.removeUser(user, of: Self.lane.app)
        for phone in phones.indices where phones[phone].user == user { removeUser(of: phone) }
        erasures.append(Erasure(user: user, madeAt: now, answeredAt: answerTime))
        for index in relays.indices { relays[index].machine.markReady(Self.lane) }
    }

    /// The time of the answer to a change that is made now.
    private var answerTime: Int64 { fault == .answersAtOnce ? now : now + Self.wait }

    // MARK: Delivery

    private mutating func advance(_ index: Int) async throws {
        for claim in relays[index].claims { relays[index].machine.claimed(claim.claim, claim.action, at: now) }
        relays[index].claims = []
        for wire in relays[index].onWire where wire.answer <= now {
            relays[index].machine.answered(wire.push.number, .accepted(uniqueID: nil), at: now)
        }
        relays[index].onWire.removeAll { $0.answer <= now }
        if fault != .waitsForStreams {
            for waiting in relays[index].waiting where waiting.until <= now {
                relays[index].machine.notStarted(waiting.push.number, at: now)
            }
            relays[index].waiting.removeAll { $0.until <= now }
        }
        let actions = relays[index].machine.takeActions(at: now)
        for push in actions.sends { relays[index].waiting.append((push, now + 250)) }
        while relays[index].onWire.count < relays[index].streams, !relays[index].waiting.isEmpty {
            let push = relays[index].waiting.removeFirst().push
            try check(push)
            sentCount += 1
            relays[index].onWire.append((push, now + Int64.random(in: 50...900, using: &random)))
        }
        if !actions.settlements.isEmpty {
            try await outbox.settle(actions.settlements, at: now)
            _ = relays[index].machine.settled(actions.settlements)
        }
        for action in actions.claims {
            let claim = try await outbox.claim(action.lane, action.urgency, limit: action.limit, at: now)
            relays[index].claims.append((claim, action))
        }
    }

    /// Compares a push that begins on a stream with the answers so far.
    private func check(_ claimed: ClaimedPush) throws {
        guard let push = pushes[claimed.push.id], let user = push.user else { return }
        let phone = phones[push.phone]
        if phone.answeredAt <= now, phone.user != user, push.isToUser || phone.user != nil {
            let late = now - phone.answeredAt
            let owner = phone.user ?? "nobody"
            throw Violation(description: "a push to \(user) is sent \(late) ms after the answer to \(owner)")
        }
        let isErased = erasures.contains { erasure in
            erasure.user == user && erasure.madeAt > push.acceptedAt && erasure.answeredAt <= now
        }
        guard isErased, !push.isToUser else { return }
        throw Violation(description: "a push to a phone of \(user) is sent after the answer to the erasure")
    }
}

extension String {
    fileprivate func leftPadded(to length: Int) -> String {
        String(repeating: "0", count: max(0, length - count)) + self
    }
}

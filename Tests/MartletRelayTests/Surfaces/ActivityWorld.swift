// SPDX-License-Identifier: Apache-2.0

import MartletCore

@testable import MartletRelay

/// Two days of one surface on one installation, from a seed: a back end that changes its mind, an outbox and APNs with
/// outages, a phone with its user, and reports that are late, lost or arrive twice.
///
/// The session must keep its promises all the time, and in the quiet after the two days the phone must show the desired
/// state, or the session must know why it does not.
struct ActivityWorld {
    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    /// A push on its way to the phone.
    struct Push {
        enum Kind { case start, update, end }
        var request: Int
        var kind: Kind
        var token: String
        var generation: Int
        var timestamp: Int64
        var priority = 10
        var sentAt: Int64

        /// The place in which APNs keeps the push for a phone that is offline.
        var slot: String { kind == .start ? "start" : token }
    }

    typealias Report = ActivitySession.Report

    /// A fault in the session's work, which the world must notice.
    enum PlantedFault: CaseIterable {
        case repeatsTimestamps, startsTwice, ignoresNewTokens, forgetsEnds, alwaysUrgent, ignoresUnregistered
    }

    private enum Event {
        case desire(isUrgent: Bool)
        case withdraw
        case user(Int)
        case setOnline(Bool)
        case apple(isUp: Bool)
        case send(Push)
        case settle(Int, ActivityBelief.Settlement)
        case report(Report, Int64)
        case tick
    }

    private static let begin: Int64 = 1_800_000_000
    private static let busy: Int64 = 2 * 86_400
    /// The time within which a reachable phone shows the last state: an expired start and its repetition.
    private static let quiet: Int64 = 3_600

    private let fault: PlantedFault?
    private let tell: ((String) -> Void)?
    private var now = ActivityWorld.begin
    private var generator: SplitMix64
    /// The events to come, the next one last.
    private var agenda: [(time: Int64, event: Event)] = []
    private var session = ActivitySession()
    private var budget: ActivityBudget
    private var phone = PhoneModel()
    private var generation = 0
    private var isAppleUp = true
    private var isQuiet = false
    private var waiting: [Int: Push] = [:]
    private var lastTimestamp: Int64 = 0
    private var urgentUpdates: [Int64] = []
    private var starts: [Int64] = []
    private var knownDead: Set<String> = []
    private var twoCardsSince: Int64?

    init(seed: UInt64, fault: PlantedFault? = nil, tell: ((String) -> Void)? = nil) {
        generator = SplitMix64(state: seed)
        budget = ActivityBudget(at: ActivityWorld.begin)
        self.fault = fault
        self.tell = tell
    }

    mutating func run() throws(Violation) {
        plan()
        while let event = nextEvent(by: ActivityWorld.begin + ActivityWorld.busy) { try handle(event) }
        try settleDown()
    }

    private func note(_ event: @autoclosure () -> String) { tell?("\(now) \(event())") }

    // MARK: The plan

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &generator) < probability
    }

    private mutating func someTime() -> Int64 {
        ActivityWorld.begin + Int64.random(in: 0..<ActivityWorld.busy, using: &generator)
    }

    private mutating func schedule(_ event: Event, at time: Int64) {
        let later = agenda.firstIndex { $0.time <= time } ?? agenda.endIndex
        agenda.insert((time, event), at: later)
    }

    /// Removes the next event, and moves the clock to it; nil when it is after the end.
    private mutating func nextEvent(by end: Int64) -> Event? {
        guard let (time, event) = agenda.last, time <= end else { return nil }
        agenda.removeLast()
        now = max(now, time)
        return event
    }

    private mutating func plan() {
        schedule(.report(.startToken(phone.startToken), now), at: now)
        let isCalm = chance(0.2)
        for _ in 0..<Int.random(in: 1...40, using: &generator) {
            let isUrgent = chance(0.4)
            schedule(.desire(isUrgent: isUrgent), at: someTime())
        }
        if chance(0.1) {
            let time = someTime()
            for _ in 0..<60 {
                schedule(.desire(isUrgent: true), at: time + Int64.random(in: 0..<3_000, using: &generator))
            }
        }
        for _ in 0..<Int.random(in: 0...4, using: &generator) { schedule(.withdraw, at: someTime()) }
        guard !isCalm else { return }
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let choice = Int.random(in: 0..<10, using: &generator)
            schedule(.user(choice), at: someTime())
        }
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let time = someTime()
            schedule(.setOnline(false), at: time)
            schedule(.setOnline(true), at: time + Int64.random(in: 1...20_000, using: &generator))
        }
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
            let time = someTime()
            schedule(.apple(isUp: false), at: time)
            schedule(.apple(isUp: true), at: time + Int64.random(in: 1...7_200, using: &generator))
        }
    }

    // MARK: Events

    private mutating func handle(_ event: Event) throws(Violation) {
        deliver(phone.age(at: now))
        switch event {
        case .desire(let isUrgent):
            generation += 1
            note("desired \(generation)\(isUrgent ? ", urgent" : "")")
            session.desire(ActivitySession.Desired(generation: generation, isUrgent: isUrgent))
        case .withdraw:
            note("withdrawn")
            session.withdraw()
        case .user(let choice): act(choice)
        case .setOnline(let isOnline):
            note("phone \(isOnline ? "online" : "offline")")
            deliver(phone.setOnline(isOnline, at: now, using: &generator))
        case .apple(let isUp): isAppleUp = isUp
        case .send(let push): try send(push)
        case .settle(let request, let result):
            note("request \(request): \(result)")
            let isIgnored = fault == .ignoresUnregistered && result != .accepted && result != .notSent
            if let dead = session.settled(request, isIgnored ? .accepted : result, at: now) {
                knownDead.insert(dead.token)
            }
            if case .unregistered = result, isIgnored, let push = waiting[request] { knownDead.insert(push.token) }
            waiting[request] = nil
        case .report(let report, let time): receive(report, madeAt: time)
        case .tick: break
        }
        try perform()
        try checkCards()
    }

    private mutating func act(_ choice: Int) {
        note("user \(choice)")
        switch choice {
        case 0: deliver(phone.swipe(at: now))
        case 1: deliver(phone.allow(false, at: now))
        case 2, 3: deliver(phone.allow(true, at: now))
        case 4: deliver(phone.rotateToken(at: now))
        case 5: deliver(phone.replaceStartToken(at: now))
        case 6: deliver(phone.startFromApp(at: now))
        default: deliver(choice == 9 ? phone.open(at: now) : phone.wake(at: now))
        }
    }

    /// Sends reports of the app to the relay: late, lost or twice, but not in the quiet.
    private mutating func deliver(_ reports: [Report]) {
        for report in reports {
            guard !isQuiet else {
                schedule(.report(report, now), at: now + 1)
                continue
            }
            if chance(0.05) { continue }
            let delay =
                chance(0.1)
                ? Int64.random(in: 1...7_200, using: &generator) : Int64.random(in: 0...5, using: &generator)
            schedule(.report(report, now), at: now + delay)
            if chance(0.05) { schedule(.report(report, now), at: now + delay + 60) }
        }
    }

    private mutating func receive(_ report: Report, madeAt time: Int64) {
        note("report \(report)")
        switch report {
        case .startToken(let token): knownDead.remove(token)
        case .cards(let cards):
            if fault == .ignoresNewTokens, cards.contains(where: { isKnown($0.id) }) { return }
            for card in cards { knownDead.remove(card.token ?? "") }
        case .card, .gone, .allowed, .allGone: break
        }
        session.record(report, madeAt: time, at: now)
    }

    private func isKnown(_ id: String) -> Bool {
        if case .live(let card) = session.belief.phase { card.id == id } else { false }
    }

    // MARK: Pushes

    private mutating func perform() throws(Violation) {
        for action in session.actions(at: now, within: &budget) {
            note("\(action)")
            switch action {
            case .start(let request, let token, let generation, let timestamp):
                try count(start: token)
                try queue(
                    Push(
                        request: request,
                        kind: .start,
                        token: token,
                        generation: generation,
                        timestamp: timestamp,
                        sentAt: now
                    )
                )
                if fault == .startsTwice {
                    try queue(
                        Push(
                            request: -request,
                            kind: .start,
                            token: token,
                            generation: generation,
                            timestamp: timestamp + 1,
                            sentAt: now
                        )
                    )
                }
            case .update(let request, let token, let update):
                let priority = fault == .alwaysUrgent ? 10 : update.priority
                if priority == 10 { try countUrgent() }
                try queue(
                    Push(
                        request: request,
                        kind: .update,
                        token: token,
                        generation: update.generation,
                        timestamp: fault == .repeatsTimestamps ? now - now % 3_600 : update.timestamp,
                        priority: priority,
                        sentAt: now
                    )
                )
            case .end(let request, let token, let timestamp):
                if fault == .forgetsEnds {
                    schedule(.settle(request, .accepted), at: now + 1)
                } else {
                    try queue(
                        Push(
                            request: request,
                            kind: .end,
                            token: token,
                            generation: 0,
                            timestamp: timestamp,
                            sentAt: now
                        )
                    )
                }
            case .alert: break
            case .cancel(let request):
                if waiting[request] != nil, !isAppleUp { schedule(.settle(request, .notSent), at: now) }
            }
        }
        if let next = session.nextTime { schedule(.tick, at: max(next, now + 1)) }
    }

    private mutating func queue(_ push: Push) throws(Violation) {
        guard push.timestamp > lastTimestamp else { throw Violation(description: "\(now): a timestamp did not rise") }
        lastTimestamp = push.timestamp
        guard !knownDead.contains(push.token) else {
            throw Violation(description: "\(now): a push to \(push.token), which is known to be unregistered")
        }
        if push.request > 0 { waiting[push.request] = push }
        schedule(.send(push), at: now + Int64.random(in: 0...2, using: &generator))
    }

    private mutating func send(_ push: Push) throws(Violation) {
        guard push.request < 0 || waiting[push.request] != nil else { return }
        guard isAppleUp else {
            // The outbox tries again until the push expires.
            let isOver = now > push.sentAt + 600
            schedule(isOver ? .settle(push.request, .notSent) : .send(push), at: now + 30)
            return
        }
        if let since = phone.deadTokens[push.token], chance(0.7) {
            schedule(.settle(push.request, .unregistered(since: since)), at: now)
            return
        }
        schedule(.settle(push.request, .accepted), at: now)
        deliver(phone.receive(push, at: now, using: &generator))
    }

    // MARK: Promises

    private mutating func count(start token: String) throws(Violation) {
        starts.append(now)
        let policy = ActivityPolicy()
        let recent = starts.filter { $0 > now - 12 * 3600 }
        guard recent.count <= policy.startLimit + 6 else { throw Violation(description: "\(now): too many starts") }
    }

    private mutating func countUrgent() throws(Violation) {
        urgentUpdates.append(now)
        urgentUpdates.removeAll { $0 <= now - 3_600 }
        guard urgentUpdates.count <= 2 * ActivityPolicy().urgentUpdatesPerHour else {
            throw Violation(description: "\(now): \(urgentUpdates.count) urgent updates in one hour")
        }
    }

    /// Two cards may be on the phone only while one replaces the other and the app has not run since.
    private mutating func checkCards() throws(Violation) {
        guard phone.cards.count > 1 else {
            twoCardsSince = nil
            return
        }
        guard phone.cards.count == 2 else { throw Violation(description: "\(now): \(phone.cards.count) cards") }
    }

    /// Lets the outage end, brings the phone online, opens the app, and checks the state that remains.
    private mutating func settleDown() throws(Violation) {
        isQuiet = true
        isAppleUp = true
        now = max(now, ActivityWorld.begin + ActivityWorld.busy)
        deliver(phone.setOnline(true, at: now, using: &generator))
        note("quiet")
        let end = now + ActivityWorld.quiet
        // The user opens the app from time to time.
        for pass in 0..<6 { schedule(.user(9), at: now + Int64(pass) * 600 + 30) }
        while let event = nextEvent(by: end) {
            if case .user(let choice) = event, choice != 9 { continue }
            switch event {
            case .desire, .withdraw, .setOnline, .apple: continue
            case .user, .send, .settle, .report, .tick: try handle(event)
            }
        }
        try checkEnd()
    }

    private func checkEnd() throws(Violation) {
        let shown = phone.cards.filter(\.isActive)
        guard let desired = session.desired else {
            guard shown.isEmpty else {
                throw Violation(description: "a card is left of a surface that is not desired: \(session.belief.phase)")
            }
            return
        }
        if let reason = session.absence {
            let isTrue: Bool =
                switch reason {
                case .notAllowed: !phone.isAllowed
                case .declined, .startBudgetSpent, .neverConfirmed: shown.isEmpty
                case .noStartToken, .refused: false
                }
            guard isTrue else { throw Violation(description: "absent because of \(reason), which is not so") }
            return
        }
        if case .unconfirmed = session.belief.phase, shown.isEmpty { return }
        var isReplacing = false
        if case .live(let card) = session.belief.phase { isReplacing = card.successor != nil }
        guard shown.count == 1 || isReplacing, shown.first?.generation == desired.generation else {
            let facts = "desired \(desired.generation), shown \(shown.map(\.generation))"
            throw Violation(description: "\(facts): \(session.belief.phase)")
        }
    }
}

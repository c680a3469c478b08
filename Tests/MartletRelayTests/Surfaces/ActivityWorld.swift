// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox

@testable import MartletRelay

/// Two days of one surface on one installation, from a seed: a back end that changes its mind, an outbox and APNs with
/// outages, a phone with its user, reports that are late or lost, and a relay that restarts.
///
/// The session must keep its promises all the time, and in the quiet after the two days the phone must show the desired
/// state, or the session must know why it does not.
struct ActivityWorld {
    private static let begin: Int64 = 1_800_000_000
    private static let busy: Int64 = 2 * 86_400
    /// The time within which a reachable phone shows the last state: an expired start and its repetition.
    private static let quiet: Int64 = 3_600
    /// The same on a channel: the time between two broadcasts, and the time after which one is repeated.
    private static let channelQuiet: Int64 = 7_800

    let fault: PlantedFault?
    /// The channel of the surface; nil for a surface without one.
    let channel: SurfaceChannel?
    private let tell: ((String) -> Void)?
    private(set) var now = ActivityWorld.begin
    var generator: SplitMix64
    /// The events to come, the next one last.
    private var agenda: [(time: Int64, event: Event)] = []
    private(set) var state = SurfaceSessionState()
    /// Whether the relay has a session of the surface; it has none once nothing is on the phone.
    private var hasSession = false
    /// Whether something has happened since the last step.
    var isDue = false
    /// The time of the next step in seconds since 1970; nil to wait for a change.
    private var dueAt: Int64?
    var content: SurfaceContent?
    /// The time of the last change of the surface.
    var changedAt: Int64 = 0
    private var results: [SessionResult] = []
    private var budget: ActivityBudget
    var stored: ReportedInstallation
    /// The reports that the app has not sent yet.
    var reports: [Report] = []
    /// The time until which the app does not send them, but others.
    var heldUntil: Int64 = 0
    var phone = PhoneModel()
    /// The removal of a card by the user, until the user or the back end wants another one; nil for none.
    var removal: Removal?
    var revision = 0
    /// The revision with which the surface got its content.
    var generation = 0
    private var isAppleUp = true
    private(set) var isQuiet = false
    private var waiting: [APNsID: Push] = [:]
    private var pushCount: UInt64 = 0
    /// The token and the timestamp of the last push.
    private var last: (token: String, timestamp: Int64) = ("", 0)
    private var urgentUpdates: [Int64] = []
    private var starts: [Int64] = []
    var knownDead: Set<String> = []
    /// The card whose new tokens are ignored as a planted fault.
    var ignoredCard: String?

    init(seed: UInt64, fault: PlantedFault? = nil, tell: ((String) -> Void)? = nil) {
        generator = SplitMix64(state: seed)
        channel = seed % 3 == 0 ? .test(storesBroadcasts: seed % 2 == 0) : nil
        // A phone that cannot join gets pushes to its token.
        stored = ReportedInstallation(at: ActivityWorld.begin, systemVersion: seed % 4 == 0 ? "17.6" : "26.1")
        budget = ActivityBudget(at: ActivityWorld.begin)
        phone.clockLag = seed % 5 == 2 ? Int64(seed &* 7_919 % 36_000) : 0
        self.fault = fault
        self.tell = tell
    }

    mutating func run() throws(Violation) {
        plan()
        while let event = nextEvent(by: ActivityWorld.begin + ActivityWorld.busy) { try handle(event) }
        try settleDown()
    }

    func note(_ event: @autoclosure () -> String) { tell?("\(now) \(event())") }

    // MARK: The plan

    mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &generator) < probability
    }

    private mutating func someTime() -> Int64 {
        ActivityWorld.begin + Int64.random(in: 0..<ActivityWorld.busy, using: &generator)
    }

    mutating func schedule(_ event: Event, at time: Int64) {
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
        schedule(.report, at: now)
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
        for _ in 0..<Int.random(in: 0...20, using: &generator) {
            let isUrgent = chance(0.4)
            schedule(.touch(isUrgent: isUrgent), at: someTime())
        }
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
            desire(isUrgent: isUrgent)
            hasSession = true
        case .touch(let isUrgent): try touch(isUrgent: isUrgent)
        case .withdraw: withdraw()
        case .user(let choice): act(choice)
        case .setOnline(let isOnline):
            note("phone \(isOnline ? "online" : "offline")")
            deliver(phone.setOnline(isOnline, at: now, using: &generator))
        case .apple(let isUp): isAppleUp = isUp
        case .send(let push): try send(push)
        case .settle(let id, let result): try settle(id, result)
        case .report: try sendReports()
        case .tick: isDue = isDue || now >= dueAt ?? .max
        }
        if isDue, hasSession { try step() }
        try checkCards()
    }

    private mutating func settle(_ id: APNsID, _ result: PushResult) throws(Violation) {
        note("push \(id): \(result)")
        guard let push = waiting.removeValue(forKey: id) else { return }
        var end = SessionResult(id: id, state: .delivered, status: 200, endedAt: now * 1_000)
        switch result {
        case .accepted: break
        case .expired, .cancelled:
            end.state = if case .expired = result { .expired } else { .cancelled }
            end.status = nil
        case .unregistered(let since):
            knownDead.insert(push.token)
            if removal?.token == push.token { removal?.isUnregistered = true }
            if fault != .ignoresUnregistered {
                end.state = .refused
                end.status = 410
                let token = try ReportedInstallation.token(push.token)
                if fault == .takesUnregisteredForEnd { stored.endActivity(with: token, at: now) }
                stored.unregister(token, since: since)
            }
        }
        results.append(end)
        // As the outbox does.
        let time = min(dueAt ?? now, end.dueAt / 1_000)
        guard time > now else {
            isDue = true
            return
        }
        dueAt = time
        schedule(.tick, at: time)
    }

    // MARK: Steps

    private mutating func step() throws(Violation) {
        isDue = false
        if chance(0.01) { try restart() }
        var count = pushCount
        let plan = takeStep { _ in
            count += 1
            return APNsID(randomBits: (count, 0))
        }
        pushCount = count
        results = []
        for send in plan.sends { try perform(send) }
        for id in plan.cancelled where waiting[id] != nil && !isAppleUp { schedule(.settle(id, .cancelled), at: now) }
        dueAt = plan.dueAt.map { $0 / 1_000 }
        if let dueAt {
            guard dueAt > now else { throw Violation(description: "\(now): the next step is due at once") }
            schedule(.tick, at: dueAt)
        }
        guard plan.isFinished else { return }
        note("finished")
        state = SurfaceSessionState()
        hasSession = false
    }

    mutating func takeStep(_ ids: (ActivitySession.Broadcast?) -> APNsID) -> SurfacePlan {
        state.step(
            content,
            revision: Int64(revision),
            changedAt: changedAt * 1_000,
            isWithdrawn: content == nil,
            of: ReportedInstallation.surface,
            on: stored.installation,
            results: results,
            at: now * 1_000,
            within: &budget,
            ids: ids
        )
    }

    /// Replaces the state by that which a relay reads after a restart.
    private mutating func restart() throws(Violation) {
        note("restart")
        let read = try? SurfaceSessionState(stored: state.stored)
        guard let read, read == state else { throw Violation(description: "\(now): the stored state differs") }
        state = read
    }

    private mutating func perform(_ send: SurfacePlan.Send) throws(Violation) {
        note("\(send.content) \(send.snapshot.id)")
        let token = send.token.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "channel"
        let number = send.snapshot.id.split(separator: "@").last.flatMap { Int($0) } ?? 0
        func push(_ kind: Push.Kind, _ timestamp: Int64, _ priority: Int = 10) -> Push {
            Push(
                id: send.id,
                kind: kind,
                token: token,
                generation: number,
                timestamp: timestamp,
                priority: priority,
                sentAt: now
            )
        }
        switch send.content {
        case .start(let timestamp, let channel):
            try count(start: token)
            guard removal?.isKnown != true else {
                throw Violation(description: "\(now): a start after the user has removed the card")
            }
            guard channel == nil || channel == self.channel && stored.canJoin else {
                throw Violation(description: "\(now): a start on a channel that the phone cannot join")
            }
            var start = push(.start, timestamp)
            start.isForChannel = channel != nil
            try queue(start)
            guard fault == .startsTwice else { return }
            var copy = start
            copy.timestamp += 1
            copy.id = nil
            try queue(copy)
        case .broadcast(let broadcast):
            if broadcast.update.priority == 10 { try countUrgent() }
            let update = broadcast.update
            var sent = push(broadcast.isEnd ? .end : .update, update.timestamp, update.priority)
            sent.isForChannel = true
            sent.isStored = broadcast.channel.storesBroadcasts
            try self.send(sent, for: send.id)
        case .update(let update):
            guard !phone.channelTokens.contains(token) else {
                throw Violation(description: "\(now): an update to one card on a channel")
            }
            let priority = fault == .alwaysUrgent ? 10 : update.priority
            if priority == 10 { try countUrgent() }
            let timestamp = fault == .repeatsTimestamps ? now - now % 3_600 : update.timestamp
            try queue(push(.update, timestamp, priority))
        case .end(let timestamp):
            if fault == .forgetsEnds {
                waiting[send.id] = push(.end, timestamp)
                schedule(.settle(send.id, .accepted), at: now + 1)
            } else {
                try queue(push(.end, timestamp))
            }
        case .notification, .background, .widgets, .control:
            throw Violation(description: "\(now): the phone has no token of another kind")
        }
    }

    /// Sends a broadcast, which another session of the surface may have sent before.
    private mutating func send(_ broadcast: Push, for id: APNsID) throws(Violation) {
        waiting[id] = broadcast
        guard fault != .forgetsBroadcasts else { return schedule(.settle(id, .accepted), at: now + 1) }
        var push = broadcast
        if chance(0.3) {
            schedule(.settle(id, .cancelled), at: now)
            push.id = nil
        }
        try queue(push)
    }

    private mutating func queue(_ push: Push) throws(Violation) {
        // Cards that are ended at once have one timestamp.
        let isOneOfSeveralEnds = push.kind == .end && push.timestamp == last.timestamp && push.token != last.token
        guard push.timestamp > last.timestamp || isOneOfSeveralEnds else {
            throw Violation(description: "\(now): a timestamp did not rise")
        }
        last = (push.token, push.timestamp)
        guard !knownDead.contains(push.token) else {
            throw Violation(description: "\(now): a push to \(push.token), which is known to be unregistered")
        }
        if let id = push.id { waiting[id] = push }
        schedule(.send(push), at: now + Int64.random(in: 0...2, using: &generator))
    }

    private mutating func send(_ push: Push) throws(Violation) {
        if let id = push.id, waiting[id] == nil { return }
        guard isAppleUp else {
            // The outbox tries again until the push expires.
            if let id = push.id, now > push.sentAt + push.life {
                schedule(.settle(id, .expired), at: now + 30)
            } else {
                schedule(.send(push), at: now + 30)
            }
            return
        }
        let since = phone.deadTokens[push.token]
        if let id = push.id {
            if let since, chance(0.7) {
                schedule(.settle(id, .unregistered(since: since)), at: now)
                return
            }
            schedule(.settle(id, .accepted), at: now)
        }
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

    /// Two cards may be on the phone only while one replaces the other and the app has not run since, and more only if
    /// the phone has missed broadcasts that end them.
    private func checkCards() throws(Violation) {
        let limit = 2 + phone.missedEnds
        guard phone.cards.count <= limit else { throw Violation(description: "\(now): \(phone.cards.count) cards") }
    }

    /// Lets the outage end, brings the phone online, opens the app, and checks the state that remains.
    private mutating func settleDown() throws(Violation) {
        isQuiet = true
        isAppleUp = true
        now = max(now, ActivityWorld.begin + ActivityWorld.busy)
        deliver(phone.setOnline(true, at: now, using: &generator))
        note("quiet")
        let end = now + (channel != nil && stored.canJoin ? ActivityWorld.channelQuiet : ActivityWorld.quiet)
        // The user opens the app from time to time.
        for pass in 0..<(end - now) / 600 { schedule(.user(9), at: now + pass * 600 + 30) }
        while let event = nextEvent(by: end) {
            if case .user(let choice) = event, choice != 9 { continue }
            switch event {
            case .desire, .touch, .withdraw, .setOnline, .apple: continue
            case .user, .send, .settle, .report, .tick: try handle(event)
            }
        }
        try checkEnd()
    }

    private func checkEnd() throws(Violation) {
        let shown = phone.cards.filter(\.isActive)
        let phase = state.activity.assumed.phase
        guard content != nil else {
            // A card that the app has started after the session had ended is the app's.
            guard shown.allSatisfy({ !hasSession && !$0.isStartedByPush }) else {
                throw Violation(description: "a card is left of a surface that is not desired: \(phase)")
            }
            return
        }
        // A card on the channel has no token with which it could be ended.
        guard removal?.isReported != true || !shown.contains(where: { $0.isStartedByPush && !$0.usesChannel }) else {
            throw Violation(description: "a card is left after the user has removed the one before: \(phase)")
        }
        if let reason = state.activity.absence {
            guard !reason.isTrue(of: phone) else { return }
            throw Violation(description: "absent because of \(reason), which is not so")
        }
        if case .unconfirmed = phase, shown.isEmpty { return }
        let isReplacing: Bool =
            switch phase {
            case .live(let card): card.successor != nil
            // The app has not run since the start of a card on the channel in place of another one.
            case .starting, .unconfirmed: channel != nil
            case .none, .ending: false
            }
        guard shown.count == 1 || isReplacing, shown.first?.generation == generation else {
            throw Violation(description: "desired \(generation), shown \(shown.map(\.generation)): \(phase)")
        }
    }
}

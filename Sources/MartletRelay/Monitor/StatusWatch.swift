// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// Compares the states of a relay at successive times, and returns the events between them.
struct StatusWatch: Sendable {
    /// The facts about a lane that are compared.
    struct WatchedLane: Sendable {
        var problem: LaneProblem?
        var pause: LanePause?
        /// The attempts since Apple last accepted a push; nil when the last one was accepted.
        var failing: DispatchCounts.Failing?
        /// Whether these are so many that the lane fails.
        var fails = false
        /// The losses of the other relays since their start.
        var lostElsewhere = LossCounts()
        /// The number of pushes that other relays have delivered since their start.
        var deliveredElsewhere = 0
        /// The numbers of this relay since its start.
        var totals = RecentRates.Totals()

        /// Whether Apple has accepted a push of this relay since its start.
        var hasDelivered: Bool { totals.attempts > totals.failures }
    }

    /// A relay that shares the outbox.
    struct Relay: Sendable, Hashable {
        var name: String
        var version: String
    }

    /// The maximum number of problems that are over and stored.
    private static let pastLimit = 400
    /// The duration from which an outage without losses is reported, in milliseconds.
    private static let notableTime: Int64 = 10_000
    /// The time after which the losses of other relays are known, in milliseconds: they publish them once a second.
    static let publicationTime: Int64 = 10_000

    /// The state of a relay.
    struct State: Sendable {
        var lanes: [Lane: WatchedLane] = [:]
        /// The error of an outbox that stores nothing.
        var storeError: String?
        /// The time of its first error, in milliseconds since 1970.
        var storeSince: Int64?
        /// The number of pushes that were refused since the start of the relay because they could not be stored.
        var notStored = 0
        var isDraining = false
        var reloads = 0
        var rejections = 0
        /// The relays that share the outbox, by number; empty for a relay with an outbox of its own.
        var relays: [Int64: Relay] = [:]
        /// The losses of this relay since the last state.
        var losses: [Loss] = []

        /// The number of the relay that performs the work of a single relay.
        fileprivate var leader: Int64? { relays.keys.min() }
    }

    private var last: State?
    /// The state of each lane that is down when its outage was noticed.
    private var outages: [Lane: WatchedLane] = [:]
    /// The numbers of each lane that was down, just before it delivered again.
    private var recoveries: [Lane: RecentRates.Totals] = [:]
    /// The start and the end of the last pause of each lane that is down and was resumed, in milliseconds since 1970.
    private var interruptions: [Lane: Range<Int64>] = [:]
    /// The number of pushes that were refused before the storage failed; nil while it works.
    private var notStoredBefore: Int?
    /// The lost pushes, by the problem in whose time they were lost.
    private(set) var ledger = LossLedger()
    /// The latest problems that are over, oldest first, with their numbers in the ledger, and whether
    /// ``takeCounted(at:)`` has returned them.
    private var past: [(outage: PastOutage, number: Int, isTaken: Bool)] = []

    /// Returns the latest problems of some apps that are over, oldest first; nil for all apps.
    ///
    /// Short ones without losses need no attention afterwards. The losses may grow after the end, because the end of a
    /// push that has expired is stored later.
    func pastOutages(of apps: Set<String>? = nil) -> [PastOutage] {
        past.compactMap { entry in
            guard let apps else { return counted(entry.outage, entry.number) }
            let isVisible = entry.outage.lane.map { apps.contains($0.app) } ?? true
            return isVisible ? counted(entry.outage, entry.number, of: apps) : nil
        }
    }

    /// Returns a problem that is over with its losses; nil for one that needs no attention.
    private func counted(_ outage: PastOutage, _ number: Int, of apps: Set<String>? = nil) -> PastOutage? {
        guard let whole = ledger.problem(number) else { return nil }
        let problem = apps.map { whole.part(of: $0) } ?? whole
        var outage = outage
        outage.losses = problem.losses
        outage.lostElsewhere = problem.lostElsewhere
        return outage.isNotable(after: StatusWatch.notableTime) ? outage : nil
    }

    /// Returns the problems that were not returned before, and whose losses are counted: expired pushes were ended up
    /// to a time, and those of other relays are known.
    mutating func takeCounted(at expiredUntil: Int64) -> [PastOutage] {
        var counted: [PastOutage] = []
        for (index, entry) in past.enumerated()
        where !entry.isTaken && entry.outage.end <= expiredUntil - StatusWatch.publicationTime {
            past[index].isTaken = true
            if let outage = self.counted(entry.outage, entry.number) { counted.append(outage) }
        }
        return counted
    }

    /// Returns the numbers of a lane that is down when its outage was noticed; nil for a lane that is not down.
    func totalsBeforeOutage(of lane: Lane) -> RecentRates.Totals? { outages[lane]?.totals }

    /// Returns the numbers of a lane just before it delivered again after its last outage; zeros without one.
    func totalsBeforeRecovery(of lane: Lane) -> RecentRates.Totals { recoveries[lane] ?? RecentRates.Totals() }

    /// Returns the lanes that are down in this relay, and in which other relays have delivered pushes since.
    func lanesDeliveredElsewhere(_ state: State) -> [Lane] {
        outages.filter { lane, before in
            state.lanes[lane].map { $0.deliveredElsewhere > before.deliveredElsewhere } ?? false
        }
        .map(\.key)
    }

    /// Returns the number of pushes that were refused since the storage failed.
    func notStored(of total: Int) -> Int { max(0, total - (notStoredBefore ?? total)) }

    /// Returns the events since the last call; the first call returns none of the fleet and the reloads.
    mutating func update(_ state: State, at now: Int64) -> [StatusEvent] {
        let before = last ?? State(reloads: state.reloads, rejections: state.rejections, relays: state.relays)
        last = state
        last?.losses = []
        // The numbers of the other relays are not known before the database has been read for the first time.
        let isFirstReading = before.relays.isEmpty && !state.relays.isEmpty
        if isFirstReading { for lane in outages.keys { outages[lane] = state.lanes[lane] } }
        let lanes = state.lanes.sorted {
            ($0.key.app, $0.key.environment.rawValue) < ($1.key.app, $1.key.environment.rawValue)
        }
        var events: [StatusEvent] = []
        for (lane, current) in lanes { events += laneEvents(of: lane, current, before.lanes[lane], at: now) }
        func add(_ kind: StatusEvent.Kind, _ text: String, at time: Int64? = nil) {
            events.append(StatusEvent(time: time ?? now, kind: kind, text: text))
        }
        switch (before.storeError, state.storeError) {
        case (nil, let error?):
            // Those since the last call were refused for this error.
            notStoredBefore = before.notStored
            begin(.storage, at: state.storeSince ?? now)
            add(.storageFailed, "Pushes cannot be stored: \(error)", at: state.storeSince)
        case (let error?, nil):
            add(.storageRecovered, "Pushes can be stored again")
            addPast(ledger.end(.storage, at: now), reason: error, notStored: notStored(of: state.notStored))
            notStoredBefore = nil
        default: break
        }
        recordLosses(state, before, isFirstReading: isFirstReading, at: now)
        if state.reloads > before.reloads { add(.reloaded, "The configuration was reloaded") }
        if state.rejections > before.rejections { add(.reloadRejected, "A new configuration was rejected") }
        if state.isDraining, !before.isDraining { add(.draining, "This relay is shutting down") }
        endInterrupted(state)
        return events + fleetEvents(state, before, at: now)
    }

    private mutating func laneEvents(
        of lane: Lane,
        _ state: WatchedLane,
        _ before: WatchedLane?,
        at now: Int64
    ) -> [StatusEvent] {
        let name = "\(lane.app) \(lane.environment.rawValue)"
        var events: [StatusEvent] = []
        func add(_ kind: StatusEvent.Kind, _ text: String, at time: Int64) {
            events.append(StatusEvent(time: time, kind: kind, lane: lane, text: text))
        }
        switch (before?.pause, state.pause) {
        case (nil, let pause?):
            begin(.pause(lane), at: min(pause.since, now))
            add(.paused, "\(name) was paused by \(pause.caller)", at: pause.since)
        case (let pause?, nil):
            endPause(pause, at: now)
            add(.resumed, "\(name) was resumed", at: now)
        default: break
        }
        switch (before?.problem, state.problem) {
        case (nil, let problem?):
            outages[lane] = state
            begin(.outage(lane), at: problem.since)
            add(.outageBegan, "\(name) is down: \(problem.reason)", at: problem.since)
        case (.some, let problem?):
            // The silence of Apple may turn out to be an outage that began before.
            begin(.outage(lane), at: problem.since)
        case (let problem?, nil):
            let end = endOfOutage(problem, of: lane, at: now)
            addPast(ledger.end(.outage(lane), at: end), reason: problem.reason)
            outages[lane] = nil
            interruptions[lane] = nil
            recoveries[lane] = before?.totals
            add(.outageEnded, "\(name) delivers again", at: now)
        case (nil, nil): break
        }
        watchFailures(of: lane, state, before, at: now)
        return events
    }

    /// Ends the failing of a lane when Apple has accepted a push, and begins it when the lane fails.
    private mutating func watchFailures(of lane: Lane, _ state: WatchedLane, _ before: WatchedLane?, at now: Int64) {
        let isOver =
            if let earlier = before?.failing {
                // It may have begun again since the last state.
                state.failing?.since != earlier.since
            } else {
                state.hasDelivered
            }
        if isOver {
            let end = state.failing?.since ?? now
            addPast(ledger.end(.failing(lane), at: end), reason: before?.failing?.reason ?? "")
        }
        if state.fails, let failing = state.failing { begin(.failing(lane), at: failing.since) }
    }

    private mutating func endPause(_ pause: LanePause, at now: Int64) {
        if outages[pause.lane] != nil { interruptions[pause.lane] = min(pause.since, now)..<now }
        addPast(ledger.end(.pause(pause.lane), at: now), reason: pause.caller)
    }

    /// Assigns the losses since the last state to the problems, and ends the expiries that are over.
    private mutating func recordLosses(_ state: State, _ before: State, isFirstReading: Bool, at now: Int64) {
        for loss in state.losses { ledger.record(loss) }
        for (lane, current) in state.lanes {
            guard !isFirstReading, let earlier = before.lanes[lane]?.lostElsewhere else { continue }
            // Other relays publish numbers without times.
            let counts = current.lostElsewhere - earlier
            ledger.record(Loss(lane: lane, counts: counts, from: now - StatusWatch.publicationTime, to: now))
        }
        for number in ledger.endExpiries(at: now) { addPast(number) }
    }

    /// Begins a problem, or continues the one that lasted when the relay was stopped.
    private mutating func begin(_ cause: LossLedger.Cause, at start: Int64) {
        resumeInterrupted(cause)
        // Apple has accepted nothing since, either.
        if case .outage(let lane) = cause { resumeInterrupted(.failing(lane)) }
        ledger.begin(cause, at: start)
    }

    private mutating func resumeInterrupted(_ cause: LossLedger.Cause) {
        let index = past.firstIndex { $0.outage.isInterrupted && ledger.problem($0.number)?.cause == cause }
        guard let index else { return }
        ledger.resume(past.remove(at: index).number)
    }

    /// Notes which problems that lasted when the relay was stopped are over.
    private mutating func endInterrupted(_ state: State) {
        for index in past.indices where past[index].outage.isInterrupted {
            let outage = past[index].outage
            let current = outage.lane.flatMap { state.lanes[$0] }
            let isOver =
                switch outage.kind {
                case .pause: current?.pause == nil
                case .outage where outage.lane != nil, .failing: current?.hasDelivered ?? false
                case .outage, .expiry, .stop: true
                }
            guard isOver else { continue }
            past[index].outage.isInterrupted = false
            past[index].isTaken = false
        }
    }

    // MARK: Restarts

    /// Returns the problems to store: those that last, and the latest of those that were over within the last hour.
    func problemsToStore(at now: Int64) -> Set<StoredProblem> {
        let lasting = ledger.lasting.sorted { $0.start > $1.start }.compactMap { problem -> StoredProblem? in
            let stored = StoredProblem(problem, reason: reason(of: problem.cause))
            return stored.outage(until: now)?.isNotable(after: StatusWatch.notableTime) ?? false ? stored : nil
        }
        let ended = past.reversed().compactMap { outage, number, _ -> StoredProblem? in
            guard now - outage.end < StatusSummary.pastTime, counted(outage, number) != nil,
                let problem = ledger.problem(number)
            else { return nil }
            return StoredProblem(
                problem,
                reason: outage.reason,
                notStored: outage.notStored,
                isInterrupted: outage.isInterrupted
            )
        }
        return Set((lasting + ended).prefix(StoredProblem.limit))
    }

    /// Adds the problems that an earlier process of this relay has stored.
    ///
    /// A problem that lasted then continues if it lasts now, and also if it begins before anything shows that it was
    /// over.
    ///
    /// - Parameters:
    ///   - problems: The problems.
    ///   - lastSeen: The time at which the earlier process was last known to run.
    mutating func restore(_ problems: [StoredProblem], until lastSeen: Int64) {
        var restored: [(outage: PastOutage, number: Int, isTaken: Bool)] = []
        for stored in problems {
            guard let outage = stored.outage(until: lastSeen) else { continue }
            var problem = stored.problem
            // The end of an expiry is a time without losses, which needs no other sign.
            if outage.kind != .expiry { problem.end = outage.end }
            guard let number = ledger.restore(problem, lasted: outage.isInterrupted) else { continue }
            restored.append((outage, number, true))
        }
        past = restored.sorted { $0.outage.end < $1.outage.end } + past
    }

    /// Returns the reason of a problem that lasts, or the operator of a pause; empty if there is none.
    private func reason(of cause: LossLedger.Cause) -> String {
        let lane = cause.lane.flatMap { last?.lanes[$0] }
        let reason: String? =
            switch cause {
            case .pause: lane?.pause?.caller
            case .storage: last?.storeError
            case .outage: lane?.problem?.reason
            case .failing: lane?.failing?.reason
            case .stop, .expiry, .damage: nil
            }
        return reason ?? ""
    }

    /// Records that the relay did not run from a time until another one, in which pushes may have expired.
    mutating func recordStop(from start: Int64, to end: Int64) {
        addPast(ledger.addPast(.stop, from: start, to: end))
    }

    /// Returns the end of an outage: the start of a pause after which no attempt has failed, or else now.
    private func endOfOutage(_ problem: LaneProblem, of lane: Lane, at now: Int64) -> Int64 {
        guard let pause = interruptions[lane], (problem.lastTry ?? problem.since) < pause.upperBound else { return now }
        return max(problem.since, pause.lowerBound)
    }

    /// Stores a problem of the ledger that is over, and forgets one if there are too many: the oldest one that needs no
    /// attention, or else the oldest.
    private mutating func addPast(_ number: Int?, reason: String = "", notStored: Int = 0) {
        guard let number, let problem = ledger.problem(number), let end = problem.end,
            let outage = StoredProblem(problem, reason: reason, notStored: notStored).outage(until: end)
        else { return }
        past.append((outage, number, false))
        guard past.count > StatusWatch.pastLimit else { return }
        let latest = outage.end - StatusWatch.publicationTime
        let index = past.firstIndex { $0.outage.end < latest && counted($0.outage, $0.number) == nil }
        ledger.forget(past.remove(at: index ?? 0).number)
    }

    private func fleetEvents(_ state: State, _ before: State, at now: Int64) -> [StatusEvent] {
        func event(_ kind: StatusEvent.Kind, _ number: Int64, _ relay: Relay?, _ verb: String) -> StatusEvent {
            let name = relay.map { "Relay \(number) (\($0.name), version \($0.version))" } ?? "Relay \(number)"
            return StatusEvent(time: now, kind: kind, text: name + " " + verb)
        }
        // The relays are not known before the database has been read for the first time.
        guard !before.relays.isEmpty else { return [] }
        let joined = state.relays.keys.filter { before.relays[$0] == nil }.sorted()
        let left = before.relays.keys.filter { state.relays[$0] == nil }.sorted()
        var events = joined.map { event(.relayJoined, $0, state.relays[$0], "joined") }
        events += left.map { event(.relayLeft, $0, before.relays[$0], "left") }
        if let leader = state.leader, leader != before.leader {
            events.append(event(.leaderChanged, leader, state.relays[leader], "leads now"))
        }
        return events
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// Compares the states of a relay at successive times, and returns the events between them.
struct StatusWatch: Sendable {
    /// The facts about a lane that are compared.
    struct WatchedLane: Sendable {
        var problem: LaneProblem?
        var pause: LanePause?
        /// The number of pushes that have expired or were abandoned since the start of the relay.
        var lost = 0
        /// The number of pushes that Apple has refused for good since the start of the relay.
        var refused = 0
        /// The number of pushes that other relays have delivered since their start.
        var deliveredElsewhere = 0
        /// The numbers of this relay since its start.
        var totals = RecentRates.Totals()
    }

    /// A relay that shares the outbox.
    struct Relay: Sendable, Hashable {
        var name: String
        var version: String
    }

    /// An outage that is over, or a pause that has ended.
    struct PastOutage: Sendable, Hashable {
        /// The lane that was down or paused; nil if no pushes could be stored.
        var lane: Lane?
        /// The reason of the outage; for a pause, the operator who paused the lane.
        var reason: String
        var isPause = false
        /// The times of the beginning and the end, in milliseconds since 1970.
        var start: Int64
        var end: Int64
        /// The number of pushes that expired or were abandoned in the outage, and of those that Apple refused.
        var lost = 0
        var refused = 0
        /// The number of pushes that the relay refused because it could not store them.
        var notStored = 0
    }

    /// The maximum number of past outages that are stored.
    private static let pastLimit = 200
    /// The duration from which an outage without losses is stored, in milliseconds.
    private static let notableTime: Int64 = 10_000

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

        /// The number of the relay that performs the work of a single relay.
        fileprivate var leader: Int64? { relays.keys.min() }
    }

    private var last: State?
    /// The state of each lane that is down when its outage was noticed.
    private var outages: [Lane: WatchedLane] = [:]
    /// The state of each paused lane when its pause was noticed.
    private var pauses: [Lane: WatchedLane] = [:]
    /// The numbers of each lane that was down, just before it delivered again.
    private var recoveries: [Lane: RecentRates.Totals] = [:]
    /// The start and the end of the last pause of each lane that is down and was resumed, in milliseconds since 1970.
    private var interruptions: [Lane: Range<Int64>] = [:]
    /// The number of pushes that were refused before the storage failed; nil while it works.
    private var notStoredBefore: Int?
    /// The latest outages that are over, oldest first, in memory only.
    private(set) var pastOutages: [PastOutage] = []

    /// Returns the number of pushes of a lane that have expired or were abandoned since its pause was noticed.
    func lostInPause(of lane: Lane, total: Int) -> Int { max(0, total - (pauses[lane]?.lost ?? total)) }

    /// Returns the number of pushes of a lane that have expired or were abandoned since its outage was noticed.
    func lost(of lane: Lane, total: Int) -> Int { max(0, total - (outages[lane]?.lost ?? total)) }

    /// Returns the numbers of a lane that is down when its outage was noticed; nil for a lane that is not down.
    func totalsBeforeOutage(of lane: Lane) -> RecentRates.Totals? { outages[lane]?.totals }

    /// Returns the numbers of a lane just before it delivered again after its last outage; zeros without one.
    func totalsBeforeRecovery(of lane: Lane) -> RecentRates.Totals { recoveries[lane] ?? RecentRates.Totals() }

    /// Returns the number of pushes of a lane that Apple has refused for good since its outage was noticed.
    func refused(of lane: Lane, total: Int) -> Int { max(0, total - (outages[lane]?.refused ?? total)) }

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
        // The numbers of the other relays are not known before the database has been read for the first time.
        if before.relays.isEmpty, !state.relays.isEmpty {
            for lane in outages.keys { outages[lane] = state.lanes[lane] }
            for lane in pauses.keys { pauses[lane] = state.lanes[lane] }
        }
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
            add(.storageFailed, "Pushes cannot be stored: \(error)", at: state.storeSince)
        case (let error?, nil):
            add(.storageRecovered, "Pushes can be stored again")
            var outage = PastOutage(lane: nil, reason: error, start: before.storeSince ?? now, end: now)
            outage.notStored = notStored(of: state.notStored)
            notStoredBefore = nil
            addPast(outage)
        default: break
        }
        if state.reloads > before.reloads { add(.reloaded, "The configuration was reloaded") }
        if state.rejections > before.rejections { add(.reloadRejected, "A new configuration was rejected") }
        if state.isDraining, !before.isDraining { add(.draining, "This relay is shutting down") }
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
            pauses[lane] = state
            add(.paused, "\(name) was paused by \(pause.caller)", at: pause.since)
        case (let pause?, nil):
            endPause(pause, state, at: now)
            add(.resumed, "\(name) was resumed", at: now)
        default: break
        }
        switch (before?.problem, state.problem) {
        case (nil, let problem?):
            outages[lane] = state
            add(.outageBegan, "\(name) is down: \(problem.reason)", at: problem.since)
        case (let problem?, nil):
            addPast(
                PastOutage(
                    lane: lane,
                    reason: problem.reason,
                    start: problem.since,
                    end: endOfOutage(problem, of: lane, at: now),
                    lost: lost(of: lane, total: state.lost),
                    refused: refused(of: lane, total: state.refused)
                )
            )
            outages[lane] = nil
            interruptions[lane] = nil
            recoveries[lane] = before?.totals
            add(.outageEnded, "\(name) delivers again", at: now)
        default: break
        }
        return events
    }

    /// Stores a pause with losses, which are not those of an outage that the pause has interrupted.
    private mutating func endPause(_ pause: LanePause, _ state: WatchedLane, at now: Int64) {
        let lost = lostInPause(of: pause.lane, total: state.lost)
        pauses[pause.lane] = nil
        if outages[pause.lane] != nil {
            let lostInOutage = min(lost, self.lost(of: pause.lane, total: state.lost))
            outages[pause.lane]?.lost += lostInOutage
            interruptions[pause.lane] = min(pause.since, now)..<now
        }
        guard lost > 0 else { return }
        addPast(
            PastOutage(lane: pause.lane, reason: pause.caller, isPause: true, start: pause.since, end: now, lost: lost)
        )
    }

    /// Returns the end of an outage: the start of a pause after which no attempt has failed, or else now.
    private func endOfOutage(_ problem: LaneProblem, of lane: Lane, at now: Int64) -> Int64 {
        guard let pause = interruptions[lane], (problem.lastTry ?? problem.since) < pause.upperBound else { return now }
        return max(problem.since, pause.lowerBound)
    }

    /// Stores an outage that is over; a short one without losses needs no attention afterwards.
    private mutating func addPast(_ outage: PastOutage) {
        let isLong = outage.end - outage.start >= StatusWatch.notableTime
        guard isLong || outage.lost + outage.refused + outage.notStored > 0 else { return }
        pastOutages.append(outage)
        if pastOutages.count > StatusWatch.pastLimit { pastOutages.removeFirst() }
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

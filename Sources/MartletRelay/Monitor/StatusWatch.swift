// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// Compares the states of a relay at successive times, and returns the events between them.
struct StatusWatch: Sendable {
    /// The state of a lane.
    struct LaneState: Sendable {
        var problem: LaneProblem?
        var pause: LanePause?
        /// The number of pushes that have expired or were abandoned since the start of the relay.
        var lost = 0
        /// The number of pushes that Apple has refused for good since the start of the relay.
        var refused = 0
        /// The numbers of this relay since its start.
        var totals = RecentRates.Totals()
    }

    /// A relay that shares the outbox.
    struct Relay: Sendable, Hashable {
        var name: String
        var version: String
    }

    /// The state of a relay.
    struct State: Sendable {
        var lanes: [Lane: LaneState] = [:]
        /// The error of an outbox that stores nothing.
        var storeError: String?
        /// The time of its first error, in milliseconds since 1970.
        var storeSince: Int64?
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
    private var outages: [Lane: LaneState] = [:]

    /// Returns the number of pushes of a lane that have expired or were abandoned since its outage was noticed.
    func lost(of lane: Lane, total: Int) -> Int { max(0, total - (outages[lane]?.lost ?? total)) }

    /// Returns the numbers of a lane that is down when its outage was noticed; nil for a lane that is not down.
    func totalsBeforeOutage(of lane: Lane) -> RecentRates.Totals? { outages[lane]?.totals }

    /// Returns the number of pushes of a lane that Apple has refused for good since its outage was noticed.
    func refused(of lane: Lane, total: Int) -> Int { max(0, total - (outages[lane]?.refused ?? total)) }

    /// Returns the events since the last call; the first call returns none of the fleet and the reloads.
    mutating func update(_ state: State, at now: Int64) -> [StatusEvent] {
        let before = last ?? State(reloads: state.reloads, rejections: state.rejections, relays: state.relays)
        last = state
        let lanes = state.lanes.keys.sorted { ($0.app, $0.environment.rawValue) < ($1.app, $1.environment.rawValue) }
        var events: [StatusEvent] = []
        for lane in lanes { events += laneEvents(of: lane, state.lanes[lane], before.lanes[lane], at: now) }
        func add(_ kind: StatusEvent.Kind, _ text: String, at time: Int64? = nil) {
            events.append(StatusEvent(time: time ?? now, kind: kind, text: text))
        }
        switch (before.storeError, state.storeError) {
        case (nil, let error?): add(.storageFailed, "Pushes cannot be stored: \(error)", at: state.storeSince)
        case (_?, nil): add(.storageRecovered, "Pushes can be stored again")
        default: break
        }
        if state.reloads > before.reloads { add(.reloaded, "The configuration was reloaded") }
        if state.rejections > before.rejections { add(.reloadRejected, "A new configuration was rejected") }
        if state.isDraining, !before.isDraining { add(.draining, "This relay is shutting down") }
        return events + fleetEvents(state, before, at: now)
    }

    private mutating func laneEvents(
        of lane: Lane,
        _ state: LaneState?,
        _ before: LaneState?,
        at now: Int64
    ) -> [StatusEvent] {
        let name = "\(lane.app) \(lane.environment.rawValue)"
        var events: [StatusEvent] = []
        func add(_ kind: StatusEvent.Kind, _ text: String, at time: Int64) {
            events.append(StatusEvent(time: time, kind: kind, lane: lane, text: text))
        }
        switch (before?.problem, state?.problem) {
        case (nil, let problem?):
            outages[lane] = state
            add(.outageBegan, "\(name) is down: \(problem.reason)", at: problem.since)
        case (_?, nil):
            outages[lane] = nil
            add(.outageEnded, "\(name) delivers again", at: now)
        default: break
        }
        switch (before?.pause, state?.pause) {
        case (nil, let pause?): add(.paused, "\(name) was paused by \(pause.caller)", at: pause.since)
        case (_?, nil): add(.resumed, "\(name) was resumed", at: now)
        default: break
        }
        return events
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

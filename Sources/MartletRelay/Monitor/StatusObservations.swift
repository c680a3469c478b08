// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The observations of the monitor over time: events, and facts that are read at longer intervals than the status.
struct StatusObservations: Sendable {
    /// The interval between readings of the expiry of keys and certificates, in milliseconds.
    private static let expiryInterval: Int64 = 60_000

    private(set) var watch = StatusWatch()
    private(set) var events = StatusEvents()
    /// The dead letters, by the name of the app.
    var deadLetters: [String: DeadLetterCount] = [:]
    /// The end of the process that ran before; nil if it is not known.
    private(set) var earlierEnd: EarlierEnd?
    private(set) var clockJump: StatusFacts.ClockJump?
    /// The number of pushes of each lane that have expired while they wait for Apple's answer.
    var expiredInFlight: [Lane: Int] = [:]
    /// The time up to which all pushes that have expired were ended, unless they are claimed.
    var expiredUntil: Int64 = 0
    /// The limit for log lines about a full queue.
    private var fullQueueThrottle = GrowingThrottle()
    /// The delays of the event loop.
    var loopLag = Histogram.times
    /// The space on the disk of the outbox.
    var disk = DiskWatch()
    /// Whether the outbox could store pushes at the last update.
    var isStoring = true
    /// The last backlog that was read; nil before the first one.
    var backlog: [Lane: Backlog]?
    private(set) var expiries: [ExpiryWarning] = []
    private var expiriesReadAt: Int64?

    /// Records the start of the relay.
    init(startedAt: Int64, version: String) {
        events.add([StatusEvent(time: startedAt, kind: .started, text: "This relay started with version \(version)")])
    }

    mutating func update(_ state: StatusWatch.State, at now: Int64) { events.add(watch.update(state, at: now)) }

    /// Returns the time in which the queue is full if a log line about it is due; nil otherwise.
    mutating func takeFullQueue(_ queue: FullQueue, at now: Int64) -> FullQueue.Period? {
        guard let period = queue.current(at: now) else {
            fullQueueThrottle.end()
            return nil
        }
        return fullQueueThrottle.take(at: now) == nil ? nil : period
    }

    /// Returns the problems that are over, with their losses, for one log line each.
    mutating func takeCounted() -> [StatusWatch.PastOutage] { watch.takeCounted(at: expiredUntil) }

    /// Records a jump of the wall clock by a number of seconds.
    mutating func recordClockJump(by seconds: Int64, at now: Int64) {
        clockJump = StatusFacts.ClockJump(time: now, seconds: seconds)
        let text = "The clock jumped \(seconds < 0 ? "back" : "ahead") by \(seconds.magnitude.grouped) s"
        events.add([StatusEvent(time: now, kind: .clockJumped, text: text)])
    }

    /// Records the end of the process that ran before.
    ///
    /// - Parameters:
    ///   - end: The end.
    ///   - isAlone: Whether no other relay shares the outbox, so that no push was sent until this process started.
    mutating func recordEarlierEnd(_ end: EarlierEnd, isAlone: Bool) {
        earlierEnd = end
        if isAlone { watch.recordStop(from: end.lastSeen, to: end.startedAt) }
    }

    /// Adds the problems that the process that ran before has stored.
    mutating func restore(_ problems: [StoredProblem], at now: Int64) {
        watch.restore(problems, until: earlierEnd?.lastSeen ?? now)
    }

    /// Reads the expiry of keys and certificates if the last reading is old.
    ///
    /// Reading it parses certificates, which takes too long for each status.
    mutating func readExpiries(of configuration: RelayConfiguration, at now: Int64, isForced: Bool = false) {
        let isRecent = expiriesReadAt.map { (0..<StatusObservations.expiryInterval).contains(now - $0) } ?? false
        let hasExpired = expiries.contains { !$0.isExpired && $0.expiry <= now / 1_000 }
        guard isForced || hasExpired || !isRecent else { return }
        expiriesReadAt = now
        expiries = configuration.expiryWarnings(at: now / 1_000)
    }

    /// Returns the events of some apps for the API, with the time since which they are stored.
    func json(of apps: Set<String>, since start: Int64) -> JSONValue {
        [
            "since": .whole(start), "limit": .whole(StatusEvents.limit),
            "events": .array(events.list(of: apps).map(\.json)),
        ]
    }
}

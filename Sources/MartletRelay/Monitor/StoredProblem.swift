// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// A problem of a relay as it is stored, so that a restart does not change it.
///
/// It has names of apps and operators and the reasons of errors, and neither tokens nor payloads.
struct StoredProblem: Sendable, Hashable {
    /// The maximum number of stored problems, and of lanes with losses of one of them.
    static let limit = 100
    /// The maximum number of characters of a reason.
    private static let longestReason = 200
    /// The greatest number of pushes that is read, so that sums cannot overflow, whatever the store contains.
    private static let greatestCount: Int64 = 1 << 40

    /// The problem, without an end if it lasted when it was stored.
    let problem: LossLedger.Problem
    let reason: String
    /// The number of pushes that the relay refused because it could not store them.
    let notStored: Int
    /// Whether it lasted when an earlier process ended; the end is then the time at which that was last known to run.
    let isInterrupted: Bool

    init(_ problem: LossLedger.Problem, reason: String, notStored: Int = 0, isInterrupted: Bool = false) {
        self.problem = problem
        self.reason = String(reason.prefix(StoredProblem.longestReason))
        self.notStored = notStored
        self.isInterrupted = isInterrupted
    }

    /// Returns the problem as one that is over or may be over.
    ///
    /// - Parameter time: The end of a problem that lasted when it was stored.
    /// - Returns: The problem; nil for damaged pushes, which are no problem of a time.
    func outage(until time: Int64) -> StatusWatch.PastOutage? {
        guard let kind = problem.cause.kind else { return nil }
        return StatusWatch.PastOutage(
            lane: problem.cause.lane,
            reason: reason,
            kind: kind,
            start: problem.start,
            end: problem.end ?? max(problem.start, time),
            losses: problem.losses,
            lostElsewhere: problem.lostElsewhere,
            notStored: notStored,
            isInterrupted: isInterrupted || problem.end == nil
        )
    }

    // MARK: JSON

    /// Returns problems as text for a store.
    static func text(of problems: Set<StoredProblem>) -> String { JSONValue.array(problems.map(\.json)).description }

    /// Reads the text of a store, and leaves out what is damaged.
    static func list(_ text: String, at now: Int64) -> [StoredProblem] {
        let elements = (try? JSONReader.read(Array(text.utf8)))?.elements ?? []
        return elements.prefix(limit).compactMap { StoredProblem($0, at: now) }
    }

    private var json: JSONValue {
        let lane = problem.cause.lane
        let lanes = Set(problem.lossesByLane.keys).union(problem.lostElsewhereByLane.keys)
        return .members([
            "kind": problem.cause.kind.map { .string($0.rawValue) }, "app": lane.map { .string($0.app) },
            "environment": lane.map { .string($0.environment.rawValue) }, "reason": .string(reason),
            "start": .whole(problem.start), "end": .whole(problem.end), "interrupted": .bool(isInterrupted),
            "last-loss": .whole(problem.lastLoss), "not-stored": .whole(notStored),
            "losses": .array(lanes.prefix(StoredProblem.limit).map(losses(of:))),
        ])
    }

    private func losses(of lane: Lane) -> JSONValue {
        let counts = problem.lossesByLane[lane] ?? LossCounts()
        return .members([
            "app": .string(lane.app), "environment": .string(lane.environment.rawValue),
            "expired": .whole(counts.expired), "abandoned": .whole(counts.abandoned),
            "refused": .whole(counts.refused), "elsewhere": .whole(problem.lostElsewhereByLane[lane, default: 0]),
        ])
    }

    private init?(_ json: JSONValue, at now: Int64) {
        func count(_ value: JSONValue?) -> Int {
            Int(min(max(0, value?.integerValue ?? 0), StoredProblem.greatestCount))
        }
        // A clock that was set back makes no problem last for longer.
        func time(_ name: String) -> Int64? { json[name]?.integerValue.map { min(max(0, $0), now) } }
        guard let kind = json["kind"]?.stringValue.flatMap(StatusWatch.PastOutage.Kind.init(rawValue:)),
            let cause = LossLedger.Cause(kind, Lane(json)), let start = time("start")
        else { return nil }
        var problem = LossLedger.Problem(cause: cause, start: start)
        problem.end = time("end").map { max(start, $0) }
        // An expiry ends some time after its last loss.
        problem.lastLoss = time("last-loss") ?? (kind == .expiry ? start : nil)
        for losses in (json["losses"]?.elements ?? []).prefix(StoredProblem.limit) {
            guard let lane = Lane(losses) else { continue }
            let counts = LossCounts(
                expired: count(losses["expired"]),
                abandoned: count(losses["abandoned"]),
                refused: count(losses["refused"])
            )
            let elsewhere = count(losses["elsewhere"])
            if counts.total > 0 { problem.lossesByLane[lane] = counts }
            if elsewhere > 0 { problem.lostElsewhereByLane[lane] = elsewhere }
        }
        self.init(
            problem,
            reason: json["reason"]?.stringValue ?? "",
            notStored: count(json["not-stored"]),
            isInterrupted: json["interrupted"] == .bool(true)
        )
    }
}

extension LossLedger.Cause {
    /// The kind of a problem with this cause; nil for damaged pushes.
    fileprivate var kind: StatusWatch.PastOutage.Kind? {
        switch self {
        case .pause: .pause
        case .stop: .stop
        case .storage, .outage: .outage
        case .failing: .failing
        case .expiry: .expiry
        case .damage: nil
        }
    }

    /// Creates the cause of a problem of a kind; nil if only problems with a lane, or without one, are of the kind.
    fileprivate init?(_ kind: StatusWatch.PastOutage.Kind, _ lane: Lane?) {
        switch (kind, lane) {
        case (.outage, nil): self = .storage
        case (.stop, nil): self = .stop
        case (.outage, let lane?): self = .outage(lane)
        case (.pause, let lane?): self = .pause(lane)
        case (.failing, let lane?): self = .failing(lane)
        case (.expiry, let lane?): self = .expiry(lane)
        case (.stop, _), (.pause, nil), (.failing, nil), (.expiry, nil): return nil
        }
    }
}

/// Decides when the problems of a relay are stored.
///
/// They are stored when one begins or ends, and otherwise at intervals while their losses change.
struct ProblemSchedule: Sendable {
    /// The shortest time between two writes because of losses, in milliseconds.
    private static let interval: Int64 = 10_000
    /// The time after which unchanged problems are stored again, so that no other relay deletes them, in milliseconds.
    private static let renewal = StatusSummary.pastTime / 2

    private var stored: Set<StoredProblem> = []
    private var storedAt: Int64 = 0

    /// Returns whether to store problems at a time in milliseconds since 1970; at a shutdown, also recent losses.
    func isDue(_ problems: Set<StoredProblem>, at now: Int64, isLast: Bool = false) -> Bool {
        func isRecent(_ time: Int64) -> Bool { (0..<time).contains(now - storedAt) }
        guard problems != stored else { return !problems.isEmpty && !isRecent(ProblemSchedule.renewal) }
        return isLast || !isRecent(ProblemSchedule.interval) || times(of: problems) != times(of: stored)
    }

    /// Records that problems were stored.
    mutating func recordStored(_ problems: Set<StoredProblem>, at now: Int64) {
        stored = problems
        storedAt = now
    }

    /// Returns the causes with the starts and the ends of problems, without their losses.
    private func times(of problems: Set<StoredProblem>) -> Set<LossLedger.Problem> {
        Set(problems.map { LossLedger.Problem(cause: $0.problem.cause, start: $0.problem.start, end: $0.problem.end) })
    }
}

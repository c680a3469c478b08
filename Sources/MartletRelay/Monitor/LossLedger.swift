// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// Assigns each push that was lost to the problem in whose time it was lost, so that every surface has the same number.
///
/// A push counts for one problem only, so that the numbers of all problems add up to those of the outcomes. It is
/// assigned when its end is known, which may be after the end of the problem. Pushes that expire without another
/// problem are a problem of their own, and damaged ones always are. Times are milliseconds since 1970.
struct LossLedger: Sendable {
    /// The causes of losses.
    ///
    /// At the same time, an earlier one in this list counts before a later one.
    enum Cause: Hashable, Sendable {
        /// An operator has paused the lane.
        case pause(Lane)
        /// The relay did not run.
        case stop
        /// The relay could store nothing.
        case storage
        /// The lane was down.
        case outage(Lane)
        /// The lane sent pushes of which Apple accepted none.
        case failing(Lane)
        /// Pushes of the lane expired although none of the above was the case.
        case expiry(Lane)
        /// Pushes of the lane were damaged, which no problem of a time causes.
        case damage(Lane)

        fileprivate var rank: Int {
            switch self {
            case .pause: 0
            case .stop: 1
            case .storage: 2
            case .outage: 3
            case .failing: 4
            case .expiry: 5
            case .damage: 6
            }
        }

        /// The lane; nil for a cause that concerns all lanes.
        var lane: Lane? {
            switch self {
            case .pause(let lane), .outage(let lane), .failing(let lane), .expiry(let lane), .damage(let lane): lane
            case .stop, .storage: nil
            }
        }

        fileprivate var isExpiry: Bool { if case .expiry = self { true } else { false } }

        /// Whether all losses in the time of the problem may be losses of the problem.
        fileprivate var coversTime: Bool {
            switch self {
            case .expiry, .damage: false
            case .pause, .stop, .storage, .outage, .failing: true
            }
        }
    }

    /// A problem and its losses.
    struct Problem: Sendable, Hashable {
        let cause: Cause
        var start: Int64
        /// The end; nil while the problem lasts.
        var end: Int64?
        /// The pushes that were lost because of the problem, by lane.
        var lossesByLane: [Lane: LossCounts] = [:]
        /// The number of pushes that were lost in its time and are counted for another problem, by lane.
        var lostElsewhereByLane: [Lane: Int] = [:]
        /// The time of the last loss; nil without one.
        var lastLoss: Int64?
        /// Whether the losses that an earlier process has stored are included.
        fileprivate(set) var isContinued = false

        /// The pushes that were lost because of the problem.
        var losses: LossCounts { lossesByLane.values.reduce(LossCounts(), +) }

        /// The number of pushes that were lost in its time and are counted for another problem.
        var lostElsewhere: Int { lostElsewhereByLane.values.reduce(0, +) }

        /// Returns the part of the problem that concerns some apps.
        func part(of apps: Set<String>) -> Problem {
            var part = self
            part.lossesByLane = lossesByLane.filter { apps.contains($0.key.app) }
            part.lostElsewhereByLane = lostElsewhereByLane.filter { apps.contains($0.key.app) }
            return part
        }

        /// Adds the losses of the same problem that an earlier process has stored.
        fileprivate mutating func combine(with earlier: Problem) {
            start = min(start, earlier.start)
            lossesByLane.merge(earlier.lossesByLane, uniquingKeysWith: +)
            lostElsewhereByLane.merge(earlier.lostElsewhereByLane, uniquingKeysWith: +)
            lastLoss = [lastLoss, earlier.lastLoss].compactMap(\.self).max()
            isContinued = true
        }

        /// Returns whether a loss may be one of this problem.
        fileprivate func covers(_ loss: Loss) -> Bool {
            guard cause.coversTime, cause.lane.map({ $0 == loss.lane }) ?? true else { return false }
            return start <= loss.to && loss.from <= end ?? .max
        }
    }

    /// The losses of a second that are assigned to a problem, or to none.
    private struct Slot: Hashable {
        var second: Int64
        var problem: Int?
    }

    /// The time for which losses are stored, in milliseconds: a problem may be noticed long after its start.
    private static let memory: Int64 = 600_000
    /// The number of stored seconds of a lane from which the old ones are removed.
    private static let slotLimit = 2_000
    /// The time over which the rate of expiries is measured, in milliseconds.
    private static let rateTime: Int64 = 60_000
    /// The time without an expiry after which pushes no longer expire, in milliseconds.
    static let quietTime: Int64 = 60_000

    /// The problems by number, also those that are over until they are forgotten.
    private var problems: [Int: Problem] = [:]
    /// The numbers of the problems that last.
    private var running: [Cause: Int] = [:]
    private var lastNumber = 0
    private var slots: [Lane: [Slot: LossCounts]] = [:]

    // MARK: Problems

    /// Begins a problem at a time in the past, or moves the beginning of one that lasts to an earlier time.
    ///
    /// Losses since then that were not assigned to a problem, or only to an expiry or a failing lane, are assigned to
    /// it.
    mutating func begin(_ cause: Cause, at start: Int64) {
        if let number = running[cause] {
            guard let problem = problems[number], start < problem.start else { return }
            problems[number]?.start = start
            return takeLosses(for: number, since: start, before: problem.start)
        }
        let number = add(Problem(cause: cause, start: start))
        takeLosses(for: number, since: start, before: .max)
    }

    /// Ends a problem, and returns its number for ``problem(_:)``; nil for one that does not last.
    mutating func end(_ cause: Cause, at end: Int64) -> Int? {
        guard let number = running.removeValue(forKey: cause), let start = problems[number]?.start else { return nil }
        problems[number]?.end = max(start, end)
        return number
    }

    /// Adds a problem that is over, and returns its number.
    mutating func addPast(_ cause: Cause, from start: Int64, to end: Int64) -> Int {
        begin(cause, at: start)
        return self.end(cause, at: end) ?? lastNumber
    }

    /// Adds a problem that an earlier process has stored.
    ///
    /// - Parameters:
    ///   - problem: The problem, without an end if it lasts.
    ///   - lasted: Whether it lasted when the process ended. It is one problem with the same cause that lasts now.
    /// - Returns: The number; nil if the problem lasts now.
    mutating func restore(_ problem: Problem, lasted: Bool) -> Int? {
        if lasted, let number = running[problem.cause] {
            problems[number]?.combine(with: problem)
            return nil
        }
        lastNumber += 1
        problems[lastNumber] = problem
        guard problem.end == nil else { return lastNumber }
        running[problem.cause] = lastNumber
        return nil
    }

    /// Continues a restored problem that has an end; takes the losses since then as ``begin(_:at:)`` does.
    mutating func resume(_ number: Int) {
        guard let problem = problems[number], let end = problem.end, running[problem.cause] == nil else { return }
        problems[number]?.end = nil
        problems[number]?.isContinued = true
        running[problem.cause] = number
        takeLosses(for: number, since: end, before: .max)
    }

    /// Forgets a problem that is over.
    mutating func forget(_ number: Int) { problems[number] = nil }

    /// Returns a problem that lasts; nil if there is none.
    subscript(_ cause: Cause) -> Problem? { running[cause].flatMap { problems[$0] } }

    /// The problems that last.
    var lasting: [Problem] { running.values.compactMap { problems[$0] } }

    /// Returns a problem by its number.
    func problem(_ number: Int) -> Problem? { problems[number] }

    private mutating func add(_ problem: Problem) -> Int {
        lastNumber += 1
        problems[lastNumber] = problem
        running[problem.cause] = lastNumber
        return lastNumber
    }

    private mutating func takeLosses(for number: Int, since start: Int64, before limit: Int64) {
        guard let cause = problems[number]?.cause else { return }
        for (lane, lost) in slots where cause.lane.map({ $0 == lane }) ?? true {
            for (slot, counts) in lost where slot.second >= start / 1_000 && slot.second <= limit / 1_000 {
                if slot.problem == number { continue }
                if let other = slot.problem {
                    guard isSymptom(other, of: cause) else {
                        problems[number]?.lostElsewhereByLane[lane, default: 0] += counts.total
                        continue
                    }
                    remove(counts, of: lane, from: other, since: start)
                }
                slots[lane]?[slot] = nil
                assign(counts, of: lane, to: number, at: slot.second * 1_000)
            }
        }
    }

    /// Returns whether a problem was noticed first only because its cause was not known: an expiry, and a failing lane
    /// before its outage is noticed.
    private func isSymptom(_ number: Int, of cause: Cause) -> Bool {
        guard let problem = problems[number] else { return true }
        switch problem.cause {
        case .expiry: return true
        case .failing: return problem.end == nil && cause.rank < problem.cause.rank
        case .pause, .stop, .storage, .outage, .damage: return false
        }
    }

    /// Removes losses from a problem that belong to one that was noticed later.
    private mutating func remove(_ counts: LossCounts, of lane: Lane, from number: Int, since start: Int64) {
        guard var problem = problems[number] else { return }
        problem.lossesByLane[lane] = (problem.lossesByLane[lane] ?? LossCounts()) - counts
        problem.lastLoss = problem.lastLoss.map { min($0, start) }
        if !problem.cause.isExpiry { problem.lostElsewhereByLane[lane, default: 0] += counts.total }
        problems[number] = problem
        guard problem.cause.isExpiry, problem.losses.total == 0, running[problem.cause] == number else { return }
        running[problem.cause] = nil
        problems[number] = nil
    }

    // MARK: Losses

    /// Assigns lost pushes to a problem in whose time they were lost.
    mutating func record(_ loss: Loss) {
        guard loss.counts.total > 0 else { return }
        let covering = problems.filter { $0.value.covers(loss) }
        let first = covering.min { one, other in
            (one.value.cause.rank, other.value.start, other.key) < (other.value.cause.rank, one.value.start, one.key)
        }
        guard let cause = loss.isDamage ? number(of: .damage(loss.lane), at: loss.to) : first?.key else {
            return recordWithoutProblem(loss)
        }
        assign(loss.counts, of: loss.lane, to: cause, at: loss.to)
        for number in covering.keys where number != cause {
            problems[number]?.lostElsewhereByLane[loss.lane, default: 0] += loss.counts.total
        }
    }

    /// Returns the number of a problem that lasts, and begins it at a time if there is none.
    private mutating func number(of cause: Cause, at start: Int64) -> Int {
        running[cause] ?? add(Problem(cause: cause, start: start))
    }

    /// Assigns expired pushes to the expiry of the lane, and others to no problem.
    private mutating func recordWithoutProblem(_ loss: Loss) {
        var others = loss.counts
        others.expired = 0
        if others.total > 0 { assign(others, of: loss.lane, to: nil, at: loss.to) }
        guard loss.counts.expired > 0 else { return }
        let number = number(of: .expiry(loss.lane), at: loss.to)
        assign(LossCounts(expired: loss.counts.expired), of: loss.lane, to: number, at: loss.to)
    }

    private mutating func assign(_ counts: LossCounts, of lane: Lane, to number: Int?, at time: Int64) {
        let slot = Slot(second: time / 1_000, problem: number)
        slots[lane, default: [:]][slot, default: LossCounts()] = (slots[lane]?[slot] ?? LossCounts()) + counts
        if slots[lane].map({ $0.count > LossLedger.slotLimit }) ?? false {
            slots[lane] = slots[lane]?.filter { $0.key.second >= (time - LossLedger.memory) / 1_000 }
        }
        guard let number, var problem = problems[number] else { return }
        problem.lossesByLane[lane] = (problem.lossesByLane[lane] ?? LossCounts()) + counts
        problem.lastLoss = max(problem.lastLoss ?? time, time)
        problems[number] = problem
    }

    // MARK: Expiry

    /// Ends the expiries of lanes of which no push has expired for a while, and returns their numbers.
    mutating func endExpiries(at now: Int64) -> [Int] {
        var ended: [Int] = []
        for (cause, number) in running where cause.isExpiry {
            // A clock that was set back makes no expiry last for longer.
            guard let last = problems[number]?.lastLoss, !(0..<LossLedger.quietTime).contains(now - last) else {
                continue
            }
            if let number = end(cause, at: last) { ended.append(number) }
        }
        return ended.sorted()
    }

    /// Returns the pushes of a lane that expire per second, over the last minute or since the first of them if that is
    /// later.
    func expiryRate(of lane: Lane, at now: Int64) -> Double {
        guard let number = running[.expiry(lane)], let start = problems[number]?.start else { return 0 }
        let begin = max(start, now - LossLedger.rateTime)
        let expired = (slots[lane] ?? [:]).filter { $0.key.problem == number && $0.key.second >= begin / 1_000 }
        let time = Double(max(1_000, now - begin)) / 1_000
        return Double(expired.values.map(\.expired).reduce(0, +)) / time
    }
}

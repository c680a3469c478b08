// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// Pushes that came in, until the outbox has answered for them, and the look-ups of their users.
///
/// The outbox stores at most ``limitPerCaller`` pushes of a caller at a time, and one group of its long lists, because
/// the pushes of all others wait for the commits before theirs.
struct IncomingPushes {
    /// The maximum number of pushes of a caller that are passed to the outbox before it has answered for them; a larger
    /// group is passed alone.
    static let limitPerCaller = 1_000
    /// The maximum number of pushes of one request in a group.
    ///
    /// A group of this size is passed to the outbox only after the outbox has answered for all earlier pushes of the
    /// caller.
    static let groupSize = 250

    /// A callback with the outbox's answers, one for each push of the group, and the time that is stored with the
    /// pushes.
    typealias Completion = @Sendable (Result<ArraySlice<Acceptance>, OutboxError>, _ time: Int64) -> Void

    struct Group: Sendable {
        var count: Int
        var caller: String
        var completion: Completion
    }

    /// Pushes that are passed to the outbox together.
    struct Commit: Sendable {
        fileprivate let number: Int
        var pushes: [HashedPush] = []
        /// The number of pushes of each caller.
        fileprivate var counts: [String: Int] = [:]
    }

    /// A group that has not been passed to the outbox.
    private struct Waiting {
        var group: Group
        var pushes: [HashedPush]
    }

    /// A look-up of users in the outbox, which counts as a push to each of them.
    struct Lookup: Sendable {
        fileprivate let number: Int
        /// The number of users by app.
        fileprivate let counts: [String: Int]
    }

    /// The callers of a commit or a look-up, until they are answered.
    struct Unanswered: Sendable {
        var groups: [Group]
        /// The start of the commit, or of the current step of the look-up, in milliseconds since 1970.
        var startedAt: Int64
        /// The time at which the callers get an error.
        fileprivate var deadline: MonotonicTime
    }

    /// The groups that have not been passed to the outbox, by caller, in the order of arrival.
    private var waiting: [String: [Waiting]] = [:]
    /// The number of pushes that were passed to the outbox and are not answered for, by caller.
    private var countsUnderWay: [String: Int] = [:]
    /// The number of pushes that the outbox has not answered for, by app.
    private(set) var counts: [String: Int] = [:]
    /// The number of pushes that the outbox has not answered for.
    private(set) var count = 0
    /// The commits and look-ups that the outbox has not answered, by number.
    private var calls: [Int: Unanswered] = [:]
    private var lastCall = 0

    /// The start of the oldest commit, or step of a look-up, that has not been answered; nil when there is none.
    var oldestCall: Int64? { calls.values.lazy.map(\.startedAt).min() }

    /// Whether pushes have not been passed to the outbox.
    var hasWaiting: Bool { !waiting.isEmpty }

    /// Adds a group of pushes, at least one.
    mutating func add(_ more: [HashedPush], from caller: String, _ completion: @escaping Completion) {
        let group = Group(count: more.count, caller: caller, completion: completion)
        waiting[caller, default: []].append(Waiting(group: group, pushes: more))
        change(by: 1, for: more.countsByApp)
    }

    /// Takes the pushes that may be passed to the outbox now, whose callers are answered by a deadline; nil if there
    /// are none.
    mutating func take(at now: Int64, answerBy deadline: MonotonicTime) -> Commit? {
        var commit = Commit(number: lastCall + 1)
        var groups: [Group] = []
        for (caller, all) in waiting.sorted(by: { $0.key < $1.key }) {
            var count = countsUnderWay[caller, default: 0]
            let taken = all.prefix { next in
                let isShort = next.group.count < IncomingPushes.groupSize
                let fits = isShort && count + next.group.count <= IncomingPushes.limitPerCaller
                guard count == 0 || fits else { return false }
                count += next.group.count
                return true
            }
            guard !taken.isEmpty else { continue }
            for next in taken {
                commit.pushes += next.pushes
                groups.append(next.group)
            }
            commit.counts[caller] = count - countsUnderWay[caller, default: 0]
            countsUnderWay[caller] = count
            waiting[caller] = taken.count == all.count ? nil : Array(all.dropFirst(taken.count))
        }
        guard !groups.isEmpty else { return nil }
        lastCall = commit.number
        calls[lastCall] = Unanswered(groups: groups, startedAt: now, deadline: deadline)
        return commit
    }

    /// Returns the callers of a commit that the outbox has answered; none if they have got an error before.
    mutating func answered(_ commit: Commit) -> [Group] {
        change(by: -1, for: commit.pushes.countsByApp)
        for (caller, count) in commit.counts {
            let rest = countsUnderWay[caller, default: 0] - count
            countsUnderWay[caller] = rest > 0 ? rest : nil
        }
        return calls.removeValue(forKey: commit.number)?.groups ?? []
    }

    /// Begins a look-up of numbers of users by app, whose caller is answered by a deadline.
    mutating func beginLookup(
        of counts: [String: Int],
        from caller: String,
        at now: Int64,
        answerBy deadline: MonotonicTime,
        _ completion: @escaping Completion
    ) -> Lookup {
        let group = Group(count: counts.values.reduce(0, +), caller: caller, completion: completion)
        lastCall += 1
        calls[lastCall] = Unanswered(groups: [group], startedAt: now, deadline: deadline)
        change(by: 1, for: counts)
        return Lookup(number: lastCall, counts: counts)
    }

    /// Records that the outbox has answered a step of a look-up, whose caller is answered by another deadline.
    mutating func continued(_ lookup: Lookup, at now: Int64, answerBy deadline: MonotonicTime) {
        calls[lookup.number]?.startedAt = now
        calls[lookup.number]?.deadline = deadline
    }

    /// Ends a look-up that the outbox has answered; returns whether the caller still waits for it.
    mutating func end(_ lookup: Lookup) -> Bool {
        change(by: -1, for: lookup.counts)
        return calls.removeValue(forKey: lookup.number).map { !$0.groups.isEmpty } ?? false
    }

    /// Returns the callers who have waited until their deadline, whom ``answered(_:)`` and ``end(_:)`` then leave out,
    /// and those whose pushes wait behind theirs and are not stored.
    mutating func takeOverdue(at now: MonotonicTime) -> [Unanswered] {
        let late = calls.filter { $0.value.deadline <= now }
        guard var oldest = late.values.min(by: { $0.startedAt < $1.startedAt }) else { return [] }
        for number in late.keys { calls[number]?.groups = [] }
        let behind = waiting.values.joined()
        for entry in behind { change(by: -1, for: entry.pushes.countsByApp) }
        oldest.groups = behind.map(\.group)
        waiting = [:]
        return (late.values + [oldest]).filter { !$0.groups.isEmpty }
    }

    private mutating func change(by sign: Int, for numbers: [String: Int]) {
        for (app, number) in numbers {
            count += sign * number
            let total = counts[app, default: 0] + sign * number
            counts[app] = total > 0 ? total : nil
        }
    }
}

extension [HashedPush] {
    /// The number of pushes by app.
    var countsByApp: [String: Int] {
        // Consecutive pushes are mostly for the same app.
        var counts: [String: Int] = [:]
        var rest = self[...]
        while let app = rest.first?.push.lane.app {
            let run = rest.prefix { $0.push.lane.app == app }
            counts[app, default: 0] += run.count
            rest = rest.dropFirst(run.count)
        }
        return counts
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// Pushes that came in, until the outbox has answered for them.
struct IncomingPushes {
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
        var pushes: [HashedPush]
    }

    /// The callers of a commit, until they are answered.
    struct Unanswered: Sendable {
        var groups: [Group]
        /// The start of the commit in milliseconds since 1970.
        var startedAt: Int64
        /// The time at which the callers get an error.
        fileprivate var deadline: MonotonicTime
    }

    private var pushes: [HashedPush] = []
    private var groups: [Group] = []
    /// The number of pushes that the outbox has not answered for, by app.
    private(set) var counts: [String: Int] = [:]
    /// The number of pushes that the outbox has not answered for.
    private(set) var count = 0
    /// The commits that the outbox has not answered, by number.
    private var commits: [Int: Unanswered] = [:]
    private var lastCommit = 0

    /// The start of the oldest commit that has not been answered; nil when there is none.
    var oldestCommit: Int64? { commits.values.lazy.map(\.startedAt).min() }

    /// Adds the pushes of a request, at least one; returns whether they are the first since the last ``take(at:)``.
    mutating func add(_ more: [HashedPush], from caller: String, _ completion: @escaping Completion) -> Bool {
        pushes += more
        groups.append(Group(count: more.count, caller: caller, completion: completion))
        change(by: 1, for: more)
        return groups.count == 1
    }

    /// Takes all pushes that came in since the last call, whose callers are answered by a deadline.
    mutating func take(at now: Int64, answerBy deadline: MonotonicTime) -> Commit {
        lastCommit += 1
        commits[lastCommit] = Unanswered(groups: groups, startedAt: now, deadline: deadline)
        defer { (pushes, groups) = ([], []) }
        return Commit(number: lastCommit, pushes: pushes)
    }

    /// Returns the callers of a commit that the outbox has answered; none if they have got an error before.
    mutating func answered(_ commit: Commit) -> [Group] {
        change(by: -1, for: commit.pushes)
        return commits.removeValue(forKey: commit.number)?.groups ?? []
    }

    /// Returns the callers who have waited until their deadline, for whom ``answered(_:)`` then returns nothing.
    mutating func takeOverdue(at now: MonotonicTime) -> [Unanswered] {
        var overdue: [Unanswered] = []
        for (number, commit) in commits where commit.deadline <= now && !commit.groups.isEmpty {
            overdue.append(commit)
            commits[number]?.groups = []
        }
        return overdue
    }

    private mutating func change(by sign: Int, for pushes: [HashedPush]) {
        count += sign * pushes.count
        // Consecutive pushes are mostly for the same app.
        var rest = pushes[...]
        while let app = rest.first?.push.lane.app {
            let run = rest.prefix { $0.push.lane.app == app }
            let total = counts[app, default: 0] + sign * run.count
            counts[app] = total > 0 ? total : nil
            rest = rest.dropFirst(run.count)
        }
    }
}

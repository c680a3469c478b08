// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

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
        var pushes: [OutboxPush]
        var groups: [Group]
    }

    private var pushes: [OutboxPush] = []
    private var groups: [Group] = []
    /// The number of pushes that the outbox has not answered for, by app.
    private(set) var counts: [String: Int] = [:]
    /// The number of pushes that the outbox has not answered for.
    private(set) var count = 0
    /// The commits that have not been answered, by number, with their starts.
    private var commits: [Int: Int64] = [:]
    private var lastCommit = 0

    /// The start of the oldest commit that has not been answered; nil when there is none.
    var oldestCommit: Int64? { commits.values.min() }

    /// Adds the pushes of a request, at least one; returns whether they are the first since the last ``take(at:)``.
    mutating func add(_ more: [OutboxPush], from caller: String, _ completion: @escaping Completion) -> Bool {
        pushes += more
        groups.append(Group(count: more.count, caller: caller, completion: completion))
        change(by: 1, for: more)
        return groups.count == 1
    }

    /// Takes all pushes that came in since the last call.
    mutating func take(at now: Int64) -> Commit {
        lastCommit += 1
        commits[lastCommit] = now
        defer { (pushes, groups) = ([], []) }
        return Commit(number: lastCommit, pushes: pushes, groups: groups)
    }

    mutating func answered(_ commit: Commit) {
        commits[commit.number] = nil
        change(by: -1, for: commit.pushes)
    }

    private mutating func change(by sign: Int, for pushes: [OutboxPush]) {
        count += sign * pushes.count
        // Consecutive pushes are mostly for the same app.
        var rest = pushes[...]
        while let app = rest.first?.lane.app {
            let run = rest.prefix { $0.lane.app == app }
            let total = counts[app, default: 0] + sign * run.count
            counts[app] = total > 0 ? total : nil
            rest = rest.dropFirst(run.count)
        }
    }
}

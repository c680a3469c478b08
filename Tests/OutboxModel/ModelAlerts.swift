// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The pushes of a model whose alerts users get on each day.
struct AlertModel: Sendable {
    private struct Day: Hashable {
        var app: String
        /// The bytes of the user: Swift takes some users for equal that are not.
        var user: [UInt8]
        var number: Int64

        init?(_ push: OutboxPush, at now: Int64) {
            guard let user = push.user else { return nil }
            app = push.lane.app
            self.user = Array(user.utf8)
            number = push.day(acceptedAt: now)
        }
    }

    /// The counted pushes, each with its request.
    private var pushes: [Day: [APNsID: APNsID]] = [:]

    /// Counts a push instead of others; returns false, and changes nothing, if its request exceeds the limit.
    mutating func count(_ push: OutboxPush, insteadOf others: Set<APNsID> = [], at now: Int64) -> Bool {
        guard let limit = push.alertLimit, let day = Day(push, at: now) else { return true }
        var counted = (pushes[day] ?? [:]).filter { !others.contains($0.key) }
        let requests = Set(counted.values)
        guard requests.contains(limit.request) || requests.count < limit.perDay else { return false }
        counted[push.id] = limit.request
        pushes[day] = counted
        return true
    }

    /// The pushes that count on the day of a push.
    func counted(with push: OutboxPush, at now: Int64) -> [APNsID] {
        Day(push, at: now).flatMap { pushes[$0] }.map { Array($0.keys) } ?? []
    }

    mutating func removeUser(_ user: String, of app: String) {
        pushes = pushes.filter { !($0.key.user == Array(user.utf8) && $0.key.app == app) }
    }

    mutating func forget(before time: Int64, limit: Int) -> Int {
        let old = pushes.keys.filter { $0.number < AlertLimit.day(of: time) }.prefix(limit)
        for day in old { pushes[day] = nil }
        return old.count
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The requests of a model whose alerts users get on each day.
struct AlertModel: Sendable {
    private struct Day: Hashable {
        var app: String
        /// The bytes of the user: Swift takes some users for equal that are not.
        var user: [UInt8]
        var number: Int64
    }

    private var requests: [Day: Set<APNsID>] = [:]

    /// Counts the request of a push; returns false if it exceeds the limit.
    mutating func count(_ push: OutboxPush, at now: Int64) -> Bool {
        guard let user = push.user, let limit = push.alertLimit else { return true }
        let day = Day(app: push.lane.app, user: Array(user.utf8), number: push.day(acceptedAt: now))
        let counted = requests[day] ?? []
        guard counted.contains(limit.request) || counted.count < limit.perDay else { return false }
        requests[day] = counted.union([limit.request])
        return true
    }

    mutating func removeUser(_ user: String, of app: String) {
        requests = requests.filter { !($0.key.user == Array(user.utf8) && $0.key.app == app) }
    }

    mutating func forget(before time: Int64, limit: Int) -> Int {
        let old = requests.keys.filter { $0.number < AlertLimit.day(of: time) }.prefix(limit)
        for day in old { requests[day] = nil }
        return old.count
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

extension OutboxModel {
    /// The unclaimed pushes that a new one replaces, by their numbers.
    private func older(than push: OutboxPush) -> [Int64: Row] {
        guard push.supersedes, let key = push.orderKey else { return [:] }
        return rows.filter { number, row in
            claimed[number] == nil && row.push.lane == push.lane && row.push.orderKey == key
        }
    }

    /// Ends the unclaimed pushes that a new one replaces, and returns them, latest first.
    mutating func supersedeOlder(than push: OutboxPush, at now: Int64) -> [PushStatus] {
        var superseded: [PushStatus] = []
        for (number, row) in older(than: push).sorted(by: { $0.key > $1.key }) {
            end(number, Outcome(.superseded), at: now)
            guard var status = status(of: row.push.id, of: row.push.lane.app) else { continue }
            status.history = AttemptHistory()
            superseded.append(status)
        }
        return superseded
    }

    /// Counts the alert of a push, if necessary in place of those that have ended without an attempt, or do so with it;
    /// returns false if it exceeds the limit.
    mutating func countAlert(of push: OutboxPush, at now: Int64) -> Bool {
        if alerts.count(push, at: now) { return true }
        let replaced = older(than: push).values.filter { $0.attempts == 0 && $0.unknownTries == 0 }.map(\.push.id)
        let ended = alerts.counted(with: push, at: now).filter { id in
            guard let outcome = ends[Name(app: push.lane.app, id: id)]?.outcome else { return false }
            return [.cancelled, .expired, .superseded].contains(outcome.state) && outcome.attempts == 0
                && outcome.unknownTries == 0
        }
        return alerts.count(push, insteadOf: Set(replaced + ended), at: now)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

extension OutboxModel {
    /// Ends the unclaimed pushes that a new one replaces, and returns them, latest first.
    mutating func supersedeOlder(than push: OutboxPush, at now: Int64) -> [PushStatus] {
        guard push.supersedes, let key = push.orderKey else { return [] }
        let older = rows.filter { number, row in
            claimed[number] == nil && row.push.lane == push.lane && row.push.orderKey == key
        }
        var superseded: [PushStatus] = []
        for (number, row) in older.sorted(by: { $0.key > $1.key }) {
            end(number, Outcome(.superseded), at: now)
            guard var status = status(of: row.push.id, of: row.push.lane.app) else { continue }
            status.history = AttemptHistory()
            superseded.append(status)
        }
        return superseded
    }
}

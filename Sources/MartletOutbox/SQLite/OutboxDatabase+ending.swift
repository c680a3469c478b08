// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// An unclaimed push, and its status when it ends.
typealias EndingPush = (number: Int64, status: PushStatus)

extension OutboxDatabase {
    /// The columns of a push that ``addUnclaimed(_:as:to:limit:at:)`` reads.
    static let endingColumns = "number, app, environment, urgency, apns_id, accepted_at, attempts, unknown_tries"

    /// Appends the unclaimed pushes of rows as ended in a state, up to a limit.
    func addUnclaimed(
        _ rows: borrowing Statement,
        as state: Outcome.State,
        to found: inout [EndingPush],
        limit: Int = .max,
        at now: Int64
    ) throws(SQLiteError) {
        while found.count < limit, try rows.step() {
            let number = rows.integer(at: 0)
            guard self.state.claimed[number] == nil, let id = APNsID(bytes: rows.blob(at: 4)) else { continue }
            let outcome = Outcome(state, attempts: Int(rows.integer(at: 6)), unknownTries: Int(rows.integer(at: 7)))
            let lane = lane(of: UrgencyQueue(rows, from: 1))
            let ended = PushStatus.State.ended(outcome, at: now)
            found.append((number, PushStatus(id: id, lane: lane, acceptedAt: rows.integer(at: 5), state: ended)))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletSQLite

/// Claiming and ending of pushes.
extension SQLiteOutbox {
    package func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) throws(OutboxError) -> Claim {
        try change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: lane.app) else { return Claim(pushes: [], nextDue: nil) }
            let queue = UrgencyQueue(app: app, environment: lane.environment, urgency: urgency)
            return try tables.claims.claim(queue, lane, limit: limit, at: now)
        }
    }

    package func conflicts(with pushes: [HashedPush]) throws(OutboxError) -> Set<Int> {
        try read { (tables) throws(SQLiteError) in
            var found: Set<Int> = []
            for (place, hashed) in pushes.enumerated() {
                guard let app = tables.database.number(ofKnown: hashed.push.lane.app),
                    let known = try tables.pushes.known(hashed.push.id, app)
                else { continue }
                if known.fingerprint != hashed.fingerprint { found.insert(place) }
            }
            return found
        }
    }

    package func cancel(_ id: APNsID, of app: String, at now: Int64) throws(OutboxError) -> PushStatus? {
        try change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app), let known = try tables.pushes.known(id, app)
            else { return nil }
            guard known.status.state == .accepted, let number = known.number else { return known.status }
            try tables.pushes.end(number, Outcome(.cancelled), at: now)
            return try tables.pushes.known(id, app)?.status
        }
    }

    package func status(of id: APNsID, of app: String) throws(OutboxError) -> PushStatus? {
        try read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app), let known = try tables.pushes.known(id, app) else {
                return nil
            }
            var status = known.status
            status.dueAt = known.dueAt
            if let session = known.session { status.surface = try tables.sessions.place(of: session) }
            return status
        }
    }

    package func expire(at now: Int64, limit: Int) throws(OutboxError) -> [PushStatus] {
        try change { (tables) throws(SQLiteError) in
            let expired = try tables.claims.expired(at: now, limit: limit)
            for push in expired { try tables.pushes.end(push.number, Outcome(.expired), at: now) }
            return expired.map(\.status)
        }
    }

    package func purge(
        _ lane: Lane,
        upTo last: Int64?,
        limit: Int,
        at now: Int64
    ) throws(OutboxError) -> PurgedPushes {
        try change { (tables) throws(SQLiteError) in
            let last = last ?? tables.database.state.nextNumber - 1
            guard let app = tables.database.number(ofKnown: lane.app) else {
                return PurgedPushes(pushes: [], last: last)
            }
            let pushes = try tables.claims.unclaimed(lane, app, upTo: last, limit: limit, at: now)
            for push in pushes { try tables.pushes.end(push.number, Outcome(.cancelled), at: now) }
            return PurgedPushes(pushes: pushes.map(\.status), last: last)
        }
    }

    package func erasePushes(
        _ selection: PushSelection,
        of app: String,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) throws(OutboxError) -> ErasedPushes {
        try change { (tables) throws(SQLiteError) in
            var erased = ErasedPushes()
            guard let app = tables.database.number(ofKnown: app) else { return erased }
            let end: Int64 = cursor ?? .max
            erased.next = try tables.claims.startOfStep(selection.fileRows, selection.value, before: end, limit: limit)
            let numbers = (erased.next ?? Int64.min)..<end
            erased.deadLetters = try tables.database.deleteDeadLetters(selection, app, in: numbers)
            let pushes = try tables.claims.unclaimed(selection, app, in: numbers, at: now)
            for push in pushes { try tables.pushes.end(push.number, Outcome(.cancelled), at: now) }
            // Those that are left are claimed. Without a user, none of them is claimed again to be sent.
            let marking = try tables.database.connection.prepare(
                """
                UPDATE push SET user_id = '' WHERE number IN (
                    SELECT number FROM \(selection.fileRows) AND \(selection.fileCondition)
                        AND number >= ?3 AND number < ?4
                ) AND NOT is_to_user
                """
            )
            try marking.run(with: selection.value, app, numbers.lowerBound, numbers.upperBound)
            erased.cancelled = pushes.map(\.status)
            return erased
        }
    }

    package func forgetOutcomes(before time: Int64, limit: Int) throws(OutboxError) -> Int {
        try change { (tables) throws(SQLiteError) in
            let old = "SELECT apns_id, app FROM outcome WHERE ended_at < ? ORDER BY ended_at LIMIT ?"
            // The rows of pushes that are deleted are the payloads of dead letters.
            for table in ["push", "outcome"] {
                try tables.database.connection.prepare("DELETE FROM \(table) WHERE (apns_id, app) IN (\(old))")
                    .run(with: time, Int64(limit))
            }
            return tables.database.connection.changes
        }
    }

    package func backlog() throws(OutboxError) -> [Backlog] {
        try read { (tables) throws(SQLiteError) in
            var backlog: [Backlog] = []
            for (lane, count) in tables.database.state.counts where count > 0 {
                guard let app = tables.database.number(ofKnown: lane.app) else { continue }
                let oldest = try tables.claims.oldest(lane, app)
                let retries = try tables.claims.retries(lane, app)
                let blocked = try tables.claims.blocked(lane, app)
                backlog.append(
                    Backlog(
                        lane: lane,
                        count: count,
                        oldest: oldest,
                        retrying: retries.count,
                        oldestRetry: retries.oldest,
                        blocked: blocked
                    )
                )
            }
            return backlog
        }
    }

    package func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) throws(OutboxError) -> Int {
        try change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return 0 }
            let forget = try tables.database.connection.prepare("DELETE FROM outcome WHERE apns_id = ? AND app = ?")
            let letters = try tables.database.deadLetters(ids, of: app).filter { !$0.isDamaged }
            for letter in letters {
                try forget.run(with: letter.id.bytes, app)
                let tries = letter.unknownTries
                try tables.pushes.postpone(
                    letter.number,
                    in: letter.queue,
                    until: now,
                    attempts: 0,
                    unknownTries: tries
                )
                tables.database.state.counts[tables.database.lane(of: letter.queue), default: 0] += 1
                if let job = letter.job { try tables.jobs.count(-1, .dead, of: job, at: now) }
            }
            return letters.count
        }
    }
}

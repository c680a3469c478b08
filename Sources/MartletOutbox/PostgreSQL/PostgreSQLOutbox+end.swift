// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletPostgreSQL

/// Ending of pushes without sending them, and their statuses.
extension PostgreSQLOutbox {
    package func status(of id: APNsID, of app: String) async throws(OutboxError) -> PushStatus? {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .watching,
            "SELECT * FROM martlet.known($1, $2)",
            [.integer(number), .identifier(id)]
        ) { $0.first.flatMap { PushStatus($0, from: 0, app: app) } }
    }

    package func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> PushStatus? {
        let number = try await apps.number(of: app)
        try await connections.query(
            .watching,
            "SELECT martlet.cancel($1, $2, $3)",
            [.integer(number), .identifier(id), .integer(now)]
        ) { _ in }
        return try await status(of: id, of: app)
    }

    package func expire(at now: Int64, limit: Int) async throws(OutboxError) -> [PushStatus] {
        let ended = try await connections.query(
            .maintaining,
            "SELECT * FROM martlet.expire($1, $2)",
            [.integer(now), .integer(Int64(limit))]
        ) { rows in
            rows.all.compactMap { row in
                let outcome = Outcome(
                    .expired,
                    attempts: Int(row.integer(at: 4)),
                    unknownTries: Int(row.integer(at: 5))
                )
                return APNsID(bytes: row.bytes(at: 0)).map { id in
                    let lane = Lane(app: "", environment: PushEnvironment(isProduction: row.flag(at: 2)))
                    let state = PushStatus.State.ended(outcome, at: now)
                    let status = PushStatus(id: id, lane: lane, acceptedAt: row.integer(at: 3), state: state)
                    return (status: status, app: row.integer(at: 1))
                }
            }
        }
        backlogCount.pushes -= ended.count
        var statuses: [PushStatus] = []
        for (status, app) in ended {
            statuses.append(status)
            statuses[statuses.count - 1].lane.app = try await apps.name(of: app)
        }
        return statuses
    }

    package func forgetOutcomes(before time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await connections.query(
            .maintaining,
            "SELECT martlet.forget($1, $2)",
            [.integer(time), .integer(Int64(limit))]
        ) {
            Int($0.first?.integer(at: 0) ?? 0)
        }
    }

    package func backlog() async throws(OutboxError) -> [Backlog] {
        try await connections.checkOpen()
        guard backlogCount.isDue else { return backlogCount.lanes }
        do throws(PostgreSQLError) {
            try await countPushes()
        } catch {
            throw OutboxError(error)
        }
        return backlogCount.lanes
    }

    /// Counts the waiting pushes.
    func countPushes() async throws(PostgreSQLError) {
        let start = ContinuousClock.now
        let lanes = try await connections.run(
            .maintaining,
            """
            SELECT a.name, q.is_production, count(*), min(q.ready_at), count(p.number), min(p.accepted_at)
            FROM martlet.queue q JOIN martlet.app a ON a.number = q.app
                LEFT JOIN martlet.push p ON q.attempts > 0 AND p.number = q.number
            GROUP BY 1, 2
            """
        ) { rows in
            rows.all.map { row in
                let lane = Lane(app: row.text(at: 0), environment: PushEnvironment(isProduction: row.flag(at: 1)))
                return Backlog(
                    lane: lane,
                    count: Int(row.integer(at: 2)),
                    oldest: row.optionalInteger(at: 3),
                    retrying: Int(row.integer(at: 4)),
                    oldestRetry: row.optionalInteger(at: 5)
                )
            }
        }
        backlogCount.update(lanes, after: ContinuousClock.now - start)
    }

    package func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) async throws(OutboxError) -> Int {
        let number = try await apps.number(of: app)
        let names = ids.map { $0.map(\.bytes) }
        let question = "SELECT martlet.requeue($1, \(names == nil ? "NULL" : "$3"), $2)"
        let parameters: [Parameter] = [.integer(number), .integer(now)] + (names.map { [.identifiers($0)] } ?? [])
        let moved = try await connections.query(.maintaining, question, parameters) {
            Int($0.first?.integer(at: 0) ?? 0)
        }
        backlogCount.pushes += moved
        return moved
    }

    package func cancelPushes(
        ofUser user: String,
        of app: String,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> [PushStatus] {
        let number = try await apps.number(of: app)
        let pushes = try await connections.query(
            .maintaining,
            "SELECT * FROM martlet.cancel_user($1, $2, $3, $4)",
            [.integer(number), .text(user), .integer(now), .integer(Int64(limit))]
        ) { rows in
            rows.all.compactMap { row in
                let outcome = Outcome(
                    .cancelled,
                    attempts: Int(row.integer(at: 3)),
                    unknownTries: Int(row.integer(at: 4))
                )
                let lane = Lane(app: app, environment: PushEnvironment(isProduction: row.flag(at: 1)))
                return APNsID(bytes: row.bytes(at: 0)).map { id in
                    PushStatus(id: id, lane: lane, acceptedAt: row.integer(at: 2), state: .ended(outcome, at: now))
                }
            }
        }
        backlogCount.pushes -= pushes.count
        return pushes
    }

    package func purge(
        _ lane: Lane,
        upTo last: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> PurgedPushes {
        let number = try await apps.number(of: lane.app)
        let bound: Int64
        if let last {
            bound = last
        } else {
            bound = try await connections.query(.watching, "SELECT last_value FROM martlet.push_number") {
                $0.first?.integer(at: 0) ?? 0
            }
        }
        let pushes = try await connections.query(
            .maintaining,
            "SELECT * FROM martlet.purge($1, $2, $3, $4, $5)",
            [
                .integer(number), .flag(lane.environment.isProduction), .integer(bound), .integer(now),
                .integer(Int64(limit)),
            ]
        ) { rows in
            rows.all.compactMap { row in
                let outcome = Outcome(
                    .cancelled,
                    attempts: Int(row.integer(at: 2)),
                    unknownTries: Int(row.integer(at: 3))
                )
                return APNsID(bytes: row.bytes(at: 0)).map { id in
                    PushStatus(id: id, lane: lane, acceptedAt: row.integer(at: 1), state: .ended(outcome, at: now))
                }
            }
        }
        backlogCount.pushes -= pushes.count
        return PurgedPushes(pushes: pushes, last: bound)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL

extension OutboxCheck {
    /// The number of pushes that one statement compares.
    private static let batch = 5_000
    /// The maximum time for a statement.
    private static let statementTime = Duration.seconds(600)

    /// Checks an outbox in a database, which calculates the checksums itself; relays may use it meanwhile.
    init(ofDatabase address: String, _ progress: (OutboxCheck) -> Void) throws(OutboxError) {
        self.init()
        do throws(PostgreSQLError) {
            let session = try Session(address, name: "martlet check")
            let version = try session.query("SELECT number FROM martlet.version", within: OutboxCheck.statementTime)
            try OutboxSchema.check(version.first?.integer(at: 0))
            var last: Int64? = .min
            while let start = last {
                last = try readPushes(after: start, session)
                progress(self)
            }
            step = "counting rows"
            progress(self)
            try countRows(session)
        } catch {
            throw OutboxError(error)
        }
    }

    /// Reads a batch of pushes; returns the number of the last one, and nil after the last batch.
    private mutating func readPushes(after last: Int64, _ session: Session) throws(PostgreSQLError) -> Int64? {
        let rows = try session.query(
            """
            SELECT p.number, p.apns_id, q.number IS NOT NULL,
                p.checksum IS DISTINCT FROM martlet.checksum(
                    a.name, p.is_production, p.apns_id, p.token, p.channel, p.bundle_id, p.push_type, p.topic,
                    p.priority, p.expiration, p.collapse_id, p.trace_parent, p.order_key, p.expires_at, p.payload,
                    CASE WHEN p.is_to_user THEN p.user_id END
                ),
                q.ready_check IS DISTINCT FROM ~q.ready_at,
                q.urgency <> martlet.urgency(p.priority, p.job),
                CASE WHEN q.number IS NULL
                    THEN NOT EXISTS (
                        SELECT FROM martlet.outcome o
                        WHERE o.apns_id = p.apns_id AND o.app = p.app AND o.state = 'dead'
                    )
                    ELSE (q.app, q.is_production, q.expires_at, q.order_key)
                        IS DISTINCT FROM (p.app, p.is_production, p.expires_at, p.order_key)
                END
            FROM martlet.push p LEFT JOIN martlet.app a ON a.number = p.app
            LEFT JOIN martlet.queue q ON q.number = p.number
            WHERE p.number > \(last) ORDER BY p.number LIMIT \(OutboxCheck.batch)
            """,
            within: OutboxCheck.statementTime
        )
        let parts: [Part] = [.content, .dueTime, .urgency, .place]
        var number: Int64?
        for row in rows.all {
            number = row.integer(at: 0)
            let damage = parts.indices.filter { row.flag(at: 3 + $0) }.map { parts[$0] }
            add(row.integer(at: 0), id: APNsID(bytes: row.bytes(at: 1)), isWaiting: row.flag(at: 2), damage: damage)
        }
        return number
    }

    private mutating func countRows(_ session: Session) throws(PostgreSQLError) {
        let rows = try session.query(
            """
            SELECT (SELECT count(*) FROM martlet.outcome), (SELECT count(*) FROM martlet.installation),
                (SELECT count(*) FROM martlet.ticket), (
                    SELECT count(*) FROM martlet.queue q
                    WHERE NOT EXISTS (SELECT FROM martlet.push p WHERE p.number = q.number)
                ), (SELECT count(*) FROM martlet.job), (
                    SELECT count(*) FROM martlet.job_content j WHERE j.stored - j.ended <> (
                        SELECT count(*) FROM martlet.push p JOIN martlet.queue q USING (number) WHERE p.job = j.number
                    )
                ), (SELECT k.number FROM martlet.sealed_key k), (SELECT k.is_complete FROM martlet.sealed_key k),
                (SELECT count(*) FROM martlet.surface), (SELECT count(*) FROM martlet.surface_session)
            """,
            within: OutboxCheck.statementTime
        )
        guard let row = rows.first else { return }
        outcomes = Int(row.integer(at: 0))
        installations = Int(row.integer(at: 1))
        tickets = Int(row.integer(at: 2))
        let missing = row.integer(at: 3)
        add(jobs: Int(row.integer(at: 4)), miscounted: Int(row.integer(at: 5)))
        // Its foreign keys keep each session with its surface and its installation.
        add(surfaces: Int(row.integer(at: 8)), sessions: Int(row.integer(at: 9)), lost: 0)
        if let number = row.optionalInteger(at: 6) { add(sealingKey: number, isComplete: row.flag(at: 7)) }
        if missing > 0 { problems.append("\(missing) entries of the queue have no push") }
    }
}

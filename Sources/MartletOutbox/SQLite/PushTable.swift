// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite
internal import MartletTransport

/// The pushes of an outbox that have not ended, with their order keys, and their outcomes.
final class PushTable {
    /// The columns of a push, in the order in which ``DuePush/init(_:lane:)`` reads them.
    static let columns = """
        number, app, environment, apns_id, token, channel, bundle_id, push_type, topic, priority, expiration, \
        collapse_id, trace_parent, payload, order_key, expires_at, accepted_at, attempts, unknown_tries, is_in_line, \
        ready_at, urgency, checksum, ready_check, history, user_id, is_to_user, job, session
        """

    private let database: OutboxDatabase
    private let jobs: JobTable
    private let sessions: SessionTable
    private let unregisteredTokens: UnregisteredTokenTable
    private let recipients: RecipientTable
    private let lines: LineTable
    private let insertPush: Statement
    private let findPush: Statement
    private let findOutcome: Statement
    private let setPosition: Statement
    private let findPosition: Statement
    private let postponePush: Statement
    private let insertOutcome: Statement
    private let deletePush: Statement
    private let keepDeadLetter: Statement

    /// Prepares the statements.
    init(_ database: OutboxDatabase, _ jobs: JobTable, _ sessions: SessionTable) throws(SQLiteError) {
        self.database = database
        self.jobs = jobs
        self.sessions = sessions
        unregisteredTokens = try UnregisteredTokenTable(database)
        recipients = try RecipientTable(database)
        lines = try LineTable(database)
        insertPush = try database.connection.prepare(
            """
            INSERT INTO push (
                number, app, environment, urgency, ready_at, is_in_line, order_key, expires_at, apns_id, fingerprint,
                token, channel, bundle_id, push_type, topic, priority, expiration, collapse_id, trace_parent,
                accepted_at, attempts, unknown_tries, checksum, ready_check, payload, user_id,
                is_to_user, job, installation, session
            ) VALUES (
                ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ~?5, ?, coalesce(?23, (
                    SELECT i.user_id FROM installation_token t CROSS JOIN installation i
                    WHERE t.token = ?11 AND i.number = t.installation AND i.app = ?2
                )), ?23 IS NOT NULL, ?24, ?25, ?26
            )
            """
        )
        findPush = try database.connection.prepare(
            """
            SELECT environment, accepted_at, number, fingerprint, history, ready_at, session FROM push
            WHERE apns_id = ? AND app = ?
            """
        )
        findOutcome = try database.connection.prepare(
            """
            SELECT environment, accepted_at, ended_at, state, status, reason, unique_id, unregistered_at, attempts,
                unknown_tries, fingerprint, history, session
            FROM outcome WHERE apns_id = ? AND app = ?
            """
        )
        setPosition = try database.connection.prepare(
            "UPDATE push SET is_in_line = 1, ready_at = ?1, ready_check = ~?1 WHERE number = ?2"
        )
        findPosition = try database.connection.prepare(
            """
            SELECT app, environment, urgency, order_key, token, topic, is_in_line = 1 AND ready_at IS NOT NULL, job,
                session, apns_id
            FROM push WHERE number = ?
            """
        )
        postponePush = try database.connection.prepare(
            """
            UPDATE push SET ready_at = ?1, ready_check = ~?1, attempts = ?2, unknown_tries = ?3,
                history = COALESCE(?4, history) WHERE number = ?5
            """
        )
        insertOutcome = try database.connection.prepare(
            """
            INSERT INTO outcome SELECT apns_id, app, environment, ?, ?, ?, ?, ?, MAX(?, attempts),
                MAX(?, unknown_tries), fingerprint, accepted_at, ?, COALESCE(?, history), job, installation, session
            FROM push WHERE number = ?
            """
        )
        deletePush = try database.connection.prepare("DELETE FROM push WHERE number = ?")
        keepDeadLetter = try database.connection.prepare(
            "UPDATE push SET ready_at = NULL, ready_check = NULL, is_in_line = 0, history = NULL WHERE number = ?"
        )
    }

    // MARK: Accepting

    /// Stores a push, unless it is known or suppressed, its token has left the user, or it exceeds a limit.
    func accept(_ hashed: HashedPush, at now: Int64) throws(SQLiteError) -> Acceptance {
        let push = hashed.push
        let app = try database.number(of: push.lane.app)
        if let fingerprint = hashed.fingerprint, let known = try known(push.id, app) {
            return known.fingerprint == fingerprint ? .duplicate(known.status) : .conflict
        }
        if case .device(let token) = push.destination, let record = try unregisteredTokens.record(of: token, app, push)
        {
            return .suppressed(record)
        }
        // Its identifier may follow from that of a job, which another job may have had.
        if push.job != nil || push.session != nil, try known(push.id, app) != nil { return .conflict }
        if let user = push.user, try !recipients.hasToken(push, app, user) { return .formerUser }
        guard database.count < database.limit else { return .full }
        let older = try lines.superseded(by: push, app, at: now)
        if let user = push.user, let limit = push.alertLimit,
            try !recipients.count(push, app, user, limit, replacing: older, at: now)
        {
            return .limited
        }
        for push in older { try end(push.number, Outcome(.superseded), at: now) }
        try insert(hashed, app: app, at: now)
        database.state.counts[push.lane, default: 0] += 1
        return older.isEmpty ? .accepted : .superseding(older.map(\.status))
    }

    private func insert(_ hashed: HashedPush, app: Int64, at now: Int64) throws(SQLiteError) {
        let push = hashed.push
        let number = database.state.nextNumber
        database.state.nextNumber += 1
        let queue = UrgencyQueue(app: app, environment: push.lane.environment, urgency: push.urgency)
        var readyAt: Int64? = now
        var isInLine = push.orderKey != nil
        if let notBefore = push.notBefore, notBefore > now {
            readyAt = notBefore
            isInLine = false
        } else if let key = push.orderKey, try lines.hasOthers(queue, key, besides: number) {
            readyAt = nil
        }
        if let readyAt { database.moveCursor(before: number, readyAt, in: queue) }
        var position = 0
        try insertPush.bind(number, after: &position)
        try insertPush.bind(queue.app, after: &position)
        try insertPush.bind(queue.environment.rawValue, after: &position)
        try insertPush.bind(Int64(queue.urgency.rawValue), after: &position)
        try insertPush.bind(readyAt, after: &position)
        try insertPush.bind(Int64(isInLine ? 1 : 0), after: &position)
        try insertPush.bind(push.orderKey, after: &position)
        try insertPush.bind(push.expiresAt, after: &position)
        try insertPush.bind(push.id.bytes, after: &position)
        try insertPush.bind(hashed.fingerprint, after: &position)
        let (token, channel, bundle) = push.destination.columns
        for text in [token, channel, bundle] { try insertPush.bind(text, after: &position) }
        let headers = push.headers
        for text in [headers.pushType, headers.topic, headers.priority, headers.expiration, headers.collapseID] {
            try insertPush.bind(text, after: &position)
        }
        try insertPush.bind(push.traceParent, after: &position)
        try insertPush.bind(now, after: &position)
        try insertPush.bind(hashed.checksum, after: &position)
        try insertPush.bind(push.payload, after: &position)
        try insertPush.bind(push.user, after: &position)
        try insertPush.bind(push.job, after: &position)
        try insertPush.bind(push.installation, after: &position)
        try insertPush.bind(push.session, after: &position)
        try insertPush.run()
    }

    // MARK: Pushes by identifier

    /// A push that was accepted and whose outcome has not been deleted.
    struct KnownPush {
        var status: PushStatus
        var fingerprint: [UInt8]?
        /// The number of its row; nil once the push has ended.
        var number: Int64?
        /// The value of ``PushStatus/dueAt``.
        var dueAt: Int64?
        /// The number of the session that the push belongs to; nil for none.
        var session: Int64?
    }

    /// Returns a push by its identifier; nil for an unknown push.
    func known(_ id: APNsID, _ app: Int64) throws(SQLiteError) -> KnownPush? {
        if let ended = try endedPush(id, app) { return ended }
        try findPush.bind(id.bytes, app)
        defer { findPush.reset() }
        guard try findPush.step() else { return nil }
        let number = findPush.integer(at: 2)
        let state: PushStatus.State = database.state.claimed[number] != nil ? .inFlight : .accepted
        return KnownPush(
            status: status(id, app, findPush, state, AttemptHistory(stored: findPush.optionalText(at: 4))),
            fingerprint: findPush.optionalBlob(at: 3),
            number: number,
            dueAt: state == .accepted ? findPush.optionalInteger(at: 5) : nil,
            session: findPush.optionalInteger(at: 6)
        )
    }

    private func endedPush(_ id: APNsID, _ app: Int64) throws(SQLiteError) -> KnownPush? {
        try findOutcome.bind(id.bytes, app)
        defer { findOutcome.reset() }
        guard try findOutcome.step() else { return nil }
        let state = PushStatus.State.ended(Outcome(findOutcome, from: 3), at: findOutcome.integer(at: 2))
        let history = AttemptHistory(stored: findOutcome.optionalText(at: 11))
        let status = self.status(id, app, findOutcome, state, history)
        return KnownPush(
            status: status,
            fingerprint: findOutcome.optionalBlob(at: 10),
            session: findOutcome.optionalInteger(at: 12)
        )
    }

    private func status(
        _ id: APNsID,
        _ app: Int64,
        _ row: borrowing Statement,
        _ state: PushStatus.State,
        _ history: AttemptHistory
    ) -> PushStatus {
        let lane = Lane(app: database.name(of: app), environment: PushEnvironment(row, at: 0))
        return PushStatus(id: id, lane: lane, acceptedAt: row.integer(at: 1), state: state, history: history)
    }

    // MARK: Settling

    /// Stores the result of a claimed push, unless it is the result of another claim.
    func settle(_ settlement: Settlement, at now: Int64) throws(SQLiteError) {
        guard database.state.claimed[settlement.number] == settlement.claim else { return }
        let (number, history) = (settlement.number, settlement.history)
        switch settlement.change {
        case .ended(let outcome):
            try end(number, outcome, isTokenUnregistered: settlement.isTokenUnregistered, history, at: now)
        case .postponed(let until, let attempts, let unknownTries):
            guard let position = try position(of: number) else { return }
            try postpone(
                number,
                in: position.queue,
                until: until,
                attempts: attempts,
                unknownTries: unknownTries,
                history: history
            )
            database.state.claimed[number] = nil
        }
    }

    /// Makes a push due at a time, with its counts of attempts.
    func postpone(
        _ number: Int64,
        in queue: UrgencyQueue,
        until time: Int64,
        attempts: Int,
        unknownTries: Int,
        history: AttemptHistory = AttemptHistory()
    ) throws(SQLiteError) {
        try postponePush.run(with: time, Int64(attempts), Int64(unknownTries), history.stored, number)
        database.moveCursor(before: number, time, in: queue)
    }

    /// Ends a push, and makes the next push with its order key due.
    func end(
        _ number: Int64,
        _ outcome: Outcome,
        isTokenUnregistered: Bool = false,
        _ history: AttemptHistory = AttemptHistory(),
        at now: Int64
    ) throws(SQLiteError) {
        guard let position = try position(of: number) else { return }
        try insertOutcome.run(
            with: outcome.state.rawValue,
            outcome.status.map(Int64.init),
            outcome.reason,
            outcome.uniqueID,
            outcome.unregisteredAt,
            Int64(outcome.attempts),
            Int64(outcome.unknownTries),
            now,
            history.stored,
            number
        )
        database.state.claimed[number] = nil
        database.state.counts[database.lane(of: position.queue), default: 1] -= 1
        if let job = position.job { try jobs.count(1, outcome.state, of: job, at: now) }
        if let (session, id) = position.session {
            let result = SessionResult(id: id, state: outcome.state, status: outcome.status, endedAt: now)
            try sessions.add(result, to: session)
        }
        // The row of a dead letter is kept, so that the push can be sent again on request.
        if outcome.state == .dead {
            try keepDeadLetter.run(with: number)
        } else {
            try deletePush.run(with: number)
        }
        if position.isFirstInLine {
            if outcome.reason == Outcome.damagedReason {
                // Its order key may be what has changed, so that those behind it have another one.
                try database.releaseHeldPushes()
            } else if let key = position.orderKey {
                try releaseNextInLine(position.queue, key, at: now)
            }
        }
        if isTokenUnregistered, let token = position.token {
            try unregisteredTokens.add(
                token,
                position.queue,
                topic: position.topic,
                outcome,
                push: number,
                at: now
            )
        }
    }

    /// The position of a row in the queue, and its token.
    private struct Position {
        var queue: UrgencyQueue
        var orderKey: String?
        var token: String?
        /// The topic; empty for a push without one.
        var topic: String
        /// Whether the push is the first of its order key; a push behind others has no due time.
        var isFirstInLine: Bool
        /// The number of the job that the push belongs to; nil for none.
        var job: Int64?
        /// The number of the session that the push belongs to, with the identifier of the push; nil for none.
        var session: (number: Int64, push: APNsID)?

        init(_ row: borrowing Statement) {
            queue = UrgencyQueue(row, from: 0)
            orderKey = row.optionalText(at: 3)
            token = row.optionalText(at: 4)
            topic = row.text(at: 5)
            isFirstInLine = row.integer(at: 6) != 0
            job = row.optionalInteger(at: 7)
            guard !row.isNull(at: 8), let id = APNsID(bytes: row.blob(at: 9)) else { return }
            session = (row.integer(at: 8), id)
        }
    }

    private func position(of number: Int64) throws(SQLiteError) -> Position? {
        try findPosition.bind(number)
        defer { findPosition.reset() }
        return try findPosition.step() ? Position(findPosition) : nil
    }

    // MARK: Order keys

    /// Adds a scheduled push to the queue of its order key when it is due.
    ///
    /// - Returns: Whether it is the first, so that it can be claimed now.
    func joinLine(_ key: String, _ queue: UrgencyQueue, _ row: DuePush) throws(SQLiteError) -> Bool {
        let mustWait = try lines.hasOthers(queue, key, besides: row.claimed.number)
        try setPosition.run(with: mustWait ? nil : row.readyAt, row.claimed.number)
        return !mustWait
    }

    private func releaseNextInLine(_ queue: UrgencyQueue, _ key: String, at now: Int64) throws(SQLiteError) {
        guard let first = try lines.first(queue, key) else { return }
        try setPosition.run(with: now, first.number)
        let next = UrgencyQueue(app: queue.app, environment: queue.environment, urgency: first.urgency)
        database.moveCursor(before: first.number, now, in: next)
    }
}

extension PushSelection {
    /// The rows of `push` that an index finds for ``value``, `?1`, in the order of their numbers.
    var fileRows: String {
        switch self {
        case .user: "push INDEXED BY push_user WHERE user_id = ?1 AND user_id IS NOT NULL"
        case .tokenWithoutUser:
            "push INDEXED BY push_token WHERE substr(token, -2) = substr(?1, -2) AND token IS NOT NULL"
        }
    }

    /// The condition of those of the rows that are selected, in an app, `?2`.
    ///
    /// The unary plus keeps SQLite from using the token's value for the condition that needs the index.
    var fileCondition: String {
        switch self {
        case .user: "app = ?2"
        case .tokenWithoutUser: "+token = ?1 AND user_id IS NULL AND app = ?2"
        }
    }
}

internal import MartletCore
internal import MartletSQLite

extension OutboxDatabase {
    func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) throws(SQLiteError) -> Claim {
        guard let app = number(ofKnown: lane.app) else { return Claim(pushes: [], nextDue: nil) }
        let queue = UrgencyQueue(app: app, environment: lane.environment, urgency: urgency)
        let mayHaveMore = now < state.latest ? try bringForward(queue, limit: limit, at: now) : false
        let due = try duePushes(queue, lane, limit: limit, at: now)
        var pushes: [ClaimedPush] = []
        pushes.reserveCapacity(due.count)
        for row in due where try mayGo(row, queue) {
            state.claimed.insert(row.claimed.number)
            pushes.append(row.claimed)
        }
        if let last = due.last { try giveOut(queue, until: last.readyAt) }
        return Claim(pushes: pushes, nextDue: mayHaveMore ? now : try nextDue(queue))
    }

    /// Returns the due, unclaimed pushes after the cursor and advances the cursor behind them.
    private func duePushes(
        _ queue: UrgencyQueue,
        _ lane: Lane,
        limit: Int,
        at now: Int64
    ) throws(SQLiteError) -> [DuePush] {
        var cursor = state.cursors[queue] ?? Cursor()
        var due: [DuePush] = []
        try statements.claim.bind(
            queue.app,
            queue.environment.rawValue,
            Int64(queue.urgency.rawValue),
            cursor.readyAt,
            cursor.number,
            now
        )
        while due.count < limit, try statements.claim.step() {
            let row = DuePush(statements.claim, lane: lane)
            cursor = Cursor(readyAt: row.readyAt, number: row.claimed.number)
            if !state.claimed.contains(cursor.number) { due.append(row) }
        }
        statements.claim.reset()
        state.cursors[queue] = cursor
        return due
    }

    /// Makes pushes due again that were due on acceptance, after the clock was set back to before that time.
    ///
    /// - Returns: Whether there may be more than the limit.
    private func bringForward(_ queue: UrgencyQueue, limit: Int, at now: Int64) throws(SQLiteError) -> Bool {
        try statements.bringForward.run(
            with: now,
            queue.app,
            queue.environment.rawValue,
            Int64(queue.urgency.rawValue),
            now,
            state.latest,
            Int64(limit)
        )
        guard connection.changes > 0 else { return false }
        lookAt(.min + 1, now, on: queue)
        return connection.changes >= limit
    }

    /// Stores the time up to which pushes may have been claimed.
    ///
    /// It is set 100 milliseconds ahead, so that it is seldom written.
    private func giveOut(_ queue: UrgencyQueue, until time: Int64) throws(SQLiteError) {
        guard time > state.horizons[queue] ?? .min else { return }
        let horizon = time + 100
        try statements.giveOut.run(
            with: queue.app,
            queue.environment.rawValue,
            Int64(queue.urgency.rawValue),
            horizon
        )
        state.horizons[queue] = horizon
    }

    /// Returns whether a due push can be claimed now; a scheduled push with an order key joins its queue first.
    private func mayGo(_ row: DuePush, _ queue: UrgencyQueue) throws(SQLiteError) -> Bool {
        guard let key = row.claimed.push.orderKey, !row.isInLine else { return true }
        let mustWait = try hasOthersInLine(queue, key, besides: row.claimed.number)
        let readyAt = mustWait ? nil : row.readyAt
        try statements.queue.run(with: Int64(1), readyAt, row.claimed.number)
        return !mustWait
    }

    private func nextDue(_ queue: UrgencyQueue) throws(SQLiteError) -> Int64? {
        let cursor = state.cursors[queue] ?? Cursor()
        try statements.nextDue.bind(
            queue.app,
            queue.environment.rawValue,
            Int64(queue.urgency.rawValue),
            cursor.readyAt,
            cursor.number
        )
        defer { statements.nextDue.reset() }
        return try statements.nextDue.step() ? statements.nextDue.integer(at: 0) : nil
    }

    /// Cancels a push that has not been claimed.
    func cancel(_ id: APNsID, of app: String, at now: Int64) throws(SQLiteError) -> PushStatus? {
        guard let app = number(ofKnown: app), let known = try known(id, app) else { return nil }
        guard known.status.place == .accepted, let number = known.number else { return known.status }
        try end(number, Outcome(.cancelled), at: now)
        return try self.known(id, app)?.status
    }

    /// Ends pushes that have expired, except for claimed ones.
    func expire(at now: Int64, limit: Int) throws(SQLiteError) -> [PushStatus] {
        var found: [(number: Int64, status: PushStatus)] = []
        try statements.expired.bind(now)
        while found.count < limit, try statements.expired.step() {
            if let expired = unclaimedPush(statements.expired, endedAs: .expired, at: now) { found.append(expired) }
        }
        statements.expired.reset()
        for (number, _) in found { try end(number, Outcome(.expired), at: now) }
        return found.map(\.status)
    }

    /// Returns the push of a row with its outcome; nil when it is claimed.
    func unclaimedPush(
        _ row: borrowing Statement,
        endedAs state: Outcome.State,
        at now: Int64
    ) -> (number: Int64, status: PushStatus)? {
        let queue = UrgencyQueue(row, from: 1)
        let number = row.integer(at: 0)
        guard !self.state.claimed.contains(number), let id = APNsID(bytes: row.blob(at: 4)) else { return nil }
        let tries = (attempts: Int(row.integer(at: 6)), unknown: Int(row.integer(at: 7)))
        let outcome = Outcome(state, attempts: tries.attempts, unknownTries: tries.unknown)
        let place = PushStatus.Place.ended(outcome, at: now)
        return (number, PushStatus(id: id, lane: lane(of: queue), acceptedAt: row.integer(at: 5), place: place))
    }
}

internal import MartletCore
internal import MartletSQLite

extension OutboxDatabase {
    /// Claims the due pushes of a lane.
    func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) throws(SQLiteError) -> Claim {
        guard let app = number(ofKnown: lane.app) else { return Claim(pushes: [], nextDue: nil) }
        let shelf = Shelf(app: app, environment: lane.environment, urgency: urgency)
        let mayHaveMore = now < known.latest ? try bringForward(shelf, limit: limit, at: now) : false
        let due = try duePushes(shelf, lane, limit: limit, at: now)
        var pushes: [ClaimedPush] = []
        pushes.reserveCapacity(due.count)
        for row in due where try mayGo(row, shelf) {
            known.claimed.insert(row.claimed.number)
            pushes.append(row.claimed)
        }
        if let last = due.last { try giveOut(shelf, until: last.readyAt) }
        return Claim(pushes: pushes, nextDue: mayHaveMore ? now : try nextDue(shelf))
    }

    /// Returns the due, unclaimed pushes after the cursor and advances the cursor behind them.
    private func duePushes(_ shelf: Shelf, _ lane: Lane, limit: Int, at now: Int64) throws(SQLiteError) -> [DuePush] {
        var cursor = known.cursors[shelf] ?? Cursor()
        var due: [DuePush] = []
        try statements.claim.bind(
            shelf.app,
            shelf.environment.rawValue,
            Int64(shelf.urgency.rawValue),
            cursor.readyAt,
            cursor.number,
            now
        )
        while due.count < limit, try statements.claim.step() {
            let row = DuePush(statements.claim, lane: lane)
            cursor = Cursor(readyAt: row.readyAt, number: row.claimed.number)
            if !known.claimed.contains(cursor.number) { due.append(row) }
        }
        statements.claim.reset()
        known.cursors[shelf] = cursor
        return due
    }

    /// Makes pushes due again that were due on acceptance, after the clock was set back to before that time.
    ///
    /// - Returns: Whether there may be more than the limit.
    private func bringForward(_ shelf: Shelf, limit: Int, at now: Int64) throws(SQLiteError) -> Bool {
        try statements.bringForward.run(
            with: now,
            shelf.app,
            shelf.environment.rawValue,
            Int64(shelf.urgency.rawValue),
            now,
            known.latest,
            Int64(limit)
        )
        guard connection.changes > 0 else { return false }
        lookAt(.min + 1, now, on: shelf)
        return connection.changes >= limit
    }

    /// Stores the time up to which pushes may have been claimed.
    ///
    /// It is set 100 milliseconds ahead, so that it is seldom written.
    private func giveOut(_ shelf: Shelf, until time: Int64) throws(SQLiteError) {
        guard time > known.horizons[shelf] ?? .min else { return }
        let horizon = time + 100
        try statements.giveOut.run(
            with: shelf.app,
            shelf.environment.rawValue,
            Int64(shelf.urgency.rawValue),
            horizon
        )
        known.horizons[shelf] = horizon
    }

    /// Returns whether a due push can be claimed now; a scheduled push with an order key joins its queue first.
    private func mayGo(_ row: DuePush, _ shelf: Shelf) throws(SQLiteError) -> Bool {
        guard let key = row.claimed.push.orderKey, !row.isInLine else { return true }
        let mustWait = try hasOthersInLine(shelf, key, besides: row.claimed.number)
        let readyAt = mustWait ? nil : row.readyAt
        try statements.queue.run(with: Int64(1), readyAt, row.claimed.number)
        return !mustWait
    }

    private func nextDue(_ shelf: Shelf) throws(SQLiteError) -> Int64? {
        let cursor = known.cursors[shelf] ?? Cursor()
        try statements.nextDue.bind(
            shelf.app,
            shelf.environment.rawValue,
            Int64(shelf.urgency.rawValue),
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
        let shelf = Shelf(row, from: 1)
        let number = row.integer(at: 0)
        guard !known.claimed.contains(number), let id = APNsID(bytes: row.blob(at: 4)) else { return nil }
        let tries = (attempts: Int(row.integer(at: 6)), unknown: Int(row.integer(at: 7)))
        let outcome = Outcome(state, attempts: tries.attempts, unknownTries: tries.unknown)
        let place = PushStatus.Place.ended(outcome, at: now)
        return (number, PushStatus(id: id, lane: lane(of: shelf), acceptedAt: row.integer(at: 5), place: place))
    }
}

internal import APNs
internal import SQLite

extension OutboxDatabase {
    /// Gives out what is due in a lane.
    func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) throws(SQLiteError) -> Claim {
        guard let app = number(ofKnown: lane.app) else { return Claim(pushes: [], nextDue: nil) }
        let shelf = Shelf(app: app, environment: lane.environment, urgency: urgency)
        var cursor = known.cursors[shelf] ?? Cursor()
        var due: [DuePush] = []
        try statements.claim.bind(
            app,
            lane.environment.rawValue,
            Int64(urgency.rawValue),
            cursor.readyAt,
            cursor.number,
            now,
            Int64(limit)
        )
        while try statements.claim.step() { due.append(DuePush(statements.claim, lane: lane)) }
        var pushes: [ClaimedPush] = []
        pushes.reserveCapacity(due.count)
        for row in due {
            cursor = Cursor(readyAt: row.readyAt, number: row.claimed.number)
            guard try mayGo(row, shelf) else { continue }
            pushes.append(row.claimed)
        }
        known.cursors[shelf] = cursor
        if !due.isEmpty { try giveOut(shelf, until: cursor.readyAt) }
        return Claim(pushes: pushes, nextDue: try nextDue(shelf, after: cursor))
    }

    /// Has the file say that pushes may have been given out up to a time, a tenth of a second ahead so that it seldom
    /// has to.
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

    /// A scheduled push gets in line when its time has come: it goes now, or waits behind those that are in line.
    private func mayGo(_ row: DuePush, _ shelf: Shelf) throws(SQLiteError) -> Bool {
        guard let key = row.claimed.push.orderKey, !row.isInLine else { return true }
        let mustWait = try hasOthersInLine(shelf, key, besides: row.claimed.number)
        let readyAt = mustWait ? nil : row.readyAt
        try statements.queue.run(with: Int64(1), readyAt, row.claimed.number)
        return !mustWait
    }

    private func nextDue(_ shelf: Shelf, after cursor: Cursor) throws(SQLiteError) -> Int64? {
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

    /// Takes a push back that has not been given out yet.
    func cancel(_ id: APNsID, of app: String, at now: Int64) throws(SQLiteError) -> PushStatus? {
        guard let app = number(ofKnown: app), let known = try known(id, app) else { return nil }
        guard known.status.place == .accepted, let number = known.number else { return known.status }
        try end(number, Outcome(.cancelled), at: now)
        return try self.known(id, app)?.status
    }

    /// Ends pushes that are of no use any more, but for those that have been given out.
    func expire(at now: Int64, limit: Int) throws(SQLiteError) -> [PushStatus] {
        var found: [(number: Int64, status: PushStatus)] = []
        try statements.expired.bind(now)
        while found.count < limit, try statements.expired.step() {
            if let expired = expiredPush(statements.expired, at: now) { found.append(expired) }
        }
        statements.expired.reset()
        for (number, _) in found { try end(number, Outcome(.expired), at: now) }
        return found.map(\.status)
    }

    /// The push of a row, unless it has been given out.
    private func expiredPush(_ row: borrowing Statement, at now: Int64) -> (number: Int64, status: PushStatus)? {
        let shelf = Shelf(row, from: 1)
        let number = row.integer(at: 0)
        guard !isClaimed(shelf, readyAt: row.optionalInteger(at: 4), number: number),
            let id = APNsID(bytes: row.blob(at: 5))
        else { return nil }
        let tries = (attempts: Int(row.integer(at: 7)), unknown: Int(row.integer(at: 8)))
        let outcome = Outcome(.expired, attempts: tries.attempts, unknownTries: tries.unknown)
        let place = PushStatus.Place.ended(outcome, at: now)
        return (number, PushStatus(id: id, lane: lane(of: shelf), acceptedAt: row.integer(at: 6), place: place))
    }
}

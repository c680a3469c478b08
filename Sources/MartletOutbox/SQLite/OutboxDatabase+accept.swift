internal import MartletCore
internal import MartletSQLite
internal import MartletTransport

extension OutboxDatabase {
    /// Performs the changes of several callers and returns one list of answers for each.
    func perform(_ pieces: [SQLiteOutbox.Work]) throws(SQLiteError) -> [[Acceptance]] {
        var answers: [[Acceptance]] = []
        for piece in pieces {
            switch piece {
            case .accept(let pushes, let now, _):
                state.latest = max(state.latest, now)
                answers.append(try accept(pushes, at: now))
            case .settle(let settlements, let now, _):
                try settle(settlements, at: now)
                answers.append([])
            }
        }
        return answers
    }

    func accept(_ pushes: [OutboxPush], at now: Int64) throws(SQLiteError) -> [Acceptance] {
        var answers: [Acceptance] = []
        answers.reserveCapacity(pushes.count)
        for push in pushes { answers.append(try accept(push, at: now)) }
        return answers
    }

    private func accept(_ push: OutboxPush, at now: Int64) throws(SQLiteError) -> Acceptance {
        let app = try number(of: push.lane.app)
        let fingerprint = push.fingerprint
        if let fingerprint, let known = try known(push.id, app) {
            return known.fingerprint == fingerprint ? .duplicate(known.status) : .conflict
        }
        if state.hasDeadTokens, case .device(let token) = push.destination,
            let dead = try deadToken(token, of: app, push)
        {
            return .suppressed(dead)
        }
        guard count < limit else { return .full }
        try insert(push, app: app, fingerprint: fingerprint, at: now)
        state.counts[push.lane, default: 0] += 1
        return .accepted
    }

    private func insert(
        _ push: OutboxPush,
        app: Int64,
        fingerprint: [UInt8]?,
        at now: Int64
    ) throws(SQLiteError) {
        let number = state.nextNumber
        state.nextNumber += 1
        let queue = UrgencyQueue(app: app, environment: push.lane.environment, urgency: push.urgency)
        var readyAt: Int64? = now
        var isInLine = push.orderKey != nil
        if let notBefore = push.notBefore, notBefore > now {
            readyAt = notBefore
            isInLine = false
        } else if let key = push.orderKey, try hasOthersInLine(queue, key, besides: number) {
            readyAt = nil
        }
        if let readyAt { lookAt(number, readyAt, on: queue) }
        let place = Place(number: number, queue: queue, readyAt: readyAt, isInLine: isInLine)
        try insert(push, at: place, fingerprint: fingerprint, acceptedAt: now)
    }

    /// The position of a row in the queue.
    private struct Place {
        var number: Int64
        var queue: UrgencyQueue
        var readyAt: Int64?
        var isInLine: Bool
    }

    private func insert(
        _ push: OutboxPush,
        at place: Place,
        fingerprint: [UInt8]?,
        acceptedAt: Int64
    ) throws(SQLiteError) {
        var position = 0
        try statements.insert.bind(place.number, after: &position)
        try statements.insert.bind(place.queue.app, after: &position)
        try statements.insert.bind(place.queue.environment.rawValue, after: &position)
        try statements.insert.bind(Int64(place.queue.urgency.rawValue), after: &position)
        try statements.insert.bind(place.readyAt, after: &position)
        try statements.insert.bind(Int64(place.isInLine ? 1 : 0), after: &position)
        try statements.insert.bind(push.orderKey, after: &position)
        try statements.insert.bind(push.expiresAt, after: &position)
        try statements.insert.bind(push.id.bytes, after: &position)
        try statements.insert.bind(fingerprint, after: &position)
        let (token, channel, bundle) = push.destination.columns
        for text in [token, channel, bundle] { try statements.insert.bind(text, after: &position) }
        let headers = push.headers
        for text in [headers.pushType, headers.topic, headers.priority, headers.expiration, headers.collapseID] {
            try statements.insert.bind(text, after: &position)
        }
        try statements.insert.bind(push.traceParent, after: &position)
        try statements.insert.bind(acceptedAt, after: &position)
        try statements.insert.bind(push.payload, after: &position)
        try statements.insert.run()
    }

    /// Returns whether another push with this order key has to end before a new one can be claimed.
    func hasOthersInLine(_ queue: UrgencyQueue, _ key: String, besides number: Int64) throws(SQLiteError) -> Bool {
        try statements.findInLine.bind(queue.app, queue.environment.rawValue, key, number)
        defer { statements.findInLine.reset() }
        return try statements.findInLine.step()
    }

    /// Returns the record that the token of a push is unregistered.
    private func deadToken(_ token: DeviceToken, of app: Int64, _ push: OutboxPush) throws(SQLiteError) -> DeadToken? {
        let environment = push.lane.environment.rawValue
        try statements.findDeadToken.bind(app, token.hex, environment, push.headers.topic ?? "")
        defer { statements.findDeadToken.reset() }
        return try statements.findDeadToken.step() ? DeadToken(statements.findDeadToken) : nil
    }
}

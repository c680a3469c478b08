internal import MartletCore
internal import MartletSQLite

extension OutboxDatabase {
    /// Stores the results of claimed pushes.
    func settle(_ settlements: [Settlement], at now: Int64) throws(SQLiteError) {
        for settlement in settlements {
            switch settlement.change {
            case .ended(let outcome):
                try end(settlement.number, outcome, isTokenDead: settlement.isTokenDead, at: now)
            case .postponed(let until, let attempts, let unknownTries):
                try postpone(settlement.number, until: until, attempts: attempts, unknownTries: unknownTries)
            }
        }
    }

    private func postpone(
        _ number: Int64,
        until time: Int64,
        attempts: Int,
        unknownTries: Int
    ) throws(SQLiteError) {
        guard let place = try place(of: number) else { return }
        try statements.postpone.run(with: time, Int64(attempts), Int64(unknownTries), number)
        state.claimed.remove(number)
        lookAt(number, time, on: place.queue)
    }

    /// Ends a push, and makes the next push with its order key due.
    func end(_ number: Int64, _ outcome: Outcome, isTokenDead: Bool = false, at now: Int64) throws(SQLiteError) {
        guard let place = try place(of: number) else { return }
        try statements.end.run(
            with: outcome.state.rawValue,
            outcome.status.map(Int64.init),
            outcome.reason,
            outcome.uniqueID,
            outcome.unregisteredAt,
            Int64(outcome.attempts),
            Int64(outcome.unknownTries),
            now,
            number
        )
        state.claimed.remove(number)
        state.counts[lane(of: place.queue), default: 1] -= 1
        // The row of a dead letter is kept, so that the push can be sent again on request.
        if outcome.state == .dead {
            try statements.rest.run(with: number)
        } else {
            try statements.remove.run(with: number)
        }
        if let key = place.orderKey, place.isFirstInLine { try releaseNextInLine(place.queue, key, at: now) }
        if isTokenDead, let token = place.token {
            let environment = place.queue.environment.rawValue
            try statements.removeDeadToken.run(with: place.queue.app, token, environment, place.topic)
            try statements.addDeadToken.run(
                with: place.queue.app,
                token,
                environment,
                place.topic,
                outcome.unregisteredAt,
                now,
                outcome.reason ?? ""
            )
            state.hasDeadTokens = true
        }
    }

    private func releaseNextInLine(_ queue: UrgencyQueue, _ key: String, at now: Int64) throws(SQLiteError) {
        try statements.firstInLine.bind(queue.app, queue.environment.rawValue, key)
        defer { statements.firstInLine.reset() }
        guard try statements.firstInLine.step() else { return }
        let number = statements.firstInLine.integer(at: 0)
        let urgency = Urgency(statements.firstInLine, at: 1)
        let next = UrgencyQueue(app: queue.app, environment: queue.environment, urgency: urgency)
        try statements.queue.run(with: Int64(1), now, number)
        lookAt(number, now, on: next)
    }

    /// The position of a row in the queue.
    private struct Place {
        var queue: UrgencyQueue
        var orderKey: String?
        var token: String?
        /// The topic; empty for a push without one.
        var topic: String
        /// Whether the push is the first of its order key; a push behind others has no due time.
        var isFirstInLine: Bool

        init(_ row: borrowing Statement) {
            queue = UrgencyQueue(row, from: 0)
            orderKey = row.optionalText(at: 3)
            token = row.optionalText(at: 4)
            topic = row.text(at: 5)
            isFirstInLine = row.integer(at: 6) != 0
        }
    }

    private func place(of number: Int64) throws(SQLiteError) -> Place? {
        try statements.place.bind(number)
        defer { statements.place.reset() }
        guard try statements.place.step() else { return nil }
        return Place(statements.place)
    }
}

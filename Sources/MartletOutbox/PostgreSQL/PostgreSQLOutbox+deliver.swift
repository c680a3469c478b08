internal import MartletCore
internal import MartletPostgreSQL
internal import MartletTransport

/// Claiming pushes, and storing their results.
extension PostgreSQLOutbox {
    /// The results that one call has submitted.
    struct SettlePiece {
        var settlements: [Settlement]
        var now: Int64
        var continuation: CheckedContinuation<Result<Void, OutboxError>, Never>
    }

    package func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> Claim {
        let app = try await number(of: lane.app)
        let key = QueueKey(lane: lane, urgency: urgency)
        let place: [Parameter] = [
            .integer(app), .flag(lane.environment.isProduction), .integer(Int64(urgency.rawValue)),
        ]
        let start = watermarks[key, default: Watermark()].startOfClaim(at: .now)
        let node = node
        let question: [Parameter] =
            [.integer(node)] + place + [.integer(start), .integer(now), .integer(Int64(limit))]
        claimsUnderWay += 1
        defer { claimsUnderWay -= 1 }
        try checkOpen()
        let due: [(push: ClaimedPush, readyAt: Int64)]
        do throws(PostgreSQLError) {
            due = try await ask(
                .delivering,
                "SELECT * FROM martlet.claim($1, $2, $3, $4, $5, $6, $7)",
                question
            ) { rows in
                rows.all.map { (push: ClaimedPush($0, lane: lane), readyAt: $0.integer(at: 1)) }
            }
        } catch {
            let failure = OutboxError(error, "the outbox in PostgreSQL cannot be used")
            guard error.state == Schema.missingNode else { throw failure }
            try? await registerAgain(insteadOf: node)
            guard node != self.node else { throw failure }
            return Claim(pushes: [], nextDue: now)
        }
        // Claims under the previous number have been released, or will be.
        guard node == self.node else { return Claim(pushes: [], nextDue: now) }
        held.formUnion(due.map(\.push.number))
        let isAll = due.count < limit
        let seen = isAll ? now : due.last?.readyAt ?? now
        watermarks[key]?.advance(to: seen)
        if !due.isEmpty { watch.noteWork() }
        guard isAll else { return Claim(pushes: due.map(\.push), nextDue: seen) }
        let nextDue = try? await inquire(
            .delivering,
            "SELECT martlet.next_due($1, $2, $3, $4)",
            place + [.integer(now)]
        ) { $0.first?.optionalInteger(at: 0) }
        return Claim(pushes: due.map(\.push), nextDue: nextDue ?? nil)
    }

    /// Searches earlier times again when the clock was set back, because new pushes are due before those already
    /// claimed.
    func noteTime(_ now: Int64) {
        if now < latestTime - Watermark.lookBack {
            for key in watermarks.keys { watermarks[key]?.startOver() }
        } else if now < latestTime {
            for key in watermarks.keys { watermarks[key]?.expectStragglers() }
        }
        latestTime = now
    }

    /// Notes that this node has made pushes due at a time.
    ///
    /// All watermarks are updated, which costs less than finding the lanes concerned.
    func notePushes(due now: Int64) {
        for key in watermarks.keys { watermarks[key]?.notePush(due: now) }
    }

    package func settle(_ settlements: [Settlement], at now: Int64) async throws(OutboxError) {
        guard !isClosed else { throw OutboxError(.closed, "the outbox is closed") }
        try await withCheckedContinuation { continuation in
            if settling.add(SettlePiece(settlements: settlements, now: now, continuation: continuation)) {
                loop.atEndOfTurn { [self] in assumeIsolated { $0.settleNext() } }
            }
        }.get()
    }

    private func settleNext() {
        guard let pieces = settling.next() else { return }
        Task {
            let result: Result<Void, OutboxError>
            do throws(OutboxError) {
                result = .success(try await settleAll(pieces.flatMap(\.settlements), at: pieces.last?.now ?? 0))
            } catch {
                result = .failure(error)
            }
            for piece in pieces { piece.continuation.resume(returning: result) }
            settleNext()
        }
    }

    private func settleAll(_ settlements: [Settlement], at now: Int64) async throws(OutboxError) {
        noteTime(now)
        let rows = settlements.map(SettlementRow.init)
        let start = ContinuousClock.now
        try await inquire(
            .delivering,
            "SELECT martlet.settle(\(Self.places(12)))",
            [
                .integer(now), .integer(node), .integers(settlements.map(\.number)), .texts(rows.map(\.state)),
                .integers(rows.map(\.status)), .texts(rows.map(\.reason)), .texts(rows.map(\.uniqueID)),
                .integers(rows.map(\.unregisteredAt)), .integers(rows.map(\.until)),
                .integers(rows.map(\.attempts)), .integers(rows.map(\.unknownTries)),
                .flags(settlements.map(\.isTokenUnregistered)),
            ]
        ) { _ in }
        measures.commitTimes.observe(ContinuousClock.now - start)
        measures.commitSizes.observe(Double(settlements.count))
        held.subtract(settlements.map(\.number))
        // Pushes that waited behind those that have ended are due now.
        notePushes(due: now)
        count -= rows.count { $0.state != nil }
    }
}

/// A settlement as parameters of `martlet.settle`; a push that is postponed has no state.
private struct SettlementRow {
    var state: String?
    var status: Int64?
    var reason: String?
    var uniqueID: String?
    var unregisteredAt: Int64?
    var until: Int64?
    var attempts: Int64
    var unknownTries: Int64

    init(_ settlement: Settlement) {
        switch settlement.change {
        case .ended(let outcome):
            state = outcome.state.rawValue
            status = outcome.status.map(Int64.init)
            reason = outcome.reason
            uniqueID = outcome.uniqueID
            unregisteredAt = outcome.unregisteredAt
            attempts = Int64(outcome.attempts)
            unknownTries = Int64(outcome.unknownTries)
        case .postponed(let until, let attempts, let unknownTries):
            self.until = until
            self.attempts = Int64(attempts)
            self.unknownTries = Int64(unknownTries)
        }
    }
}

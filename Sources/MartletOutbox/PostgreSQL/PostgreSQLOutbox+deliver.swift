// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL
internal import MartletTransport

/// Claiming pushes, and storing their results.
extension PostgreSQLOutbox {
    /// The results that one call has submitted.
    struct SettlePiece {
        var settlements: [Settlement]
        var now: Int64
        var continuation: CheckedContinuation<Result<Int64, OutboxError>, Never>
    }

    package func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> Claim {
        let app = try await apps.number(of: lane.app)
        let key = LaneQueue(lane: lane, urgency: urgency)
        let queue: [Parameter] = [
            .integer(app), .flag(lane.environment.isProduction), .integer(Int64(urgency.rawValue)),
        ]
        let (number, start) = progress.beginClaim(of: key, at: .now)
        defer { progress.endClaim() }
        let node = await membership.number
        try await connections.checkOpen()
        let due: [ClaimedPush]
        do throws(PostgreSQLError) {
            due = try await connections.run(
                .delivering,
                "SELECT * FROM martlet.claim(\(Parameter.places(8)))",
                [.integer(node), .integer(number)] + queue + [.integer(start), .integer(now), .integer(Int64(limit))]
            ) { rows in
                rows.all.map { ClaimedPush($0, lane: lane, claim: number, isChecked: true) }
            }
        } catch {
            guard error.state == OutboxSchema.missingNode else { throw OutboxError(error) }
            try? await registerAgain(insteadOf: node)
            guard await membership.number != node else { throw OutboxError(error) }
            return Claim(pushes: [], nextDue: now)
        }
        // Claims under the previous number have been released, or will be.
        guard await membership.number == node else { return Claim(pushes: [], nextDue: now) }
        let isAll = due.count < limit
        let end = isAll ? now : due.last?.readyAt ?? now
        progress.recordClaim(due, of: key, through: end)
        if !due.isEmpty { polls.recordWork() }
        guard isAll else { return Claim(pushes: due, nextDue: end) }
        let nextDue = try? await connections.query(
            .delivering,
            "SELECT martlet.next_due($1, $2, $3, $4)",
            queue + [.integer(now)]
        ) { $0.first?.optionalInteger(at: 0) }
        return Claim(pushes: due, nextDue: nextDue ?? nil)
    }

    @discardableResult
    package func settle(_ settlements: [Settlement], at now: Int64) async throws(OutboxError) -> Int64 {
        try await connections.checkOpen()
        return try await withCheckedContinuation { continuation in
            if settling.add(SettlePiece(settlements: settlements, now: now, continuation: continuation)) {
                loop.atEndOfTurn { [self] in assumeIsolated { $0.settleNext() } }
            }
        }.get()
    }

    private func settleNext() {
        guard let pieces = settling.next() else { return }
        Task {
            let now = pieces.last?.now ?? 0
            let result: Result<Int64, OutboxError>
            do throws(OutboxError) {
                try await store(pieces.flatMap(\.settlements), at: now)
                result = .success(now)
            } catch {
                result = .failure(error)
            }
            for piece in pieces { piece.continuation.resume(returning: result) }
            settleNext()
        }
    }

    private func store(_ settlements: [Settlement], at now: Int64) async throws(OutboxError) {
        progress.recordTime(now)
        let node = await membership.number
        let rows = settlements.map(SettlementRow.init)
        let start = ContinuousClock.now
        try await connections.query(
            .delivering,
            "SELECT martlet.settle(\(Parameter.places(14)))",
            [
                .integer(now), .integer(node), .integers(settlements.map(\.number)),
                .integers(settlements.map(\.claim)), .texts(rows.map(\.state)), .integers(rows.map(\.status)),
                .texts(rows.map(\.reason)), .texts(rows.map(\.uniqueID)), .integers(rows.map(\.unregisteredAt)),
                .integers(rows.map(\.until)), .integers(rows.map(\.attempts)), .integers(rows.map(\.unknownTries)),
                .texts(settlements.map(\.history.stored)), .flags(settlements.map(\.isTokenUnregistered)),
            ]
        ) { _ in }
        measures.commitTimes.observe(ContinuousClock.now - start)
        measures.commitSizes.observe(Double(settlements.count))
        progress.recordSettled(settlements, at: now)
        // A push that keeps its place was due in the past.
        if let first = settlements.compactMap(\.due).min() { progress.recordPushes(due: first) }
        backlogCount.pushes -= rows.count { $0.state != nil }
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

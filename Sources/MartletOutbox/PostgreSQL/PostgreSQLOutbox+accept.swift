// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL
internal import MartletTransport

/// Accepting pushes.
extension PostgreSQLOutbox {
    /// The pushes that one call has submitted.
    struct AcceptPiece {
        var pushes: [HashedPush]
        var now: Int64
        var continuation: CheckedContinuation<Result<[Acceptance], OutboxError>, Never>
    }

    /// A push with the number of its app and the time of its acceptance.
    struct Entry {
        var hashed: HashedPush
        var app: Int64
        var now: Int64

        var push: OutboxPush { hashed.push }

        /// Returns the parameters of `martlet.accept`.
        static func parameters(_ entries: ArraySlice<Entry>) -> [Parameter] {
            let pushes = entries.map(\.push)
            let columns = pushes.map(\.destination.columns)
            let limits = pushes.map(\.alertLimit)
            let alertLimits: [Int64?] = limits.map { limit in limit.map { Int64($0.perDay) } }
            return [
                .integers(entries.map(\.now)), .integers(entries.map(\.app)),
                .flags(pushes.map(\.lane.environment.isProduction)),
                .integers(pushes.map { Int64($0.urgency.rawValue) }), .identifiers(pushes.map(\.id.bytes)),
                .byteLists(entries.map(\.hashed.fingerprint)), .texts(columns.map(\.token)),
                .texts(columns.map(\.channel)),
                .texts(columns.map(\.bundle)), .texts(pushes.map(\.headers.pushType)),
                .texts(pushes.map(\.headers.topic)), .texts(pushes.map(\.headers.priority)),
                .texts(pushes.map(\.headers.expiration)), .texts(pushes.map(\.headers.collapseID)),
                .texts(pushes.map(\.traceParent)), .texts(pushes.map(\.orderKey)),
                .integers(pushes.map(\.notBefore)), .integers(pushes.map(\.expiresAt)),
                .integers(entries.map(\.hashed.checksum)), .byteLists(pushes.map(\.payload)),
                .texts(pushes.map(\.user)), .texts(limits.map { $0?.request.description }),
                .integers(alertLimits), .flags(pushes.map(\.supersedes)), .integers(pushes.map(\.session)),
            ]
        }
    }

    package func accept(_ pushes: [HashedPush], at now: Int64) async throws(OutboxError) -> [Acceptance] {
        for app in Set(pushes.map(\.push.lane.app)) { _ = try await apps.number(of: app) }
        try await connections.checkOpen()
        return try await withCheckedContinuation { continuation in
            if accepting.add(AcceptPiece(pushes: pushes, now: now, continuation: continuation)) {
                // The callers that are already queued run first, and join the same commit.
                loop.atEndOfTurn { [self] in assumeIsolated { $0.acceptNext() } }
            }
        }.get()
    }

    package func conflicts(with pushes: [HashedPush]) async throws(OutboxError) -> Set<Int> {
        for app in Set(pushes.map(\.push.lane.app)) { _ = try await apps.number(of: app) }
        let numbers = pushes.map { apps.number(ofKnown: $0.push.lane.app) ?? 0 }
        return try await connections.query(
            .accepting,
            """
            SELECT g.place FROM unnest($1, $2, $3) WITH ORDINALITY AS g (app, apns_id, fingerprint, place)
            CROSS JOIN LATERAL martlet.known(g.app, g.apns_id) k
            WHERE k.fingerprint IS DISTINCT FROM g.fingerprint
            """,
            [.integers(numbers), .identifiers(pushes.map(\.push.id.bytes)), .byteLists(pushes.map(\.fingerprint))]
        ) { rows in Set(rows.all.map { Int($0.integer(at: 0)) - 1 }) }
    }

    private func acceptNext() {
        guard let pieces = accepting.next() else { return }
        Task {
            await accept(pieces)
            acceptNext()
        }
    }

    private func accept(_ pieces: [AcceptPiece]) async {
        let entries = pieces.flatMap { piece in
            piece.pushes.map { Entry(hashed: $0, app: apps.number(ofKnown: $0.push.lane.app) ?? 0, now: piece.now) }
        }
        progress.recordTime(pieces.last?.now ?? 0)
        let room = max(0, min(entries.count, options.limit - backlogCount.pushes))
        let start = ContinuousClock.now
        let result: Result<[Acceptance], OutboxError>
        do throws(OutboxError) {
            result = .success(try await accept(entries[..<room]))
        } catch {
            result = .failure(error)
        }
        measures.commitTimes.observe(ContinuousClock.now - start)
        measures.commitSizes.observe(Double(room))
        var place = 0
        for piece in pieces {
            let places = place..<place + piece.pushes.count
            place = places.upperBound
            piece.continuation.resume(
                returning: result.map { answers in places.map { $0 < room ? answers[$0] : .full } }
            )
        }
    }

    private func accept(_ entries: ArraySlice<Entry>) async throws(OutboxError) -> [Acceptance] {
        guard let earliest = entries.map(\.now).min() else { return [] }
        let pushes = entries.map(\.push)
        let described = try await connections.query(.accepting, Self.acceptSQL, Entry.parameters(entries)) { rows in
            rows.all.map { row in (Int(row.integer(at: 0)) - 1, Acceptance(row, pushes)) }
        }
        var answers = [Acceptance](repeating: .accepted, count: entries.count)
        var superseded: [Int: [PushStatus]] = [:]
        for (place, answer) in described {
            if case .superseding(let older) = answer {
                // One row for each of them.
                superseded[place, default: []] += older
            } else {
                answers[place] = answer
            }
        }
        for (place, older) in superseded {
            answers[place] = .superseding(older)
            backlogCount.pushes -= older.count
        }
        backlogCount.pushes += answers.count { $0.isStored }
        // Later pushes may have been claimed while these were stored.
        progress.recordPushes(due: earliest)
        return answers
    }

    private static let acceptSQL =
        "SELECT * FROM martlet.accept(\(Parameter.places(25)))"
}

extension Acceptance {
    /// Reads a row of `martlet.accept`, which describes a push that was not stored, or one that a stored push replaces.
    fileprivate init(_ row: Row, _ pushes: [OutboxPush]) {
        let push = pushes[Int(row.integer(at: 0)) - 1]
        if row.flag(at: 21) {
            self = .superseding([PushStatus(row, from: 2, app: push.lane.app)].compactMap(\.self))
        } else if let isSame = row.optionalInteger(at: 1) {
            let status = PushStatus(row, from: 2, app: push.lane.app)
            self = isSame != 0 ? status.map(Acceptance.duplicate) ?? .vanished : .conflict
        } else if let cursor = row.optionalInteger(at: 15), case .device(let token) = push.destination {
            self = .suppressed(
                UnregisteredToken(
                    cursor: cursor,
                    token: token,
                    environment: push.lane.environment,
                    topic: push.headers.topic ?? "",
                    unregisteredAt: row.optionalInteger(at: 16),
                    reportedAt: row.integer(at: 17),
                    reason: row.text(at: 18)
                )
            )
        } else if row.flag(at: 22) {
            self = .contested
        } else {
            self = row.flag(at: 19) ? .formerUser : row.flag(at: 20) ? .limited : .vanished
        }
    }
}

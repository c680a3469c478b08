// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL

/// The requests that back ends have stored with `martlet.enqueue_surface` and `martlet.enqueue_withdrawal`.
extension PostgreSQLSurfaces {
    var enqueued: (any EnqueuedSurfaceStore)? { self }

    func enqueuedSurfaces(limit: Int) async throws(OutboxError) -> [EnqueuedSurface] {
        try await outbox.connections.query(
            .maintaining,
            """
            SELECT r.number, r.id, a.name, r.surface, r.caller, r.request
            FROM (SELECT * FROM martlet.surface_request ORDER BY number LIMIT $1) r
            JOIN martlet.app a ON a.number = r.app ORDER BY r.number
            """,
            [.integer(Int64(limit))]
        ) { rows in
            rows.all.compactMap { row in
                APNsID(bytes: row.bytes(at: 1)).map { id in
                    EnqueuedSurface(
                        number: row.integer(at: 0),
                        id: id,
                        app: row.text(at: 2),
                        surface: row.text(at: 3),
                        caller: row.text(at: 4),
                        request: row.optionalBytes(at: 5)
                    )
                }
            }
        }
    }

    func carryOut(
        _ request: EnqueuedSurface,
        with surface: Surface?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange? {
        let audience = surface?.audience.columns
        let users: [String] = surface?.audience.userNames ?? []
        return try await change(
            "carry_out_surface_request(\(Parameter.places(10)))",
            [
                .integer(request.number), .text(audience?.kind), .text(audience?.text), .texts(users),
                .bytes(surface?.fingerprint), .bytes(surface?.request), .integer(surface?.endsAt),
                .text(surface?.channel), .integer(Int64(limit)), .integer(now),
            ],
            of: request.app
        )
    }

    func refuse(
        _ request: EnqueuedSurface,
        with outcome: Outcome,
        in environment: PushEnvironment,
        at now: Int64
    ) async throws(OutboxError) -> PushStatus? {
        let createdAt = try await outbox.connections.query(
            .maintaining,
            "SELECT * FROM martlet.refuse_surface_request(\(Parameter.places(5)))",
            [
                .integer(request.number), .flag(environment.isProduction), .integer(outcome.status.map { Int64($0) }),
                .text(outcome.reason), .integer(now),
            ]
        ) { rows in rows.first?.integer(at: 0) }
        return createdAt.map { time in
            PushStatus(
                id: request.id,
                lane: Lane(app: request.app, environment: environment),
                acceptedAt: time,
                state: .ended(outcome, at: now)
            )
        }
    }
}

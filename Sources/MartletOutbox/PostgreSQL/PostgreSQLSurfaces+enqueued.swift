// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL

/// The requests that back ends have stored with `martlet.enqueue_surface` and `martlet.enqueue_withdrawal`.
extension PostgreSQLSurfaces {
    var enqueued: (any EnqueuedSurfaceStore)? { self }

    func enqueuedSurfaces(of app: String?, limit: Int) async throws(OutboxError) -> [EnqueuedSurface] {
        var condition = "true"
        if let app {
            let number = try await outbox.apps.number(of: app)
            condition = "r.app = \(number)"
        }
        // Without the newest ones, because the order of an app's requests matters.
        return try await outbox.connections.query(
            .maintaining,
            """
            SELECT r.number, r.id, a.name, r.surface, r.caller, r.request
            FROM \(Self.waiting("surface_request", condition, "number")) w
            CROSS JOIN LATERAL (SELECT q.* FROM martlet.surface_request q WHERE q.number = w.waiting LIMIT 1) r
            JOIN martlet.app a ON a.number = r.app ORDER BY r.number
            """,
            [.integer(.max), .integer(Int64(limit)), .integer(0)]
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
        _ requests: [CheckedSurface],
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> [SurfaceChange?] {
        guard !requests.isEmpty else { return [] }
        let surfaces = requests.map(\.surface)
        let audiences = surfaces.map { $0?.audience.columns }
        let apps = requests.map(\.request.app)
        return try await outbox.connections.query(
            .maintaining,
            """
            SELECT \(SurfaceRow.columns), c.result, c.place
            FROM martlet.carry_out_surface_requests(\(Parameter.places(9))) c
            CROSS JOIN LATERAL (SELECT (c.surface).*) s
            """,
            [
                .integers(requests.map(\.request.number)), .texts(audiences.map { $0?.kind }),
                .texts(audiences.map { $0?.text }), .byteLists(surfaces.map { $0?.fingerprint }),
                .byteLists(surfaces.map { $0?.request }), .integers(surfaces.map { $0?.endsAt }),
                .texts(surfaces.map { $0?.channel }), .integer(Int64(limit)), .integer(now),
            ]
        ) { rows in
            var changes = [SurfaceChange?](repeating: nil, count: apps.count)
            for row in rows.all {
                let index = Int(row.integer(at: 16)) - 1
                guard changes.indices.contains(index) else { continue }
                changes[index] = SurfaceChange(row, app: apps[index])
            }
            return changes
        }
    }

    func refuse(_ refusals: [RefusedSurface], at now: Int64) async throws(OutboxError) -> [PushStatus] {
        guard !refusals.isEmpty else { return [] }
        let createdAt = try await outbox.connections.query(
            .maintaining,
            "SELECT * FROM martlet.refuse_surface_requests(\(Parameter.places(5)))",
            [
                .integers(refusals.map(\.request.number)), .flags(refusals.map(\.environment.isProduction)),
                .integers(refusals.map { $0.outcome.status.map { Int64($0) } }),
                .texts(refusals.map(\.outcome.reason)), .integer(now),
            ]
        ) { rows in
            Dictionary(rows.all.map { ($0.integer(at: 0), $0.integer(at: 1)) }) { first, _ in first }
        }
        return refusals.compactMap { refusal in
            createdAt[refusal.request.number].map { time in
                PushStatus(
                    id: refusal.request.id,
                    lane: Lane(app: refusal.request.app, environment: refusal.environment),
                    acceptedAt: time,
                    state: .ended(refusal.outcome, at: now)
                )
            }
        }
    }
}

extension SurfaceChange {
    /// Reads the columns ``SurfaceRow/columns``, which are null for an unknown surface, and the result.
    init(_ row: Row, app: String) {
        let stored = row.optionalInteger(at: 0) == nil ? nil : StoredSurface(row, app: app)
        switch (row.text(at: 15), stored) {
        case ("changed", let stored?): self = .changed(stored)
        case ("unchanged", let stored?): self = .unchanged(stored)
        case ("channel-in-use", let other?): self = .channelInUse(by: other.surface.id)
        case ("full", _): self = .full
        default: self = .refused(stored)
        }
    }
}

package import MartletCore
internal import MartletPostgreSQL

/// Data that nodes share besides pushes.
extension PostgreSQLOutbox: SharedOutbox {
    package func nodes() async throws(OutboxError) -> [OutboxNode] {
        let (own, lease) = (node, options.lease.components.seconds * 1_000)
        return try await inquire(
            .watching,
            """
            SELECT number, name, version, martlet.milliseconds(started_at),
                martlet.milliseconds(clock_timestamp()) - martlet.milliseconds(lease_until), is_to_drain, facts
            FROM martlet.node ORDER BY number
            """
        ) { rows in
            rows.all.map { row in
                let (silence, isTooLong) = row.integer(at: 4).addingReportingOverflow(lease)
                return OutboxNode(
                    number: row.integer(at: 0),
                    name: row.text(at: 1),
                    version: row.text(at: 2),
                    startedAt: row.integer(at: 3),
                    silence: isTooLong ? .max : max(0, silence),
                    isToDrain: row.flag(at: 5),
                    isOwn: row.integer(at: 0) == own,
                    facts: row.text(at: 6)
                )
            }
        }
    }

    package func askToDrain(_ number: Int64) async throws(OutboxError) -> Bool {
        try await inquire(
            .watching,
            "UPDATE martlet.node SET is_to_drain = true WHERE number = $1 RETURNING 1",
            [.integer(number)]
        ) { $0.count > 0 }
    }

    package func publish(_ facts: String) {
        self.facts = facts
    }

    package func ended(among pushes: [(app: String, id: APNsID)]) async throws(OutboxError) -> [PushStatus] {
        var apps: [Int64] = []
        for push in pushes { apps.append(try await number(of: push.app)) }
        let names = pushes.map(\.app)
        return try await inquire(
            .watching,
            """
            SELECT g.place, k.* FROM unnest($1, $2) WITH ORDINALITY AS g (app, id, place)
            CROSS JOIN LATERAL martlet.known(g.app, g.id) k WHERE k.state IS NOT NULL
            """,
            [.integers(apps), .identifiers(pushes.map(\.id.bytes))]
        ) { rows in
            rows.all.compactMap { PushStatus($0, from: 1, app: names[Int($0.integer(at: 0)) - 1]) }
        }
    }

    // A row is found by the key's identifier and fingerprint, both in `key_id`: relays of an earlier version, which use
    // rows with the identifier alone, continue to share tokens with each other during an upgrade.

    package func sharedToken(of key: SharedToken.Key) async throws(OutboxError) -> SharedToken? {
        try await inquire(
            .watching,
            "SELECT token, issued_at FROM martlet.provider_token WHERE team_id = $1 AND key_id = $2",
            [.text(key.teamID), .text(key.name)]
        ) { $0.first.map { SharedToken(text: Array($0.text(at: 0).utf8), issuedAt: $0.integer(at: 1)) } }
    }

    package func share(
        _ token: SharedToken,
        of key: SharedToken.Key,
        inPlaceOf old: Int64?
    ) async throws(OutboxError) -> SharedToken {
        try await inquire(
            .watching,
            """
            INSERT INTO martlet.provider_token AS t VALUES ($1, $2, $3, $4) ON CONFLICT (team_id, key_id)
            DO UPDATE SET token = excluded.token, issued_at = excluded.issued_at WHERE t.issued_at = $5
            """,
            [
                .text(key.teamID), .text(key.name), .text(String(decoding: token.text, as: UTF8.self)),
                .integer(token.issuedAt), .integer(old),
            ]
        ) { _ in }
        return try await sharedToken(of: key) ?? token
    }
}

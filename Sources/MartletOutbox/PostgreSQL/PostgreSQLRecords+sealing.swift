// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL
internal import MartletTransport

/// The sealed data key of an outbox in PostgreSQL, and the sealing of the rows that were stored before.
extension PostgreSQLRecords {
    /// The number of rows that are read and changed at once.
    private static let batch = 2_000

    // MARK: Data key

    func sealedKey() async throws(OutboxError) -> SealedKey? {
        let sql = "SELECT id, number, bytes, is_complete FROM martlet.sealed_key"
        return try await connections.query(.watching, sql) { rows in rows.first.map { SealedKey($0) } }
    }

    func addSealedKey(_ key: SealedKey) async throws(OutboxError) -> SealedKey {
        try await connections.query(
            .maintaining,
            "SELECT martlet.add_sealed_key($1, $2, $3)",
            [.bytes(key.id), .integer(key.number), .bytes(key.bytes)]
        ) { _ in }
        return try await sealedKey() ?? key
    }

    func replaceSealedKey(_ old: SealedKey, with new: SealedKey) async throws(OutboxError) {
        try await connections.query(
            .watching,
            "UPDATE martlet.sealed_key SET number = $3, bytes = $4 WHERE id = $1 AND bytes = $2",
            [.bytes(old.id), .bytes(old.bytes), .integer(new.number), .bytes(new.bytes)]
        ) { _ in }
    }

    // MARK: Rows

    func sealRows(with seal: OutboxSeal) async throws(OutboxError) {
        // Another relay may seal the same rows, complete the key and change rows meanwhile. Therefore the updates of
        // rows that can get another value compare the plain one.
        try await sealPushes(with: seal)
        try await sealOutcomes(with: seal)
        try await sealRegisteredTokens(with: seal)
        try await sealUnregisteredTokens(with: seal)
        try await sealJobs(with: seal)
        try await sealSurfaces(with: seal)
        try await sealSessions(with: seal)
        try await connections.query(.watching, "UPDATE martlet.sealed_key SET is_complete = true") { _ in }
    }

    private func sealPushes(with seal: OutboxSeal) async throws(OutboxError) {
        // The columns of martlet.claim, of which the reader needs some.
        let sql = """
            SELECT p.number, 0, 0, 0, p.apns_id, false, p.token, p.channel, p.bundle_id, p.push_type, p.topic,
                p.priority, p.expiration, p.collapse_id, p.trace_parent, p.order_key, p.expires_at, p.accepted_at,
                p.payload, p.checksum, false, NULL::text, CASE WHEN p.is_to_user THEN p.user_id END, false, p.job,
                p.session, a.name, p.is_production, p.fingerprint
            FROM martlet.push p JOIN martlet.app a ON a.number = p.app
            WHERE p.number > $1 ORDER BY p.number LIMIT \(Self.batch)
            """
        var last = Int64.min
        while true {
            let batch = try await connections.query(.maintaining, sql, [.integer(last)]) { rows in
                rows.all.map { PlainPush($0) }
            }
            guard let end = batch.last else { return }
            var numbers: [Int64] = []
            var pushes: [OutboxPush] = []
            var checksums: [Int64?] = []
            var fingerprints: [[UInt8]?] = []
            for row in batch {
                let sealed = try OutboxError.mapping { () throws(CryptographyError) in
                    try seal.sealedForm(ofStored: row.push, fingerprint: row.fingerprint, checksum: row.checksum)
                }
                guard let sealed else { continue }
                numbers.append(row.number)
                pushes.append(sealed.push)
                checksums.append(sealed.checksum)
                fingerprints.append(sealed.fingerprint)
            }
            let parameters: [Parameter] = [
                .integers(numbers), .texts(pushes.map(\.destination.columns.token)), .texts(pushes.map(\.orderKey)),
                .byteLists(pushes.map(\.payload)), .integers(checksums), .byteLists(fingerprints),
            ]
            try await connections.query(
                .maintaining,
                "SELECT martlet.seal_pushes(\(Parameter.places(6)))",
                parameters
            ) { _ in }
            last = end.number
        }
    }

    private func sealOutcomes(with seal: OutboxSeal) async throws(OutboxError) {
        let sql = """
            SELECT o.apns_id, o.app, o.fingerprint FROM martlet.outcome o
            WHERE (o.apns_id, o.app) > ($1, $2) ORDER BY o.apns_id, o.app LIMIT \(Self.batch)
            """
        var last: (id: [UInt8], app: Int64) = ([UInt8](repeating: 0, count: 16), .min)
        while true {
            let parameters: [Parameter] = [.identifier(last.id), .integer(last.app)]
            let batch = try await connections.query(.maintaining, sql, parameters) { rows in
                rows.all.map { (id: $0.bytes(at: 0), app: $0.integer(at: 1), fingerprint: $0.optionalBytes(at: 2)) }
            }
            guard let end = batch.last else { return }
            var plain: [(id: [UInt8], app: Int64, fingerprint: [UInt8])] = []
            var sealed: [[UInt8]] = []
            for row in batch {
                guard let fingerprint = row.fingerprint else { continue }
                let form = try OutboxError.mapping { () throws(CryptographyError) in
                    try seal.sealedForm(ofStored: fingerprint)
                }
                guard let form else { continue }
                plain.append((row.id, row.app, fingerprint))
                sealed.append(form)
            }
            try await connections.query(
                .maintaining,
                """
                UPDATE martlet.outcome o SET fingerprint = u.sealed
                FROM unnest($1, $2, $3, $4) AS u (id, app, fingerprint, sealed)
                WHERE o.apns_id = u.id AND o.app = u.app AND o.fingerprint = u.fingerprint
                """,
                [
                    .identifiers(plain.map(\.id)), .integers(plain.map(\.app)),
                    .byteLists(plain.map(\.fingerprint)), .byteLists(sealed),
                ]
            ) { _ in }
            last = (end.id, end.app)
        }
    }

    private func sealRegisteredTokens(with seal: OutboxSeal) async throws(OutboxError) {
        let sql = """
            SELECT t.installation, t.kind, t.name, t.token, a.name FROM martlet.installation_token t
            JOIN martlet.installation i ON i.number = t.installation JOIN martlet.app a ON a.number = i.app
            WHERE (t.installation, t.kind, t.name) > ($1, $2, $3) ORDER BY t.installation, t.kind, t.name
            LIMIT \(Self.batch)
            """
        var last = PlainToken(number: .min)
        while true {
            let parameters: [Parameter] = [.integer(last.number), .text(last.kind), .text(last.name)]
            let batch = try await connections.query(.maintaining, sql, parameters) { rows in
                rows.all.map { PlainToken($0) }
            }
            guard let end = batch.last else { return }
            let sealed = try PlainToken.sealed(batch, with: seal)
            try await connections.query(
                .maintaining,
                """
                UPDATE martlet.installation_token t SET token = u.sealed
                FROM unnest($1, $2, $3, $4, $5) AS u (installation, kind, name, token, sealed)
                WHERE t.installation = u.installation AND t.kind = u.kind AND t.name = u.name AND t.token = u.token
                """,
                [
                    .integers(sealed.map(\.row.number)), .texts(sealed.map(\.row.kind)),
                    .texts(sealed.map(\.row.name)), .texts(sealed.map(\.row.token)), .texts(sealed.map(\.form)),
                ]
            ) { _ in }
            last = end
        }
    }

    private func sealUnregisteredTokens(with seal: OutboxSeal) async throws(OutboxError) {
        let sql = """
            SELECT t.cursor, '', '', t.token, a.name FROM martlet.unregistered_token t
            JOIN martlet.app a ON a.number = t.app WHERE t.cursor > $1 ORDER BY t.cursor LIMIT \(Self.batch)
            """
        var last = Int64.min
        while true {
            let batch = try await connections.query(.maintaining, sql, [.integer(last)]) { rows in
                rows.all.map { PlainToken($0) }
            }
            guard let end = batch.last else { return }
            let sealed = try PlainToken.sealed(batch, with: seal)
            try await connections.query(
                .maintaining,
                """
                UPDATE martlet.unregistered_token t SET token = u.token FROM unnest($1, $2) AS u (cursor, token)
                WHERE t.cursor = u.cursor
                """,
                [.integers(sealed.map(\.row.number)), .texts(sealed.map(\.form))]
            ) { _ in }
            last = end.number
        }
    }

    private func sealJobs(with seal: OutboxSeal) async throws(OutboxError) {
        let sql = """
            SELECT j.number, a.name, j.id, j.fingerprint, j.request FROM martlet.job j
            JOIN martlet.app a ON a.number = j.app WHERE j.number > $1 ORDER BY j.number LIMIT 1
            """
        var last = Int64.min
        while true {
            let row = try await connections.query(.maintaining, sql, [.integer(last)]) { rows in
                rows.first.map { (number: $0.integer(at: 0), job: Job($0)) }
            }
            guard let row else { return }
            last = row.number
            guard let job = row.job, seal.open(job) == nil else { continue }
            let sealed = try OutboxError.mapping { () throws(CryptographyError) in try seal.seal(job) }
            try await connections.query(
                .maintaining,
                "UPDATE martlet.job SET fingerprint = $2, request = $3 WHERE number = $1",
                [.integer(row.number), .bytes(sealed.fingerprint), .bytes(sealed.request)]
            ) { _ in }
        }
    }

    private func sealSurfaces(with seal: OutboxSeal) async throws(OutboxError) {
        let sql = "\(PostgreSQLSurfaces.selection) WHERE number > $1 ORDER BY number LIMIT \(Self.batch)"
        var last = Int64.min
        while true {
            let batch = try await connections.query(.maintaining, sql, [.integer(last)]) { rows in
                rows.all.map { StoredSurface($0, app: $0.text(at: 15)) }
            }
            guard let end = batch.last else { return }
            var plain: [StoredSurface] = []
            var sealed: [Surface] = []
            for stored in batch where seal.open(stored.surface) == nil {
                plain.append(stored)
                let form = try OutboxError.mapping { () throws(CryptographyError) in try seal.seal(stored.surface) }
                sealed.append(form)
            }
            try await connections.query(
                .maintaining,
                """
                UPDATE martlet.surface s SET request = u.sealed, fingerprint = u.fingerprint
                FROM unnest($1, $2, $3, $4) AS u (number, request, sealed, fingerprint)
                WHERE s.number = u.number AND s.request = u.request
                """,
                [
                    .integers(plain.map(\.number)), .byteLists(plain.map(\.surface.request)),
                    .byteLists(sealed.map(\.request)), .byteLists(sealed.map(\.fingerprint)),
                ]
            ) { _ in }
            last = end.number
        }
    }

    private func sealSessions(with seal: OutboxSeal) async throws(OutboxError) {
        let sql = """
            SELECT o.number, o.state, a.name, s.id, i.id FROM martlet.surface_session o
            JOIN martlet.surface s ON s.number = o.surface JOIN martlet.app a ON a.number = s.app
            JOIN martlet.installation i ON i.number = o.installation
            WHERE o.number > $1 ORDER BY o.number LIMIT \(Self.batch)
            """
        var last = Int64.min
        while true {
            let batch = try await connections.query(.maintaining, sql, [.integer(last)]) { rows in
                rows.all.map { (number: $0.integer(at: 0), state: $0.bytes(at: 1), place: SessionPlace($0)) }
            }
            guard let end = batch.last else { return }
            var plain: [(number: Int64, state: [UInt8])] = []
            var sealed: [[UInt8]] = []
            for row in batch {
                guard let place = row.place, seal.open(state: row.state, of: place) == nil else { continue }
                plain.append((row.number, row.state))
                let form = try OutboxError.mapping { () throws(CryptographyError) in
                    try seal.seal(state: row.state, of: place)
                }
                sealed.append(form)
            }
            try await connections.query(
                .maintaining,
                """
                UPDATE martlet.surface_session o SET state = u.sealed
                FROM unnest($1, $2, $3) AS u (number, state, sealed) WHERE o.number = u.number AND o.state = u.state
                """,
                [.integers(plain.map(\.number)), .byteLists(plain.map(\.state)), .byteLists(sealed)]
            ) { _ in }
            last = end.number
        }
    }
}

/// A push as it is stored, with its hashes.
private struct PlainPush: Sendable {
    var number: Int64
    var push: OutboxPush
    var fingerprint: [UInt8]?
    var checksum: Int64?

    /// Reads the columns of `martlet.claim`, followed by the name of the app, the environment and the fingerprint.
    init(_ row: Row) {
        let lane = Lane(app: row.text(at: 26), environment: PushEnvironment(isProduction: row.flag(at: 27)))
        let claimed = ClaimedPush(row, lane: lane, isChecked: true)
        number = claimed.number
        push = claimed.push
        fingerprint = row.optionalBytes(at: 28)
        checksum = row.optionalInteger(at: 19)
    }
}

/// A token as it is stored: that of an installation, or an unregistered one with its cursor.
private struct PlainToken: Sendable {
    var number: Int64
    var kind = ""
    var name = ""
    var token = ""
    var app = ""

    init(number: Int64) {
        self.number = number
    }

    init(_ row: Row) {
        number = row.integer(at: 0)
        kind = row.text(at: 1)
        name = row.text(at: 2)
        token = row.text(at: 3)
        app = row.text(at: 4)
    }

    /// Returns the rows that are not sealed, with the sealed forms of their tokens.
    static func sealed(
        _ rows: [PlainToken],
        with seal: OutboxSeal
    ) throws(OutboxError) -> [(row: PlainToken, form: String)] {
        var sealed: [(row: PlainToken, form: String)] = []
        for row in rows {
            let form = try OutboxError.mapping { () throws(CryptographyError) in
                try seal.sealedForm(ofStored: row.token, of: row.app)
            }
            if let form { sealed.append((row, form)) }
        }
        return sealed
    }
}

extension Job {
    /// Reads the columns that are sealed, and those that they belong to, from the second one.
    fileprivate init?(_ row: Row) {
        guard let id = APNsID(bytes: row.bytes(at: 2)) else { return nil }
        self.init(
            app: row.text(at: 1),
            id: id,
            caller: "",
            fingerprint: row.bytes(at: 3),
            request: row.bytes(at: 4),
            audience: ""
        )
    }
}

extension SessionPlace {
    /// Reads three columns from the third one: app, surface and installation.
    fileprivate init?(_ row: Row) {
        guard let installation = InstallationID(bytes: row.bytes(at: 4)) else { return nil }
        self.init(app: row.text(at: 2), surface: row.text(at: 3), installation: installation)
    }
}

extension SealedKey {
    /// Reads four columns: identifier, number, bytes and whether it is complete.
    fileprivate init(_ row: Row) {
        self.init(
            id: row.bytes(at: 0),
            number: row.integer(at: 1),
            bytes: row.bytes(at: 2),
            isComplete: row.flag(at: 3)
        )
    }
}

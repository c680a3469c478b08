// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL

/// The installations and tickets of an outbox in PostgreSQL.
struct PostgreSQLInstallations: InstallationStore {
    /// The number of expired tickets that are deleted when one is added.
    private static let expiredTickets: Int64 = 10

    let connections: DatabaseConnections
    let apps: AppNumbers

    // MARK: Tickets

    func add(_ ticket: EnrollmentTicket, at now: Int64) async throws(OutboxError) {
        let app = try await apps.number(of: ticket.app)
        try await connections.query(
            .enrolling,
            """
            WITH expired AS (
                DELETE FROM martlet.ticket WHERE hash IN (
                    SELECT hash FROM martlet.ticket WHERE expires_at <= $7 LIMIT $8 FOR UPDATE SKIP LOCKED
                )
            )
            INSERT INTO martlet.ticket (hash, app, user_id, tags, is_single_use, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .bytes(ticket.hash), .integer(app), .text(ticket.user), .text(InstallationRow.text(ticket.tags)),
                .flag(ticket.isSingleUse), .integer(ticket.expiresAt), .integer(now), .integer(Self.expiredTickets),
            ]
        ) { _ in }
    }

    func ticket(_ hash: [UInt8], at now: Int64) async throws(OutboxError) -> EnrollmentTicket? {
        try await connections.query(
            .enrolling,
            """
            SELECT a.name, t.user_id, t.tags, t.is_single_use, t.expires_at
            FROM martlet.ticket t JOIN martlet.app a ON a.number = t.app WHERE t.hash = $1 AND t.expires_at > $2
            """,
            [.bytes(hash), .integer(now)]
        ) { rows in
            rows.first.map { row in
                EnrollmentTicket(
                    hash: hash,
                    app: row.text(at: 0),
                    user: row.text(at: 1),
                    tags: InstallationRow.tags(row.text(at: 2)),
                    isSingleUse: row.flag(at: 3),
                    expiresAt: row.integer(at: 4)
                )
            }
        }
    }

    // MARK: Changes

    func enroll(_ enrollment: Enrollment, at now: Int64) async throws(OutboxError) -> Bool {
        try await enroll(
            enrollment.installation,
            secret: enrollment.secretHash,
            ticket: enrollment.ticketHash,
            replaced: enrollment.replacedSecretHash,
            at: now
        )
    }

    /// Stores an installation that is moved from a file, unless it has been moved before; it may be removed since.
    func adopt(_ installation: Installation, secret: [UInt8]?) async throws(OutboxError) {
        _ = try await enroll(installation, secret: secret, ticket: nil, replaced: nil, at: 0)
    }

    private func enroll(
        _ new: Installation,
        secret: [UInt8]?,
        ticket: [UInt8]?,
        replaced: [UInt8]?,
        at now: Int64
    ) async throws(OutboxError) -> Bool {
        let app = try await apps.number(of: new.app)
        let difference = InstallationDifference(from: nil, to: new)
        let content: [Parameter] = [
            .bytes(ticket), .integer(now), .integer(app), .identifier(new.id.bytes), .text(new.user),
            .flag(new.environment.isProduction), .text(new.bundleID), .bytes(secret), .bytes(replaced),
            .texts(new.attributeColumns), .integers(new.permissionColumns), .integer(new.createdAt),
            .integer(new.changedAt), .integer(new.seenAt),
        ]
        let rest: [Parameter] = [
            difference.activityParameter, .texts(difference.tags ?? []), .integer(Int64(Installation.limitPerUser)),
        ]
        return try await connections.query(
            .enrolling,
            "SELECT martlet.enroll(\(Parameter.places(21)))",
            content + difference.tokenParameters + rest
        ) { $0.first?.flag(at: 0) ?? false }
    }

    func importPage(
        _ page: [Installation],
        of app: String,
        at now: Int64
    ) async throws(OutboxError) -> [ImportResult] {
        guard !page.isEmpty else { return [] }
        let number = try await apps.number(of: app)
        let (attributes, permissions) = (page.map(\.attributeColumns), page.map(\.permissionColumns))
        let content: [Parameter] = [
            .integer(number), .integer(Int64(Installation.limitPerUser)), .integer(now),
            .identifiers(page.map(\.id.bytes)), .texts(page.map(\.user)),
            .flags(page.map(\.environment.isProduction)), .texts(page.map(\.bundleID)),
        ]
        let texts = Installation.Attribute.allCases.indices.map { column in
            Parameter.texts(attributes.map { $0[column] })
        }
        let flags = Installation.Permission.allCases.indices.map { column in
            Parameter.integers(permissions.map { $0[column] })
        }
        let rest: [Parameter] = [
            .texts(page.map { $0.tags.sorted().joined(separator: "\u{1F}") }),
            .texts(page.map { InstallationRow.text(of: $0.activities) }),
        ]
        let parameters = content + texts + flags + rest + Self.tokenParameters(of: page)
        return try await connections.query(
            .enrolling,
            "SELECT result FROM martlet.import_installations(\(Parameter.places(21))) AS r (result)",
            parameters
        ) { rows in rows.all.compactMap { ImportResult(rawValue: $0.text(at: 0)) } }
    }

    /// Returns the tokens of a page as four parameters: the numbers of their installations from 1, kinds, names and
    /// tokens.
    private static func tokenParameters(of page: [Installation]) -> [Parameter] {
        var lines: [Int64] = []
        var slots: [Installation.TokenSlot] = []
        var tokens: [String] = []
        for (index, installation) in page.enumerated() {
            for (slot, registered) in installation.tokens {
                lines.append(Int64(index + 1))
                slots.append(slot)
                tokens.append(registered.token.hex)
            }
        }
        return [.integers(lines), .texts(slots.map(\.kind.rawValue)), .texts(slots.map(\.name)), .texts(tokens)]
    }

    func replace(_ stored: StoredInstallation, with new: Installation) async throws(OutboxError) -> Bool {
        let app = try await apps.number(of: new.app)
        let difference = InstallationDifference(from: stored.installation, to: new)
        let removed = Array(difference.removed)
        // Without a change of tags, null takes the place of the list.
        let tags = difference.tags == nil ? "NULL" : "$17"
        let content: [Parameter] = [
            .integer(stored.number), .integer(stored.revision), .integer(app), .flag(new.environment.isProduction),
            .text(new.bundleID), .texts(new.attributeColumns), .integers(new.permissionColumns),
            .integer(new.changedAt), .integer(new.seenAt), .texts(removed.map(\.kind.rawValue)),
            .texts(removed.map(\.name)),
        ]
        let rest: [Parameter] = [difference.activityParameter] + (difference.tags.map { [Parameter.texts($0)] } ?? [])
        return try await connections.query(
            .enrolling,
            "SELECT martlet.replace_installation(\(Parameter.places(16)), \(tags))",
            content + difference.tokenParameters + rest
        ) { $0.first?.flag(at: 0) ?? false }
    }

    func remove(_ id: InstallationID, of app: String) async throws(OutboxError) -> Bool {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .enrolling,
            "SELECT martlet.remove_installation($1, $2)",
            [.integer(number), .identifier(id.bytes)]
        ) { $0.first?.flag(at: 0) ?? false }
    }

    func removeUser(_ user: String, of app: String) async throws(OutboxError) -> Int {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .enrolling,
            "SELECT martlet.remove_user($1, $2)",
            [.integer(number), .text(user)]
        ) { Int($0.first?.integer(at: 0) ?? 0) }
    }

    // MARK: Reading

    func installation(_ id: InstallationID, of app: String) async throws(OutboxError) -> StoredInstallation? {
        let number = try await apps.number(of: app)
        return try await all("c.id = $1 AND c.app = $2", [.identifier(id.bytes), .integer(number)]).first
    }

    func installation(withSecret hash: [UInt8]) async throws(OutboxError) -> StoredInstallation? {
        try await all("c.secret_hash = $1", [.bytes(hash)]).first
    }

    func installations(
        of app: String,
        _ selection: InstallationSelection,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [StoredInstallation] {
        let number = try await apps.number(of: app)
        let page: [Parameter] = [.integer(number), .integer(cursor), .integer(Int64(limit))]
        switch selection {
        case .all: return try await all("c.app = $1 AND c.number > $2 ORDER BY c.number LIMIT $3", page)
        case .user(let user):
            let condition = "c.app = $1 AND c.user_id = $4 AND c.number > $2 ORDER BY c.number LIMIT $3"
            return try await all(condition, page + [.text(user)])
        case .tag(let tag):
            let condition = """
                c.number IN (
                    SELECT g.installation FROM martlet.installation_tag g
                    WHERE g.app = $1 AND g.tag = $4 AND g.installation > $2 ORDER BY g.installation LIMIT $3
                ) ORDER BY c.number
                """
            return try await all(condition, page + [.text(tag)])
        }
    }

    func members(of queries: [AudienceQuery], in app: String) async throws(OutboxError) -> [[AudienceMember]] {
        let number = try await apps.number(of: app)
        let places = queries.enumerated().flatMap { place, query in
            query.rows.map { (place: Int64(place), user: $0.user, id: $0.id, slot: query.slot) }
        }
        // On the connection of the pushes, so that requests of phones do not delay them.
        return try await connections.query(
            .accepting,
            """
            SELECT \(Self.memberColumns(ofSlot: "u.kind", "u.name")), u.place
            FROM unnest($2, $3, $4, $5, $6) AS u (place, user_id, id, kind, name)
            CROSS JOIN LATERAL (
                SELECT o.* FROM martlet.installation o WHERE o.app = $1 AND o.user_id = u.user_id
                UNION ALL
                SELECT o.* FROM martlet.installation o WHERE o.app = $1 AND o.id = u.id::uuid
            ) i
            ORDER BY u.place, i.number
            """,
            [
                .integer(number), .integers(places.map(\.place)), .texts(places.map(\.user)),
                .texts(places.map(\.id)), .texts(places.map(\.slot.kind.rawValue)), .texts(places.map(\.slot.name)),
            ]
        ) { rows in
            var found = [[AudienceMember]](repeating: [], count: queries.count)
            for row in rows.all {
                let place = Int(row.integer(at: 13))
                if let member = AudienceMember(row), found.indices.contains(place) { found[place].append(member) }
            }
            return found
        }
    }

    /// Returns the columns of the installation `i` as a member of an audience.
    ///
    /// - Parameters:
    ///   - kind: The SQL expression for the kind of the token.
    ///   - name: The SQL expression for the name of the token.
    /// - Returns: The columns.
    private static func memberColumns(ofSlot kind: String, _ name: String) -> String {
        """
        i.id, i.user_id, i.is_production, i.bundle_id, i.alerts, i.live_activities, i.frequent_updates, (
            SELECT t.token FROM martlet.installation_token t
            WHERE t.installation = i.number AND t.kind = \(kind) AND t.name = \(name)
        ), i.locale, i.time_zone, i.app_version, i.system_version, i.number
        """
    }

    /// The installations `i` of an app in their order.
    private static let installationsOfApp =
        "martlet.installation i WHERE i.app = $1 AND i.number > $5 AND i.number <= $6 ORDER BY i.number"

    /// The installations `i` with the rarest of the tags in parameter 8, in their order.
    ///
    /// The rarest tag is the one whose next page of installations ends last. The lateral subquery with a limit makes
    /// PostgreSQL look the installations up one by one; a join would read all up to the last one of the page.
    private static let installationsOfTag = """
        (
            SELECT d.installation FROM martlet.installation_tag d
            WHERE d.app = $1 AND d.installation > $5 AND d.installation <= $6 AND d.tag = (
                SELECT r.tag FROM unnest($8) AS r (tag) ORDER BY (
                    SELECT g.installation FROM martlet.installation_tag g
                    WHERE g.app = $1 AND g.tag = r.tag AND g.installation > $5
                    ORDER BY g.installation LIMIT 1 OFFSET $7 - 1
                ) DESC NULLS FIRST LIMIT 1
            ) ORDER BY d.installation LIMIT $7
        ) p
        CROSS JOIN LATERAL (SELECT * FROM martlet.installation c WHERE c.number = p.installation LIMIT 1) i
        ORDER BY p.installation
        """

    func audiencePage(of scan: AudienceScan, limit: Int) async throws(OutboxError) -> AudiencePage {
        let number = try await apps.number(of: scan.app)
        let required = scan.expression.requiredTags.sorted()
        let parameters: [Parameter] = [
            .integer(number), .text(scan.slot.kind.rawValue), .text(scan.slot.name), .texts(scan.lookedUpTags),
            .integer(scan.cursor), .integer(scan.highMark), .integer(Int64(limit)),
        ]
        return try await connections.query(
            .enrolling,
            """
            SELECT \(Self.memberColumns(ofSlot: "$2", "$3")), (
                SELECT json_agg(g.tag) FROM martlet.installation_tag g
                WHERE g.app = $1 AND g.installation = i.number AND g.tag = ANY ($4)
            )
            FROM \(required.isEmpty ? Self.installationsOfApp : Self.installationsOfTag) LIMIT $7
            """,
            required.isEmpty ? parameters : parameters + [.texts(required)]
        ) { rows in
            var page = AudiencePage()
            let known = scan.knownTags
            for row in rows.all { page.examine(row, of: scan, knownTags: known, limit: limit) }
            return page
        }
    }

    /// The columns of an installation, in the order in which ``StoredInstallation/init(_:app:)`` reads them.
    ///
    /// The name of the table is `c`, and the fourth column is the name of the app.
    static let selection = """
        SELECT c.number, c.revision, c.id, a.name, c.user_id, c.is_production, c.bundle_id, c.created_at, c.changed_at,
            c.seen_at, c.locale, c.time_zone, c.app_version, c.system_version, c.model, c.alerts, c.live_activities,
            c.frequent_updates, c.tokens, c.tags, c.activities
        FROM martlet.installation_content c JOIN martlet.app a ON a.number = c.app
        """

    private func all(_ condition: String, _ parameters: [Parameter]) async throws(OutboxError) -> [StoredInstallation] {
        try await connections.query(
            .enrolling,
            "\(Self.selection) WHERE \(condition)",
            parameters
        ) { rows in rows.all.compactMap { StoredInstallation($0, app: $0.text(at: 3)) } }
    }
}

extension InstallationDifference {
    /// The registered tokens as four parameters: kinds, names, tokens and times.
    fileprivate var tokenParameters: [Parameter] {
        let (slots, tokens) = (Array(registered.keys), Array(registered.values))
        return [
            .texts(slots.map(\.kind.rawValue)), .texts(slots.map(\.name)), .texts(tokens.map(\.token.hex)),
            .integers(tokens.map(\.registeredAt)),
        ]
    }

    /// The activities as a JSON array; null if they are the same.
    fileprivate var activityParameter: Parameter { .text(activities.map { InstallationRow.text(of: $0) }) }
}

extension AudienceQuery {
    /// The users, each once, or the identifier of the installation.
    fileprivate var rows: [(user: String?, id: String?)] {
        switch audience {
        case .users(let users):
            // By their bytes: Swift takes some users for equal that are not.
            var known: Set<[UInt8]> = []
            return users.filter { known.insert(Array($0.utf8)).inserted }.map { ($0, nil) }
        case .installation(let id): return [(nil, id.description)]
        }
    }
}

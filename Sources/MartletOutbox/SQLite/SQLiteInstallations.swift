// SPDX-License-Identifier: Apache-2.0

internal import MartletSQLite

/// The installations and tickets of an outbox in a SQLite file.
struct SQLiteInstallations: InstallationStore {
    /// The number of expired tickets that are deleted when one is added.
    private static let expiredTickets: Int64 = 10

    /// The outbox, whose transactions run the statements.
    let outbox: SQLiteOutbox

    // MARK: Tickets

    func add(_ ticket: EnrollmentTicket, at now: Int64) async throws(OutboxError) {
        try await outbox.change { (tables) throws(SQLiteError) in
            let app = try tables.database.number(of: ticket.app)
            try tables.database.connection.prepare(
                "DELETE FROM ticket WHERE hash IN (SELECT hash FROM ticket WHERE expires_at <= ? LIMIT ?)"
            ).run(with: now, Self.expiredTickets)
            try tables.database.connection.prepare(
                "INSERT INTO ticket (hash, app, user_id, tags, is_single_use, expires_at) VALUES (?, ?, ?, ?, ?, ?)"
            ).run(
                with: ticket.hash,
                app,
                ticket.user,
                InstallationRow.text(ticket.tags),
                Int64(ticket.isSingleUse ? 1 : 0),
                ticket.expiresAt
            )
        }
    }

    func ticket(_ hash: [UInt8], at now: Int64) async throws(OutboxError) -> EnrollmentTicket? {
        try await outbox.read { (tables) throws(SQLiteError) in
            let row = try tables.database.connection.prepare(
                "SELECT app, user_id, tags, is_single_use, expires_at FROM ticket WHERE hash = ? AND expires_at > ?"
            )
            try row.bind(hash, now)
            guard try row.step() else { return nil }
            return EnrollmentTicket(
                hash: hash,
                app: tables.database.name(of: row.integer(at: 0)),
                user: row.text(at: 1),
                tags: InstallationRow.tags(row.text(at: 2)),
                isSingleUse: row.integer(at: 3) != 0,
                expiresAt: row.integer(at: 4)
            )
        }
    }

    // MARK: Changes

    func enroll(_ enrollment: Enrollment, at now: Int64) async throws(OutboxError) -> Bool {
        try await outbox.change { (tables) throws(SQLiteError) in
            let (new, table) = (enrollment.installation, InstallationTable(tables.database))
            let app = try tables.database.number(of: new.app)
            guard try table.use(enrollment.ticketHash, app, new.user, at: now) else { return false }
            if let replaced = enrollment.replacedSecretHash { try table.remove(withSecret: replaced, app) }
            let insertion = try tables.database.connection.prepare(InstallationTable.insertion)
            let number = try table.insert(new, app, secret: enrollment.secretHash, with: insertion)
            try table.store(InstallationDifference(from: nil, to: new), of: number, app)
            try table.removeLeastRecent(of: new.user, app, besides: number)
            return true
        }
    }

    func importPage(
        _ page: [Installation],
        of app: String,
        at now: Int64
    ) async throws(OutboxError) -> [ImportResult] {
        guard !page.isEmpty else { return [] }
        return try await outbox.change { (tables) throws(SQLiteError) in
            try InstallationImport(tables.database, of: app, at: now).store(page)
        }
    }

    func replace(_ stored: StoredInstallation, with new: Installation) async throws(OutboxError) -> Bool {
        try await outbox.change { (tables) throws(SQLiteError) in
            let app = try tables.database.number(of: new.app)
            let table = InstallationTable(tables.database)
            let update = try tables.database.connection.prepare(InstallationTable.contentUpdate)
            guard try table.update(stored, to: new, with: update) else { return false }
            try table.store(InstallationDifference(from: stored.installation, to: new), of: stored.number, app)
            return true
        }
    }

    func remove(_ id: InstallationID, of app: String) async throws(OutboxError) -> Bool {
        try await outbox.change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return false }
            try tables.database.connection.prepare("DELETE FROM installation WHERE id = ? AND app = ?")
                .run(with: id.bytes, app)
            return tables.database.connection.changes > 0
        }
    }

    func removeUser(_ user: String, of app: String) async throws(OutboxError) -> Int {
        try await outbox.change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return 0 }
            for table in ["alert_day", "ticket", "installation"] {
                try tables.database.connection.prepare("DELETE FROM \(table) WHERE app = ? AND user_id = ?")
                    .run(with: app, user)
            }
            return tables.database.connection.changes
        }
    }

    // MARK: Reading

    func installation(_ id: InstallationID, of app: String) async throws(OutboxError) -> StoredInstallation? {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return nil }
            return try InstallationTable(tables.database).all("id = ? AND app = ?", id.bytes, app).first
        }
    }

    func installation(withSecret hash: [UInt8]) async throws(OutboxError) -> StoredInstallation? {
        try await outbox.read { (tables) throws(SQLiteError) in
            try InstallationTable(tables.database).all("secret_hash = ?", hash).first
        }
    }

    func installations(
        of app: String,
        _ selection: InstallationSelection,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [StoredInstallation] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return [] }
            let (table, limit) = (InstallationTable(tables.database), Int64(limit))
            switch selection {
            case .all: return try table.all("app = ? AND number > ? ORDER BY number LIMIT ?", app, cursor, limit)
            case .user(let user):
                let condition = "app = ? AND user_id = ? AND number > ? ORDER BY number LIMIT ?"
                return try table.all(condition, app, user, cursor, limit)
            case .tag(let tag):
                let condition = """
                    number IN (
                        SELECT installation FROM installation_tag WHERE app = ? AND tag = ? AND installation > ?
                        ORDER BY installation LIMIT ?
                    ) ORDER BY number
                    """
                return try table.all(condition, app, tag, cursor, limit)
            }
        }
    }

    func members(of queries: [AudienceQuery], in app: String) async throws(OutboxError) -> [[AudienceMember]] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return queries.map { _ in [] } }
            return try InstallationTable(tables.database).members(of: queries, app)
        }
    }

    func audiencePage(of scan: AudienceScan, limit: Int) async throws(OutboxError) -> AudiencePage {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: scan.app) else { return AudiencePage() }
            return try InstallationTable(tables.database).page(of: scan, app, limit: limit)
        }
    }
}

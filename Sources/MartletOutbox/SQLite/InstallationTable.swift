// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The rows of installations, with their tokens, tags and activities.
struct InstallationTable {
    /// The columns of an installation, in the order in which ``installation(_:)`` reads them.
    static let columns = """
        number, revision, id, app, user_id, environment, bundle_id, created_at, changed_at, seen_at,
        \(InstallationRow.attributes), \(InstallationRow.permissions),
        (
            SELECT json_group_array(json_array(kind, name, token, registered_at))
            FROM installation_token WHERE installation = number
        ),
        (SELECT json_group_array(tag) FROM installation_tag WHERE installation = number),
        (
            SELECT json_group_array(json_array(\(InstallationRow.activityColumns)))
            FROM installation_activity a WHERE a.installation = number
        )
        """

    static let insertion = """
        INSERT INTO installation (
            app, id, user_id, environment, bundle_id, secret_hash, created_at, changed_at, seen_at, revision,
            \(InstallationRow.attributes), \(InstallationRow.permissions)
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    static let contentUpdate = """
        UPDATE installation SET environment = ?, bundle_id = ?, changed_at = ?, seen_at = ?,
            revision = revision + 1,
            (\(InstallationRow.attributes), \(InstallationRow.permissions)) = (?, ?, ?, ?, ?, ?, ?, ?)
        WHERE number = ? AND revision = ?
        """
    static let tokenRemoval = "DELETE FROM installation_token WHERE installation = ? AND kind = ? AND name = ?"
    /// Takes a token from the other installations of an app, and returns their numbers.
    ///
    /// Correlated: SQLite would list all installations of the app for a subquery on the right of IN.
    static let tokenTransfer = """
        DELETE FROM installation_token WHERE token = ? AND installation <> ? AND EXISTS (
            SELECT 1 FROM installation i WHERE i.number = installation_token.installation AND i.app = ?
        ) RETURNING installation
        """
    static let tokenInsertion = """
        INSERT OR REPLACE INTO installation_token (installation, kind, name, token, registered_at, last_push)
        VALUES (?, ?, ?, ?, ?, ?)
        """
    static let tagRemoval = "DELETE FROM installation_tag WHERE installation = ?"
    static let tagInsertion = "INSERT INTO installation_tag (app, tag, installation) VALUES (?, ?, ?)"
    private static let activityRemoval = "DELETE FROM installation_activity WHERE installation = ?"
    /// Inserts the activities of a JSON array, the second parameter.
    private static let activityInsertion = """
        INSERT INTO installation_activity (installation, \(InstallationRow.activityColumns))
        SELECT ?, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
            json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]')
        FROM json_each(?)
        """
    /// Removes an installation that was imported and has no token left: no app has a secret to report another token.
    static let emptiedImportRemoval = """
        DELETE FROM installation WHERE number = ? AND secret_hash IS NULL
            AND NOT EXISTS (SELECT 1 FROM installation_token t WHERE t.installation = installation.number)
        """

    private let database: OutboxDatabase

    init(_ database: OutboxDatabase) {
        self.database = database
    }

    // MARK: Reading

    /// Returns the installations that a condition selects.
    func all<each Value: Bindable>(
        _ condition: String,
        _ values: repeat each Value
    ) throws(SQLiteError) -> [StoredInstallation] {
        let rows = try database.connection.prepare("SELECT \(Self.columns) FROM installation WHERE \(condition)")
        try rows.bind(repeat each values)
        return try rows.all { installation($0) }
    }

    /// Returns the installation of a row with ``columns``.
    func installation(_ row: borrowing Statement) -> StoredInstallation? {
        StoredInstallation(row, app: database.name(of: row.integer(at: 3)))
    }

    /// The columns of a member of an audience; the first two parameters are the kind and the name of a token.
    private static let memberColumns = """
        id, user_id, environment, bundle_id, \(InstallationRow.permissions), (
            SELECT token FROM installation_token WHERE installation = number AND kind = ? AND name = ?
        ), locale, time_zone, app_version, system_version, number
        """

    /// Returns the installations of audiences, with their tokens of the slots.
    func members(of queries: [AudienceQuery], _ app: Int64) throws(SQLiteError) -> [[AudienceMember]] {
        let ofUsers = try selectMembers("user_id IN (SELECT value FROM json_each(?))")
        let withID = try selectMembers("id = ?")
        var found: [[AudienceMember]] = []
        for query in queries {
            switch query.audience {
            case .users(let users):
                found.append(try members(ofUsers, query.slot, app, InstallationRow.text(of: users)))
            case .installation(let id): found.append(try members(withID, query.slot, app, id.bytes))
            }
        }
        return found
    }

    /// Prepares the statement for the installations that a condition with one value selects.
    ///
    /// The unary plus keeps SQLite from reading all installations of the app in the order of their numbers.
    private func selectMembers(_ condition: String) throws(SQLiteError) -> Statement {
        try database.connection.prepare(
            "SELECT \(Self.memberColumns) FROM installation WHERE app = ? AND \(condition) ORDER BY +number"
        )
    }

    private func members(
        _ rows: borrowing Statement,
        _ slot: Installation.TokenSlot,
        _ app: Int64,
        _ value: some Bindable
    ) throws(SQLiteError) -> [AudienceMember] {
        try rows.bind(slot.kind.rawValue, slot.name, app, value)
        return try rows.all { AudienceMember($0) }
    }

    /// The installations `i` of an app in their order.
    private static let installationsOfApp =
        "installation i WHERE i.app = ?4 AND i.number > ?5 AND i.number <= ?6 ORDER BY i.number"

    /// The installations `i` with the rarest of the tags in parameter 8, in their order.
    ///
    /// The rarest tag is the one whose next page of installations ends last.
    private static let installationsOfTag = """
        installation_tag d JOIN installation i ON i.number = d.installation
        WHERE d.app = ?4 AND d.installation > ?5 AND d.installation <= ?6 AND d.tag = (
            SELECT value FROM json_each(?8) ORDER BY (
                SELECT installation FROM installation_tag WHERE app = ?4 AND tag = value AND installation > ?5
                ORDER BY installation LIMIT 1 OFFSET ?7 - 1
            ) DESC NULLS FIRST LIMIT 1
        ) ORDER BY d.installation
        """

    /// Returns a page of an audience.
    func page(of scan: AudienceScan, _ app: Int64, limit: Int) throws(SQLiteError) -> AudiencePage {
        let required = scan.expression.requiredTags
        let rows = try database.connection.prepare(
            """
            SELECT \(Self.memberColumns), (
                SELECT json_group_array(tag) FROM installation_tag
                WHERE app = ?4 AND installation = number AND tag IN (SELECT value FROM json_each(?3))
            )
            FROM \(required.isEmpty ? Self.installationsOfApp : Self.installationsOfTag) LIMIT ?7
            """
        )
        var position = 0
        for text in [scan.slot.kind.rawValue, scan.slot.name, InstallationRow.text(of: scan.lookedUpTags)] {
            try rows.bind(text, after: &position)
        }
        for number in [app, scan.cursor, scan.highMark, Int64(limit)] { try rows.bind(number, after: &position) }
        if !required.isEmpty { try rows.bind(InstallationRow.text(required), after: &position) }
        var page = AudiencePage()
        let known = scan.knownTags
        while try rows.step() { page.examine(rows, of: scan, knownTags: known, limit: limit) }
        return page
    }

    // MARK: Changes

    /// Uses a ticket; returns whether it is valid.
    func use(_ hash: [UInt8], _ app: Int64, _ user: String, at now: Int64) throws(SQLiteError) -> Bool {
        let row = try database.connection.prepare(
            "SELECT is_single_use FROM ticket WHERE hash = ? AND app = ? AND user_id = ? AND expires_at > ?"
        )
        try row.bind(hash, app, user, now)
        guard try row.step() else { return false }
        let isSingleUse = row.integer(at: 0) != 0
        row.reset()
        if isSingleUse { try database.connection.prepare("DELETE FROM ticket WHERE hash = ?").run(with: hash) }
        return true
    }

    /// Inserts an installation without tokens, tags and activities, and returns its number.
    ///
    /// - Parameters:
    ///   - new: The installation.
    ///   - app: The number of its app.
    ///   - secret: The hash of its secret; nil for one that is imported or moved without.
    ///   - row: The prepared ``insertion``.
    /// - Returns: The number.
    /// - Throws: ``SQLiteError``.
    func insert(
        _ new: Installation,
        _ app: Int64,
        secret: [UInt8]?,
        with row: borrowing Statement
    ) throws(SQLiteError) -> Int64 {
        var position = 0
        try row.bind(app, after: &position)
        try row.bind(new.id.bytes, after: &position)
        try row.bind(new.user, after: &position)
        try row.bind(new.environment.rawValue, after: &position)
        try row.bind(new.bundleID, after: &position)
        try row.bind(secret, after: &position)
        for time in [new.createdAt, new.changedAt, new.seenAt] { try row.bind(time, after: &position) }
        for text in new.attributeColumns { try row.bind(text, after: &position) }
        for flag in new.permissionColumns { try row.bind(flag, after: &position) }
        try row.run()
        return database.connection.lastInsertRowID
    }

    /// Updates an installation without its tokens, tags and activities; returns false if it has another revision.
    ///
    /// - Parameters:
    ///   - stored: The installation as it was read.
    ///   - new: The new content.
    ///   - row: The prepared ``contentUpdate``.
    /// - Returns: Whether it was updated.
    /// - Throws: ``SQLiteError``.
    func update(
        _ stored: StoredInstallation,
        to new: Installation,
        with row: borrowing Statement
    ) throws(SQLiteError) -> Bool {
        var position = 0
        try row.bind(new.environment.rawValue, after: &position)
        try row.bind(new.bundleID, after: &position)
        try row.bind(new.changedAt, after: &position)
        try row.bind(new.seenAt, after: &position)
        for text in new.attributeColumns { try row.bind(text, after: &position) }
        for flag in new.permissionColumns { try row.bind(flag, after: &position) }
        try row.bind(stored.number, after: &position)
        try row.bind(stored.revision, after: &position)
        try row.run()
        return database.connection.changes > 0
    }

    /// Stores the tokens, tags and activities that differ, and deletes the records that these tokens are unregistered.
    ///
    /// A token leaves the other installations of the app. The transactions order the reports, not their times, because
    /// a clock can be set back.
    func store(_ difference: InstallationDifference, of number: Int64, _ app: Int64) throws(SQLiteError) {
        for slot in difference.removed {
            try database.connection.prepare(Self.tokenRemoval).run(with: number, slot.kind.rawValue, slot.name)
        }
        for (slot, registered) in difference.registered {
            try store(registered, at: slot, of: number, app)
        }
        if let tags = difference.tags {
            try database.connection.prepare(Self.tagRemoval).run(with: number)
            for tag in tags { try database.connection.prepare(Self.tagInsertion).run(with: app, tag, number) }
        }
        if let activities = difference.activities { try store(activities, of: number) }
    }

    /// Replaces the activities of an installation.
    func store(_ activities: [String: Installation.Activity], of number: Int64) throws(SQLiteError) {
        try database.connection.prepare(Self.activityRemoval).run(with: number)
        try database.connection.prepare(Self.activityInsertion).run(with: number, InstallationRow.text(of: activities))
    }

    private func store(
        _ registered: Installation.RegisteredToken,
        at slot: Installation.TokenSlot,
        of number: Int64,
        _ app: Int64
    ) throws(SQLiteError) {
        let (token, time) = (registered.token.hex, registered.registeredAt)
        let transfer = try database.connection.prepare(Self.tokenTransfer)
        try transfer.bind(token, number, app)
        var others: [Int64] = []
        while try transfer.step() { others.append(transfer.integer(at: 0)) }
        for other in others { try database.connection.prepare(Self.emptiedImportRemoval).run(with: other) }
        try database.connection.prepare(Self.tokenInsertion)
            .run(with: number, slot.kind.rawValue, slot.name, token, time, database.state.nextNumber - 1)
        try database.connection.prepare("DELETE FROM unregistered_token WHERE app = ? AND token = ?")
            .run(with: app, token)
    }

    /// Removes the installation with a secret.
    func remove(withSecret hash: [UInt8], _ app: Int64) throws(SQLiteError) {
        try database.connection.prepare("DELETE FROM installation WHERE secret_hash = ? AND app = ?")
            .run(with: hash, app)
    }

    /// Removes the installations of a user that were seen least recently, if there are too many.
    func removeLeastRecent(of user: String, _ app: Int64, besides number: Int64) throws(SQLiteError) {
        try database.connection.prepare(
            """
            DELETE FROM installation WHERE number IN (
                SELECT number FROM installation WHERE app = ? AND user_id = ? AND number <> ?
                ORDER BY seen_at DESC, number DESC LIMIT -1 OFFSET \(Installation.limitPerUser - 1)
            )
            """
        ).run(with: app, user, number)
    }
}

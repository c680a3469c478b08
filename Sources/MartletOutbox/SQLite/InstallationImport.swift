// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The import of a page of installations into a file, with statements that are prepared once for the page.
final class InstallationImport {
    /// An installation to store.
    private struct Entry {
        /// The installation of an earlier import; nil for a new one.
        var old: StoredInstallation?
        var new: Installation
    }

    private let database: OutboxDatabase
    private let table: InstallationTable
    private let name: String
    private let app: Int64
    private let now: Int64
    /// The numbers of installations of the page that users get, by the bytes of the user.
    private var additions: [[UInt8]: Int] = [:]
    private var entries: [Entry] = []

    private let find: Statement
    private let findEnrolled: Statement
    private let findUnregistered: Statement
    private let countOfUser: Statement
    private let insertion: Statement
    private let update: Statement
    private let userUpdate: Statement
    private let tokenRemoval: Statement
    private let tokenTransfer: Statement
    private let tokenInsertion: Statement
    private let tagRemoval: Statement
    private let tagInsertion: Statement
    private let emptiedImportRemoval: Statement

    /// Prepares the statements.
    init(_ database: OutboxDatabase, of app: String, at now: Int64) throws(SQLiteError) {
        self.database = database
        table = InstallationTable(database)
        name = app
        self.app = try database.number(of: app)
        self.now = now
        find = try database.connection.prepare(
            "SELECT \(InstallationTable.columns), secret_hash IS NOT NULL FROM installation WHERE id = ?"
        )
        findEnrolled = try database.connection.prepare(
            """
            SELECT 1 FROM installation_token WHERE token = ? AND EXISTS (
                SELECT 1 FROM installation i WHERE i.number = installation_token.installation AND i.app = ?
                    AND i.secret_hash IS NOT NULL
            )
            """
        )
        findUnregistered = try database.connection.prepare(
            "SELECT 1 FROM unregistered_token WHERE app = ? AND token = ? AND environment = ?"
        )
        countOfUser = try database.connection.prepare("SELECT COUNT(*) FROM installation WHERE app = ? AND user_id = ?")
        insertion = try database.connection.prepare(InstallationTable.insertion)
        update = try database.connection.prepare(InstallationTable.contentUpdate)
        userUpdate = try database.connection.prepare("UPDATE installation SET user_id = ? WHERE number = ?")
        tokenRemoval = try database.connection.prepare(InstallationTable.tokenRemoval)
        tokenTransfer = try database.connection.prepare(InstallationTable.tokenTransfer)
        tokenInsertion = try database.connection.prepare(InstallationTable.tokenInsertion)
        tagRemoval = try database.connection.prepare(InstallationTable.tagRemoval)
        tagInsertion = try database.connection.prepare(InstallationTable.tagInsertion)
        emptiedImportRemoval = try database.connection.prepare(InstallationTable.emptiedImportRemoval)
    }

    /// Stores a page, and returns the result of each installation.
    func store(_ page: [Installation]) throws(SQLiteError) -> [ImportResult] {
        var results: [ImportResult] = []
        for new in page { results.append(try decide(new)) }
        var others: [Int64] = []
        for entry in entries {
            for registered in entry.new.tokens.values {
                try tokenTransfer.bind(registered.token.hex, entry.old?.number ?? 0, app)
                while try tokenTransfer.step() { others.append(tokenTransfer.integer(at: 0)) }
            }
        }
        for entry in entries { try store(entry) }
        for other in others { try emptiedImportRemoval.run(with: other) }
        return results
    }

    // MARK: Decision

    /// Returns the result of an installation, which is one of the entries if it has to be stored.
    private func decide(_ new: Installation) throws(SQLiteError) -> ImportResult {
        var old: StoredInstallation?
        if let (stored, isEnrolled) = try installation(new.id) {
            guard stored.installation.app == name else { return .identifierIsTaken }
            guard !isEnrolled else { return .known }
            old = stored
        }
        var new = new
        var hasKnown = false
        for (slot, registered) in new.tokens {
            if try isEnrolled(registered.token.hex) {
                hasKnown = true
                new.tokens[slot] = nil
            } else if try isUnregistered(registered.token.hex, new.environment) {
                new.tokens[slot] = nil
            }
        }
        guard !new.tokens.isEmpty else { return hasKnown ? .known : .unregistered }
        if let old {
            var changed = old.installation
            guard changed.update(from: new, at: now) else { return .unchanged }
            new = changed
        }
        if old?.installation.user.utf8.elementsEqual(new.user.utf8) != true {
            guard try hasRoom(for: new.user) else { return .userIsFull }
        }
        entries.append(Entry(old: old, new: new))
        return old == nil ? .added : .changed
    }

    private func installation(_ id: InstallationID) throws(SQLiteError) -> (StoredInstallation, isEnrolled: Bool)? {
        try find.bind(id.bytes)
        defer { find.reset() }
        guard try find.step(), let stored = table.installation(find) else { return nil }
        return (stored, find.integer(at: 21) != 0)
    }

    private func isEnrolled(_ token: String) throws(SQLiteError) -> Bool {
        try findEnrolled.bind(token, app)
        defer { findEnrolled.reset() }
        return try findEnrolled.step()
    }

    private func isUnregistered(_ token: String, _ environment: PushEnvironment) throws(SQLiteError) -> Bool {
        guard database.state.hasUnregisteredTokens else { return false }
        try findUnregistered.bind(app, token, environment.rawValue)
        defer { findUnregistered.reset() }
        return try findUnregistered.step()
    }

    /// Returns whether a user may have one more installation, which is counted then.
    private func hasRoom(for user: String) throws(SQLiteError) -> Bool {
        try countOfUser.bind(app, user)
        defer { countOfUser.reset() }
        let count = try countOfUser.step() ? Int(countOfUser.integer(at: 0)) : 0
        let key = Array(user.utf8)
        guard count + additions[key, default: 0] < Installation.limitPerUser else { return false }
        additions[key, default: 0] += 1
        return true
    }

    // MARK: Storing

    private func store(_ entry: Entry) throws(SQLiteError) {
        let new = entry.new
        let number: Int64
        if let old = entry.old {
            number = old.number
            _ = try table.update(old, to: new, with: update)
            if !old.installation.user.utf8.elementsEqual(new.user.utf8) {
                try userUpdate.run(with: new.user, number)
            }
        } else {
            number = try table.insert(new, app, secret: nil, with: insertion)
        }
        let difference = InstallationDifference(from: entry.old?.installation, to: new)
        for slot in difference.removed { try tokenRemoval.run(with: number, slot.kind.rawValue, slot.name) }
        let lastPush = database.state.nextNumber - 1
        for (slot, registered) in difference.registered {
            try tokenInsertion.run(
                with: number,
                slot.kind.rawValue,
                slot.name,
                registered.token.hex,
                registered.registeredAt,
                lastPush
            )
        }
        if let tags = difference.tags {
            if entry.old != nil { try tagRemoval.run(with: number) }
            for tag in tags { try tagInsertion.run(with: app, tag, number) }
        }
        // Without statements that are prepared for the page, because few imports have activities.
        guard let activities = difference.activities, entry.old != nil || !activities.isEmpty else { return }
        try table.store(activities, of: number)
    }
}

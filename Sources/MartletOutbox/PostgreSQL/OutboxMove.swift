// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL
internal import MartletSQLite
internal import MartletTransport

/// A migration of an outbox from a file into a database: waiting pushes, outcomes, dead letters, paused lanes,
/// unregistered tokens, the positions of webhooks in the feed, installations, and jobs that are not being expanded.
///
/// Each batch is one transaction in the database, and then one in the file, which deletes it there. Rows that the
/// database has already are left unchanged, and pushes that have ended and installations that were removed there since
/// are not added again. An interrupted migration can therefore be started again. No relay may use the file meanwhile;
/// relays may use the database.
package actor OutboxMove {
    /// The number of rows moved so far.
    package struct Account: Sendable, Hashable {
        /// The number of waiting pushes and dead letters.
        package var pushes = 0
        package var outcomes = 0
        package var unregisteredTokens = 0
        package var installations = 0
        package var jobs = 0

        package init() {}
    }

    /// The number of outcomes in one batch.
    private static let outcomeBatch = 5_000
    /// The number of pushes in one batch, whose payloads have up to 5 KB each.
    private static let pushBatch = 2_000

    let database: PostgreSQLOutbox
    let file: SQLiteOutbox
    /// The numbers of apps in the database, by their numbers in the file.
    private var apps: [Int64: Int64] = [:]
    /// The numbers of jobs in the database, by their numbers in the file.
    private var jobs: [Int64: Int64] = [:]
    private var account = Account()

    /// Opens the file and the database.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - address: The address of the database, which must have its tables.
    /// - Throws: ``OutboxError``, of kind `.inUse` while a relay uses the file.
    package init(from file: String, to address: String) async throws(OutboxError) {
        database = try await PostgreSQLOutbox(address: address, options: .init(name: "move", isSealed: true))
        do throws(OutboxError) {
            let options = SQLiteOutbox.Options(isSealed: true)
            self.file = try await SQLiteOutbox(file: file, options: options, mustExist: true)
        } catch {
            await database.close(isInOrder: true)
            throw error
        }
    }

    /// Moves all rows.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - progress: A callback after each batch.
    /// - Returns: The number of rows moved.
    /// - Throws: ``OutboxError``, of kind `.refused` for a file with a job that is being expanded or that the database
    ///   has as another one, with a surface that may be on phones, or with a sealing that is incomplete or not that of
    ///   the database; rows that have been moved stay in the database.
    package func run(
        at now: Int64,
        progress: @Sendable (Account) -> Void = { _ in }
    ) async throws(OutboxError) -> Account {
        do throws(OutboxError) {
            try await moveAll(at: now, progress: progress)
        } catch {
            await close()
            throw error
        }
        await close()
        return account
    }

    private func close() async {
        await file.close(isInOrder: true)
        await database.close(isInOrder: true)
    }

    private func moveAll(at now: Int64, progress: @Sendable (Account) -> Void) async throws(OutboxError) {
        try await checkSurfaces()
        let stored = try await storedJobs()
        // Before the first row, because sealed and plain rows do not match.
        try await moveSealedKey()
        let names = try await file.read { (tables) throws(SQLiteError) in tables.database.state.apps }
        for (name, number) in names { apps[number] = try await database.apps.number(of: name) }
        // Before the pushes, which have the numbers of their jobs, and first, because they can stop the migration.
        for job in stored { jobs[job.number] = try await move(job) }
        try await moveUnregisteredTokens()
        // Before the pushes, so that no relay sends pushes of a paused lane.
        try await movePauses()
        while case let count = try await moveInstallations(), count > 0 {
            account.installations += count
            progress(account)
        }
        // Before the pushes, so that every dead letter has its outcome.
        while try await moveOutcomes() { progress(account) }
        while try await movePushes(at: now) { progress(account) }
        // After the pushes: an interrupted migration needs the numbers again.
        try await delete("job")
        account.jobs = stored.count
    }

    /// Throws if the file has a surface that may be on phones.
    ///
    /// Surfaces do not move: their sessions have the numbers of installations and pushes, which have other numbers in
    /// the database.
    private func checkSurfaces() async throws(OutboxError) {
        let surfaces = try await file.read { (tables) throws(SQLiteError) in
            let condition = """
                withdrawn_at IS NULL OR EXISTS (SELECT 1 FROM surface_session s WHERE s.surface = surface.number)
                ORDER BY number LIMIT ?
                """
            return try SurfaceTable(tables.database).all(condition, Int64(1))
        }
        guard let surface = surfaces.first?.surface else { return }
        throw OutboxError(
            .refused,
            "the surface \(surface.id) of the app \(surface.app) may be on phones: start the relay with the file again,"
                + " withdraw all surfaces, wait until no installation has one, stop the relay, and repeat the command"
        )
    }

    private func movePushes(at now: Int64) async throws(OutboxError) -> Bool {
        let rows = try await file.read { (tables) throws(SQLiteError) in
            let statement = try tables.database.connection.prepare(
                """
                SELECT \(PushTable.columns), fingerprint, installation FROM push ORDER BY number
                LIMIT \(OutboxMove.pushBatch)
                """
            )
            var rows: [MovingPush] = []
            while try statement.step() {
                rows.append(MovingPush(statement, app: tables.database.name(of: statement.integer(at: 1)), at: now))
            }
            return rows
        }
        guard let last = rows.last else { return false }
        // A job that was deleted before its dead letters has no number there.
        let moving = rows.map { row in
            var row = row
            row.push.job = row.push.job.flatMap { jobs[$0] }
            return row
        }
        try await database.connections.adopt(moving, apps: moving.map { apps[$0.appInFile] ?? 0 })
        try await delete("push WHERE number <= ?", last.number)
        account.pushes += rows.count
        return true
    }

    private func moveOutcomes() async throws(OutboxError) -> Bool {
        // In the order of an index, so that one statement deletes a batch.
        let rows = try await file.read { (tables) throws(SQLiteError) in
            let statement = try tables.database.connection.prepare(
                """
                SELECT apns_id, app, environment, state, status, reason, unique_id, unregistered_at, attempts,
                    unknown_tries, fingerprint, accepted_at, ended_at, history, job, installation
                FROM outcome ORDER BY ended_at, apns_id, app LIMIT \(OutboxMove.outcomeBatch)
                """
            )
            var rows: [MovingOutcome] = []
            while try statement.step() {
                rows.append(MovingOutcome(statement))
            }
            return rows
        }
        guard let last = rows.last else { return false }
        try await database.connections.adopt(
            rows,
            apps: rows.map { apps[$0.appInFile] ?? 0 },
            jobs: rows.map { row in row.jobInFile.flatMap { jobs[$0] } }
        )
        let batch = "(ended_at, apns_id, app) <= (?, ?, ?)"
        try await delete("outcome WHERE \(batch)", last.endedAt, last.id, last.appInFile)
        account.outcomes += rows.count
        return true
    }

    private func moveUnregisteredTokens() async throws(OutboxError) {
        let (tokens, readers) = try await file.read { (tables) throws(SQLiteError) in
            let statement = try tables.database.connection.prepare(
                "SELECT \(UnregisteredTokenTable.columns), app FROM unregistered_token ORDER BY cursor"
            )
            var tokens: [(app: Int64, token: UnregisteredToken)] = []
            while try statement.step() {
                guard let token = UnregisteredToken(statement) else { continue }
                tokens.append((statement.integer(at: 7), token))
            }
            let names = try tables.database.connection.prepare(
                "SELECT name, cursor FROM reader WHERE name LIKE 'webhook %'"
            )
            var readers: [(name: String, cursor: Int64)] = []
            while try names.step() { readers.append((names.text(at: 0), names.integer(at: 1))) }
            return (tokens, readers)
        }
        guard !tokens.isEmpty || !readers.isEmpty else { return }
        try await database.connections.adopt(tokens.map(\.token), apps: tokens.map { apps[$0.app] ?? 0 }, readers)
        try await delete("unregistered_token")
        try await delete("reader")
        account.unregisteredTokens += tokens.count
    }

    private func movePauses() async throws(OutboxError) {
        for pause in try await file.records.pauses() {
            _ = try await database.records.pause(pause.lane, by: pause.caller, at: pause.since)
        }
        try await delete("lane_pause")
    }

    /// Deletes the rows that a condition selects, which have been moved.
    private func delete<each Value: Bindable & Sendable>(
        _ rows: String,
        _ values: repeat each Value
    ) async throws(OutboxError) {
        try await file.change { (tables) throws(SQLiteError) in
            try tables.database.connection.prepare("DELETE FROM " + rows).run(with: repeat each values)
        }
    }
}

/// A push that is moved from a file into a database.
struct MovingPush: Sendable {
    var number: Int64
    var appInFile: Int64
    var push: OutboxPush
    var fingerprint: [UInt8]?
    var acceptedAt: Int64
    var readyAt: Int64?
    /// The position in the database's queue (`martlet.queue.line`); nil for a dead letter.
    var line: Int64?
    var attempts: Int
    var unknownTries: Int
    /// The failed attempts, as stored.
    var history: String?
    /// The stored checksum; one that cannot match for a push that is damaged in the file.
    var checksum: Int64?
    /// The user that the push was sent to, or whose installation had the token when it was accepted; nil for none.
    var user: String?

    fileprivate init(_ row: borrowing Statement, app: String, at now: Int64) {
        let due = DuePush(row, lane: Lane(app: app, environment: PushEnvironment(row, at: 2)))
        number = due.claimed.number
        appInFile = row.integer(at: 1)
        push = due.claimed.push
        push.installation = row.optionalInteger(at: 30)
        let stored = row.optionalInteger(at: 22)
        // The database calculates the complement of the due time again, so a changed time would appear to be right.
        checksum = stored
        if DuePush.hasChangedTime(row), !due.claimed.push.differs(from: stored) { checksum = stored.map { ~$0 } }
        user = row.optionalText(at: 25)
        fingerprint = row.optionalBlob(at: 29)
        acceptedAt = due.claimed.acceptedAt
        attempts = due.claimed.attempts
        unknownTries = due.claimed.unknownTries
        history = row.optionalText(at: 24)
        let readyAt = row.optionalInteger(at: 20)
        // Pushes that are in line are lined up again in the database, in their order.
        line = due.isInLine || push.orderKey == nil && readyAt != nil ? 0 : readyAt == nil ? nil : -1
        self.readyAt = line == nil ? nil : readyAt ?? now
    }
}

/// An outcome that is moved from a file into a database.
struct MovingOutcome: Sendable {
    var id: [UInt8]
    var appInFile: Int64
    var environment: PushEnvironment
    var outcome: Outcome
    var fingerprint: [UInt8]?
    var acceptedAt: Int64
    var endedAt: Int64
    /// The failed attempts, as stored.
    var history: String?
    var jobInFile: Int64?
    /// The number in the file of the installation that a push of a job was for.
    var installation: Int64?

    fileprivate init(_ row: borrowing Statement) {
        id = row.blob(at: 0)
        appInFile = row.integer(at: 1)
        environment = PushEnvironment(row, at: 2)
        outcome = Outcome(row, from: 3)
        fingerprint = row.optionalBlob(at: 10)
        acceptedAt = row.integer(at: 11)
        endedAt = row.integer(at: 12)
        history = row.optionalText(at: 13)
        jobInFile = row.optionalInteger(at: 14)
        installation = row.optionalInteger(at: 15)
    }
}

extension DatabaseConnections {
    fileprivate func adopt(_ rows: [MovingPush], apps: [Int64]) async throws(OutboxError) {
        let pushes = rows.map(\.push)
        let places = pushes.map(\.destination.columns)
        try await query(
            .accepting,
            "SELECT martlet.adopt_pushes(\(Parameter.places(28)))",
            [
                .integers(apps), .flags(pushes.map(\.lane.environment.isProduction)),
                .integers(pushes.map { Int64($0.urgency.rawValue) }), .identifiers(pushes.map(\.id.bytes)),
                .byteLists(rows.map(\.fingerprint)), .texts(places.map(\.token)), .texts(places.map(\.channel)),
                .texts(places.map(\.bundle)), .texts(pushes.map(\.headers.pushType)),
                .texts(pushes.map(\.headers.topic)), .texts(pushes.map(\.headers.priority)),
                .texts(pushes.map(\.headers.expiration)), .texts(pushes.map(\.headers.collapseID)),
                .texts(pushes.map(\.traceParent)), .texts(pushes.map(\.orderKey)),
                .integers(pushes.map(\.expiresAt)), .integers(rows.map(\.acceptedAt)),
                .integers(rows.map(\.readyAt)), .integers(rows.map(\.line)),
                .integers(rows.map { Int64($0.attempts) }), .integers(rows.map { Int64($0.unknownTries) }),
                .integers(rows.map(\.checksum)), .byteLists(pushes.map(\.payload)), .texts(rows.map(\.user)),
                .flags(pushes.map { $0.user != nil }), .texts(rows.map(\.history)), .integers(pushes.map(\.job)),
                .integers(pushes.map(\.installation)),
            ]
        ) { _ in }
    }

    fileprivate func adopt(_ rows: [MovingOutcome], apps: [Int64], jobs: [Int64?]) async throws(OutboxError) {
        let outcomes = rows.map(\.outcome)
        try await query(
            .accepting,
            "SELECT martlet.adopt_outcomes(\(Parameter.places(16)))",
            [
                .identifiers(rows.map(\.id)), .integers(apps), .flags(rows.map(\.environment.isProduction)),
                .texts(outcomes.map(\.state.rawValue)), .integers(outcomes.map { $0.status.map(Int64.init) }),
                .texts(outcomes.map(\.reason)), .texts(outcomes.map(\.uniqueID)),
                .integers(outcomes.map(\.unregisteredAt)), .integers(outcomes.map { Int64($0.attempts) }),
                .integers(outcomes.map { Int64($0.unknownTries) }), .byteLists(rows.map(\.fingerprint)),
                .integers(rows.map(\.acceptedAt)), .integers(rows.map(\.endedAt)),
                .texts(rows.map(\.history)), .integers(jobs), .integers(rows.map(\.installation)),
            ]
        ) { _ in }
    }

    fileprivate func adopt(
        _ tokens: [UnregisteredToken],
        apps: [Int64],
        _ readers: [(name: String, cursor: Int64)]
    ) async throws(OutboxError) {
        try await query(
            .accepting,
            "SELECT martlet.adopt_unregistered_tokens(\(Parameter.places(10)))",
            [
                .integers(apps), .texts(tokens.map(\.token.hex)),
                .flags(tokens.map(\.environment.isProduction)), .texts(tokens.map(\.topic)),
                .integers(tokens.map(\.cursor)), .integers(tokens.map(\.unregisteredAt)),
                .integers(tokens.map(\.reportedAt)), .texts(tokens.map(\.reason)), .texts(readers.map(\.name)),
                .integers(readers.map(\.cursor)),
            ]
        ) { _ in }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// A check of an outbox in a file, which reads the rows of the tables and not those of indexes.
final class OutboxFileCheck {
    /// The maximum number of problems that SQLite reports.
    private static let maximumProblems = 100

    private let connection: Connection
    private var apps: [Int64: String] = [:]
    /// The numbers of waiting pushes of jobs.
    private var unfinished: [Int64: Int64] = [:]
    private var check = OutboxCheck()

    /// Opens a file with tables of this version, which stays as it is.
    init(_ path: String) throws(OutboxError) {
        connection = try OutboxFileCheck.open(path)
        // The columns of another version are missing, which is no damage.
        guard let version = try? connection.userVersion, version != OutboxDatabase.version else { return }
        do throws(SQLiteError) {
            try connection.checkVersion(OutboxDatabase.version)
        } catch {
            throw OutboxError(.unavailable, error.message)
        }
    }

    private static func open(_ path: String) throws(OutboxError) -> Connection {
        do throws(SQLiteError) {
            let options = Connection.Options(busyTimeout: .seconds(1), mustExist: true, isReadOnly: true)
            return try Connection(path: path, options: options)
        } catch {
            guard error.kind == .busy else { throw OutboxError(error, "the outbox cannot be read") }
            let shown = ShownValue(path)
            throw OutboxError(.inUse, "a relay has the outbox \(shown) open: stop it, or check a backup of it")
        }
    }

    /// Reads everything; what cannot be read is a problem of the result.
    func run(_ progress: (OutboxCheck) -> Void) -> OutboxCheck {
        attempt { () throws(SQLiteError) in try connection.checkLog(remark: OutboxDatabase.relaxedRemark) }
        attempt { () throws(SQLiteError) in try readApps() }
        attempt { () throws(SQLiteError) in
            let row = try connection.prepare("SELECT number, is_complete FROM sealed_key")
            if try row.step() { check.add(sealingKey: row.integer(at: 0), isComplete: row.integer(at: 1) != 0) }
        }
        attempt { () throws(SQLiteError) in try readPushes(progress) }
        attempt { () throws(SQLiteError) in
            check.outcomes = try countRows(of: "outcome")
            check.installations = try countRows(of: "installation")
            check.tickets = try countRows(of: "ticket")
        }
        attempt { () throws(SQLiteError) in try readJobs() }
        attempt { () throws(SQLiteError) in try readSurfaces() }
        check.step = "checking the pages of the file"
        progress(check)
        attempt { () throws(SQLiteError) in
            // Unlike a quick check, it compares indexes with rows: a changed index hides pushes from the relay.
            check.problems += try connection.integrityProblems(limit: OutboxFileCheck.maximumProblems)
        }
        return check
    }

    private func attempt(_ step: () throws(SQLiteError) -> Void) {
        do throws(SQLiteError) {
            try step()
        } catch {
            check.problems.append("\(error)")
        }
    }

    private func readApps() throws(SQLiteError) {
        let rows = try connection.prepare("SELECT number, name FROM app NOT INDEXED")
        while try rows.step() { apps[rows.integer(at: 0)] = rows.text(at: 1) }
    }

    private func countRows(of table: String) throws(SQLiteError) -> Int {
        let rows = try connection.prepare("SELECT COUNT(*) FROM \(table)")
        return try rows.step() ? Int(rows.integer(at: 0)) : 0
    }

    private func readJobs() throws(SQLiteError) {
        let rows = try connection.prepare(
            "SELECT number, stored - (SELECT total(count) FROM job_outcome WHERE job = number) FROM job NOT INDEXED"
        )
        var (count, miscounted) = (0, 0)
        while try rows.step() {
            count += 1
            if rows.integer(at: 1) != unfinished[rows.integer(at: 0)] ?? 0 { miscounted += 1 }
        }
        check.add(jobs: count, miscounted: miscounted)
    }

    private func readSurfaces() throws(SQLiteError) {
        let lost = """
            surface_session WHERE surface NOT IN (SELECT number FROM surface)
                OR installation NOT IN (SELECT number FROM installation)
            """
        check.add(
            surfaces: try countRows(of: "surface"),
            sessions: try countRows(of: "surface_session"),
            lost: try countRows(of: lost)
        )
    }

    /// Reads all pushes; those behind a damaged page from the end.
    private func readPushes(_ progress: (OutboxCheck) -> Void) throws(SQLiteError) {
        let deadLetter = try connection.prepare(
            "SELECT 1 FROM outcome WHERE apns_id = ? AND app = ? AND state = 'dead'"
        )
        var last = Int64.min
        do throws(SQLiteError) {
            let rows = try pushes("ASC")
            while try rows.step() {
                last = rows.integer(at: 0)
                try read(rows, deadLetter)
                if check.pushes.isMultiple(of: 10_000) { progress(check) }
            }
        } catch {
            check.problems.append("pushes after number \(last) cannot be read: \(error)")
            let rows = try pushes("DESC")
            while try rows.step(), rows.integer(at: 0) > last { try read(rows, deadLetter) }
        }
    }

    private func pushes(_ order: String) throws(SQLiteError) -> Statement {
        try connection.prepare("SELECT \(PushTable.columns) FROM push NOT INDEXED ORDER BY number \(order)")
    }

    private func read(_ row: borrowing Statement, _ deadLetter: borrowing Statement) throws(SQLiteError) {
        let app = row.integer(at: 1)
        let id = row.blob(at: 3)
        let due = DuePush(row, lane: Lane(app: apps[app] ?? "", environment: PushEnvironment(row, at: 2)))
        let push = due.claimed.push
        let checksum = row.optionalInteger(at: 22)
        // Any other text than that of an environment is read as production.
        let hasEnvironment = row.text(at: 2) == push.lane.environment.rawValue
        var parts: [OutboxCheck.Part] = []
        if checksum == nil || !hasEnvironment || push.differs(from: checksum) { parts.append(.content) }
        if DuePush.hasChangedTime(row) { parts.append(.dueTime) }
        if row.integer(at: 21) != Int64(push.urgency.rawValue) { parts.append(.urgency) }
        let hasTime = !row.isNull(at: 20)
        let isWaiting = hasTime || due.isInLine
        if isWaiting, let job = push.job { unfinished[job, default: 0] += 1 }
        if !isWaiting {
            try deadLetter.bind(id, app)
            if try !deadLetter.step() { parts.append(.place) }
            deadLetter.reset()
        }
        check.add(due.claimed.number, id: APNsID(bytes: id), isWaiting: isWaiting, damage: parts)
    }
}

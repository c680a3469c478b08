package import MartletCore
internal import MartletSQLite
internal import MartletTransport

/// An outbox of one machine: a SQLite file with a write-ahead log, whose every commit waits for the disk by default.
///
/// It runs on a thread of its own. While a commit waits for the disk, further changes are collected for the next
/// commit, so that many callers share one wait. Claims are kept in memory only: after a restart the pushes are claimed
/// again.
package actor SQLiteOutbox: OutboxStore {
    /// The options of an outbox in a file.
    package struct Options: Sendable {
        /// The failures that a commit survives.
        package enum Durability: String, Sendable, CaseIterable {
            /// A loss of power.
            case full
            /// The end of the process; a loss of power may undo the last commits.
            case relaxed
        }

        /// The failures that a commit survives; ``Durability/full`` by default.
        package var durability: Durability
        /// The maximum number of pushes that have not ended; 10 million by default.
        package var limit: Int
        /// Whether opening succeeds while another process uses the file or its disk is full; false by default.
        ///
        /// Until a later attempt to open succeeds, every call fails.
        package var retriesOpening: Bool

        /// Creates options, with a default for each.
        package init(durability: Durability = .full, limit: Int = 10_000_000, retriesOpening: Bool = false) {
            self.durability = durability
            self.limit = limit
            self.retriesOpening = retriesOpening
        }
    }

    /// A change that waits for the next commit.
    enum Work {
        case accept([OutboxPush], at: Int64, CheckedContinuation<Result<[Acceptance], OutboxError>, Never>)
        case settle([Settlement], at: Int64, CheckedContinuation<Result<Void, OutboxError>, Never>)

        var count: Int {
            switch self {
            case .accept(let pushes, _, _): pushes.count
            case .settle(let settlements, _, _): settlements.count
            }
        }
    }

    private nonisolated let loop: EventLoop
    /// The executor of the actor, required by `Actor`.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let options: Options
    let file: String
    private var database: OutboxDatabase?
    /// The reason why the file is not open yet.
    private var openingProblem: OutboxError?
    var isBackingUp = false
    private var work: [Work] = []
    package private(set) var measures = OutboxMeasures()

    /// Opens or creates a file; no other process can use it until the outbox is closed.
    ///
    /// - Parameters:
    ///   - file: The path. SQLite stores its log beside it.
    ///   - options: The options.
    /// - Throws: ``OutboxError``, of kind `.damaged` for a file that is not an intact outbox, `.inUse` for one that
    ///   another process uses, `.unavailable` for one that cannot be written.
    package init(file: String, options: Options = Options()) async throws(OutboxError) {
        self.options = options
        self.file = file
        do {
            loop = try EventLoop()
        } catch {
            throw OutboxError(.unavailable, "\(error)")
        }
        do throws(SQLiteError) {
            try open()
        } catch {
            let problem = describe(error)
            guard options.retriesOpening, error.kind.mayPass else { throw problem }
            openingProblem = problem
            retryOpening()
        }
    }

    deinit {
        loop.shutdown()
    }

    private func open() throws(SQLiteError) {
        database = try OutboxDatabase(file: file, options: options)
    }

    private func retryOpening() {
        loop.schedule(after: SQLiteOutbox.retryInterval) { [weak self] in self?.assumeIsolated { $0.tryToOpen() } }
    }

    private func tryToOpen() {
        // `close(isInOrder:)` clears the problem.
        guard openingProblem != nil else { return }
        do throws(SQLiteError) {
            try open()
            openingProblem = nil
        } catch {
            openingProblem = describe(error)
            retryOpening()
        }
    }

    private static let retryInterval = Duration.seconds(1)

    private func describe(_ error: SQLiteError) -> OutboxError {
        guard error.kind == .busy else { return OutboxError(error, "the outbox \(file) cannot be used") }
        return OutboxError(.inUse, "another relay has the outbox \(file) open: stop it, or set data to another file")
    }

    package func close(isInOrder: Bool) {
        commit()
        // If this fails, the claimed pushes count as possibly sent, which is harmless.
        if isInOrder { try? database?.endInOrder() }
        database = nil
        openingProblem = nil
    }

    // MARK: Batched writes

    package func accept(_ pushes: [OutboxPush], at now: Int64) async throws(OutboxError) -> [Acceptance] {
        try await withCheckedContinuation { add(.accept(pushes, at: now, $0)) }.get()
    }

    package func settle(_ settlements: [Settlement], at now: Int64) async throws(OutboxError) {
        try await withCheckedContinuation { add(.settle(settlements, at: now, $0)) }.get()
    }

    private func add(_ piece: Work) {
        work.append(piece)
        // The callers that are already queued run first, and join the same commit.
        if work.count == 1 { loop.atEndOfTurn { [self] in assumeIsolated { $0.commit() } } }
    }

    private func commit() {
        let pieces = work
        work = []
        guard !pieces.isEmpty else { return }
        let start = ContinuousClock.now
        let results = Result { () throws(OutboxError) in
            try change { (database) throws(SQLiteError) in try database.perform(pieces) }
        }
        measures.commitTimes.observe(ContinuousClock.now - start)
        measures.commitSizes.observe(Double(pieces.reduce(0) { $0 + $1.count }))
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .accept(_, _, let continuation):
                continuation.resume(returning: results.map { $0[index] })
            case .settle(_, _, let continuation):
                continuation.resume(returning: results.map { _ in })
            }
        }
    }

    /// Makes a change of the file, with SQLite's error as an error of the outbox.
    func change<Value>(
        _ body: (OutboxDatabase) throws(SQLiteError) -> Value
    ) throws(OutboxError) -> Value {
        try read { (database) throws(SQLiteError) in try database.change(body) }
    }

    func read<Value>(_ body: (OutboxDatabase) throws(SQLiteError) -> Value) throws(OutboxError) -> Value {
        let database = try openDatabase()
        do throws(SQLiteError) {
            return try body(database)
        } catch {
            throw OutboxError(error, "the outbox cannot be used")
        }
    }

    func openDatabase() throws(OutboxError) -> OutboxDatabase {
        if let openingProblem { throw openingProblem }
        guard let database else { throw OutboxError(.closed, "the outbox is closed") }
        return database
    }

    // MARK: Other calls

    package func claim(
        _ lane: Lane,
        _ urgency: Urgency,
        limit: Int,
        at now: Int64
    ) throws(OutboxError) -> Claim {
        try change { (database) throws(SQLiteError) in try database.claim(lane, urgency, limit: limit, at: now) }
    }

    package func cancel(_ id: APNsID, of app: String, at now: Int64) throws(OutboxError) -> PushStatus? {
        try change { (database) throws(SQLiteError) in try database.cancel(id, of: app, at: now) }
    }

    package func status(of id: APNsID, of app: String) throws(OutboxError) -> PushStatus? {
        try read { (database) throws(SQLiteError) in try database.status(of: id, of: app) }
    }

    package func expire(at now: Int64, limit: Int) throws(OutboxError) -> [PushStatus] {
        try change { (database) throws(SQLiteError) in try database.expire(at: now, limit: limit) }
    }

    package func forgetOutcomes(before time: Int64, limit: Int) throws(OutboxError) -> Int {
        try change { (database) throws(SQLiteError) in try database.forgetOutcomes(before: time, limit: limit) }
    }

    package func backlog() throws(OutboxError) -> [Backlog] {
        try read { (database) throws(SQLiteError) in try database.backlog() }
    }

    package func deadTokens(of app: String, after cursor: Int64, limit: Int) throws(OutboxError) -> [DeadToken] {
        try read { (database) throws(SQLiteError) in try database.deadTokens(of: app, after: cursor, limit: limit) }
    }

    package func revive(_ token: DeviceToken, of app: String) throws(OutboxError) -> Bool {
        try change { (database) throws(SQLiteError) in try database.revive(token, of: app) }
    }

    package func cursor(of reader: String) throws(OutboxError) -> Int64 {
        try read { (database) throws(SQLiteError) in try database.cursor(of: reader) }
    }

    package func setCursor(_ cursor: Int64, of reader: String) throws(OutboxError) {
        try change { (database) throws(SQLiteError) in try database.setCursor(cursor, of: reader) }
    }

    package func deadLetters(of app: String, limit: Int) throws(OutboxError) -> [DeadLetter] {
        try read { (database) throws(SQLiteError) in try database.deadLetters(of: app, limit: limit) }
    }

    package func requeueDeadLetters(
        _ ids: [APNsID]?,
        of app: String,
        at now: Int64
    ) throws(OutboxError) -> Int {
        try change { (database) throws(SQLiteError) in try database.requeueDeadLetters(ids, of: app, at: now) }
    }
}

extension SQLiteError.Kind {
    /// Whether opening may succeed later without a change of the configuration or of the file.
    fileprivate var mayPass: Bool {
        switch self {
        case .busy, .full, .disk: true
        case .readOnly, .corrupt, .notADatabase, .constraint, .cannotOpen, .other: false
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite
internal import MartletTransport

/// An outbox of one machine: a SQLite file with a write-ahead log, whose every commit waits for the disk by default.
///
/// It runs on a thread of its own. While a commit waits for the disk, further changes are collected for the next
/// commit, so that many callers share one wait. A commit has a limited number of results, so that a push which arrives
/// does not wait for the results of many others. Claims are kept in memory only: after a restart the pushes are claimed
/// again.
package actor SQLiteOutbox: OutboxStore, OutboxFile {
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

        /// Whether a file with sealed values may be opened; false by default.
        ///
        /// A relay without keys would send pushes to sealed tokens.
        package var isSealed: Bool

        /// Creates options, with a default for each.
        package init(
            durability: Durability = .full,
            limit: Int = 10_000_000,
            retriesOpening: Bool = false,
            isSealed: Bool = false
        ) {
            self.durability = durability
            self.limit = limit
            self.retriesOpening = retriesOpening
            self.isSealed = isSealed
        }
    }

    /// A change that waits for the next commit.
    enum Work {
        case accept([HashedPush], at: Int64, CheckedContinuation<Result<[Acceptance], OutboxError>, Never>)
        case settle([Settlement], at: Int64, CheckedContinuation<Result<Void, OutboxError>, Never>)

        var count: Int {
            switch self {
            case .accept(let pushes, _, _): pushes.count
            case .settle(let settlements, _, _): settlements.count
            }
        }

        /// The number of results; 0 for pushes that come in.
        var results: Int {
            switch self {
            case .accept: 0
            case .settle(let settlements, _, _): settlements.count
            }
        }

        /// Makes the change; returns an answer for each accepted push.
        func perform(on tables: OutboxTables) throws(SQLiteError) -> [Acceptance] {
            var answers: [Acceptance] = []
            switch self {
            case .accept(let pushes, let now, _):
                tables.database.state.latest = max(tables.database.state.latest, now)
                answers.reserveCapacity(pushes.count)
                for push in pushes { answers.append(try tables.pushes.accept(push, at: now)) }
            case .settle(let settlements, let now, _):
                for settlement in settlements { try tables.pushes.settle(settlement, at: now) }
            }
            return answers
        }
    }

    private nonisolated let loop: EventLoop
    /// The executor of the actor, required by `Actor`.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let options: Options
    let file: String
    private let mustExist: Bool
    private var tables: OutboxTables?
    /// The reason why the file is not open yet.
    private var openingProblem: OutboxError?
    var isBackingUp = false
    private var work = CommitQueue<Work>()
    package private(set) var measures = OutboxMeasures()
    package nonisolated var shared: (any SharedOutbox)? { nil }
    package nonisolated var localFile: (any OutboxFile)? { self }
    package nonisolated var records: any OutboxRecords { SQLiteRecords(outbox: self) }
    package nonisolated var installations: any InstallationStore { SQLiteInstallations(outbox: self) }
    package nonisolated var jobs: any JobStore { SQLiteJobs(outbox: self) }
    package nonisolated var surfaces: any SurfaceStore { SQLiteSurfaces(outbox: self) }

    /// Opens or creates a file; no other process can use it until the outbox is closed.
    ///
    /// - Parameters:
    ///   - file: The path. SQLite stores its log beside it.
    ///   - options: The options.
    /// - Throws: ``OutboxError``, of kind `.damaged` for a file that is not an intact outbox, `.inUse` for one that
    ///   another process uses, `.unavailable` for one that cannot be written.
    package init(file: String, options: Options = Options()) async throws(OutboxError) {
        try await self.init(file: file, options: options, mustExist: false)
    }

    /// Opens a file, or creates it unless it must exist.
    init(file: String, options: Options, mustExist: Bool) async throws(OutboxError) {
        self.options = options
        self.file = file
        self.mustExist = mustExist
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
        let opened = try OutboxTables(file: file, options: options, mustExist: mustExist)
        measures.possiblySent = opened.database.possiblySent
        tables = opened
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
        let shown = ShownValue(file)
        guard error.kind == .busy else { return OutboxError(error, "the outbox \(shown) cannot be used") }
        return OutboxError(.inUse, "another relay has the outbox \(shown) open: stop it, or set data to another file")
    }

    package func close(isInOrder: Bool) {
        while !work.isEmpty { commit() }
        // If this fails, the claimed pushes count as possibly sent, which is harmless.
        if isInOrder { try? tables?.database.endInOrder() }
        tables = nil
        openingProblem = nil
    }

    // MARK: Batched writes

    package func accept(_ pushes: [HashedPush], at now: Int64) async throws(OutboxError) -> [Acceptance] {
        try await withCheckedContinuation { add(.accept(pushes, at: now, $0)) }.get()
    }

    @discardableResult
    package func settle(_ settlements: [Settlement], at now: Int64) async throws(OutboxError) -> Int64 {
        try await withCheckedContinuation { add(.settle(settlements, at: now, $0)) }.get()
        return now
    }

    private func add(_ piece: Work) {
        if work.isEmpty { scheduleCommit() }
        work.add(piece, results: piece.results)
    }

    private func scheduleCommit() {
        // The callers that are already queued run first, and join the same commit.
        loop.atEndOfTurn { [self] in assumeIsolated { $0.commit() } }
    }

    private func commit() {
        let pieces = work.takeNext()
        guard !pieces.isEmpty else { return }
        if !work.isEmpty { scheduleCommit() }
        let start = ContinuousClock.now
        let results = Result { () throws(OutboxError) in
            try change { (tables) throws(SQLiteError) in
                var answers: [[Acceptance]] = []
                for piece in pieces { answers.append(try piece.perform(on: tables)) }
                return answers
            }
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

    // MARK: Transactions

    /// Makes a change in a transaction: either all of it is stored or none.
    func change<Value: Sendable>(
        _ body: @Sendable (OutboxTables) throws(SQLiteError) -> Value
    ) throws(OutboxError) -> Value {
        try read { (tables) throws(SQLiteError) in
            try tables.database.change { () throws(SQLiteError) in try body(tables) }
        }
    }

    /// Reads or changes tables, each statement in a transaction of its own.
    func read<Value: Sendable>(
        _ body: @Sendable (OutboxTables) throws(SQLiteError) -> Value
    ) throws(OutboxError) -> Value {
        let tables = try openTables()
        do throws(SQLiteError) {
            return try body(tables)
        } catch {
            throw OutboxError(error, "the outbox cannot be used")
        }
    }

    /// Returns the tables; throws while the file is not open.
    func openTables() throws(OutboxError) -> OutboxTables {
        if let openingProblem { throw openingProblem }
        guard let tables else { throw OutboxError(.closed, "the outbox is closed") }
        return tables
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

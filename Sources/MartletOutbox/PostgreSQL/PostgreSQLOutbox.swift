internal import MartletPostgreSQL
internal import MartletTransport

/// An outbox of several machines: a PostgreSQL database that their relays share.
///
/// The rules between the relays are implemented in functions of the database (``Schema``). This actor calls them, many
/// pushes at a time, over four pipelined connections: one accepts pushes, one claims them and stores their outcomes,
/// one runs short statements, and one runs the statements that may take long. Each relay is a node with a lease, which
/// it renews. The claims of a node are its own until its lease expires; then the first node that notices releases them
/// and marks the pushes as possibly sent.
package actor PostgreSQLOutbox {
    /// The options of an outbox in a database.
    package struct Options: Sendable {
        /// The maximum number of pushes that have not ended, in all nodes together; 10 million by default.
        ///
        /// It may be exceeded for a moment, because other nodes' pushes are counted at intervals.
        package var limit: Int
        /// The time for which a node without heartbeats keeps its claims; 15 seconds by default.
        package var lease: Duration
        package var name: String
        /// The maximum time for a statement that needs a few rows; 3 seconds by default.
        ///
        /// The server cancels a statement that takes longer. When it does not answer for half a second more, it is
        /// taken to hang: all connections are closed, and the calls under way fail. Statements that write many pushes
        /// may take 6 times as long, and those that read whole tables 20 times.
        package var statementTime: Duration
        /// Whether opening succeeds while the database is unavailable or full; false by default.
        ///
        /// Until a later attempt to open succeeds, every call fails.
        package var retriesOpening: Bool

        /// Creates options, with a default for each.
        package init(
            limit: Int = 10_000_000,
            lease: Duration = .seconds(15),
            name: String = "relay",
            statementTime: Duration = .seconds(3),
            retriesOpening: Bool = false
        ) {
            self.limit = limit
            self.lease = lease
            self.name = name
            self.statementTime = statementTime
            self.retriesOpening = retriesOpening
        }
    }

    /// The purpose of a connection.
    enum Purpose: String, CaseIterable {
        case accepting
        case delivering
        /// Statements that need a few rows: a server that does not answer them is taken to hang.
        case watching
        /// Statements that may read whole tables, and the heartbeat, which may release the claims of other nodes.
        case maintaining

        /// The factor of ``Options/statementTime`` for a statement.
        var timeoutFactor: Int {
            switch self {
            case .watching: 1
            case .accepting, .delivering: 6
            case .maintaining: 20
            }
        }
    }

    /// One urgency of a lane that this node delivers.
    struct QueueKey: Hashable {
        var lane: Lane
        var urgency: Urgency
    }

    nonisolated let loop: EventLoop
    let connections: Connections
    /// The executor of the actor, required by `Actor`.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let address: String
    let options: Options
    /// The error of the last failed connection for each purpose.
    var problems: [Purpose: PostgreSQLError] = [:]
    /// The server's processes of lost connections, which may still execute statements.
    var lostProcesses: [Purpose: Int64] = [:]
    /// The reason why the outbox is not open yet; nil once it is open.
    var openingProblem: OutboxError?
    var isOpen = false
    var isClosed = false
    /// The data that this node publishes for other nodes.
    var facts = "{}"
    /// The number of this node; it gets another after its lease has expired and it was deleted.
    var node: Int64 = 0
    /// The registration under way, after other nodes took over this node's claims.
    var registration: Task<Result<Void, PostgreSQLError>, Never>?
    private var apps: [String: Int64] = [:]

    var accepting = StatementBatcher<AcceptPiece>()
    var settling = StatementBatcher<SettlePiece>()
    /// The numbers of pushes that are claimed and not settled.
    var held: Set<Int64> = []
    /// The number of claims without a result.
    var claimsUnderWay = 0
    /// The time until which the server may still finish a claim whose connection was lost.
    var lostClaimsUntil = ContinuousClock.now
    /// The progress of claims in each lane and urgency.
    var watermarks: [QueueKey: Watermark] = [:]
    /// The time that a caller passed last.
    var latestTime = Int64.min / 2
    var watch = Watch()
    /// The number of pushes that have not ended, in all nodes: the last count, adjusted by this node's changes since.
    var count = 0
    var countedBacklog: [Backlog] = []
    var nextCount = ContinuousClock.now
    package var measures = OutboxMeasures()

    package nonisolated let news: AsyncStream<OutboxNews>
    nonisolated let newsOut: AsyncStream<OutboxNews>.Continuation

    /// Returns whether a text has the form of a connection string of libpq.
    package static func isAddress(_ text: String) -> Bool { Session.isAddress(text) }

    /// Connects to a database with tables of this version.
    ///
    /// - Parameters:
    ///   - address: A connection string of libpq, `postgresql://…` or `host=… dbname=…`, with any number of hosts.
    ///   - options: The options.
    /// - Throws: ``OutboxError`` of kind `.unavailable` or `.unreachable`, with advice.
    package init(address: String, options: Options = Options()) async throws(OutboxError) {
        self.address = address
        self.options = options
        (news, newsOut) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(10_000))
        do {
            connections = try Connections()
        } catch {
            throw OutboxError(.unavailable, "\(error)")
        }
        loop = connections.loop
        do throws(PostgreSQLError) {
            try await open()
        } catch {
            let problem = OutboxError(error, "the outbox in PostgreSQL cannot be used")
            guard options.retriesOpening, error.kind.mayPass else {
                disconnect()
                throw problem
            }
            openingProblem = problem
            retryOpening(after: Self.firstRetry)
        }
    }

    package func close(isInOrder: Bool) async {
        guard !isClosed else { return }
        isClosed = true
        // If this fails, the lease expires.
        try? await ask(.watching, "SELECT martlet.leave($1, $2)", [.integer(node), .flag(!isInOrder)]) { _ in }
        disconnect()
    }

    // MARK: Statements

    /// Runs a statement and reads its result on the event loop; retries up to four times after a conflict.
    func ask<Value: Sendable>(
        _ purpose: Purpose,
        _ sql: String,
        _ parameters: [Parameter] = [],
        _ read: @escaping @Sendable (Rows) -> Value
    ) async throws(PostgreSQLError) -> Value {
        for _ in 0..<4 {
            do throws(PostgreSQLError) {
                return try await askOnce(purpose, sql, parameters, read)
            } catch {
                guard error.kind == .conflict else { throw error }
            }
        }
        return try await askOnce(purpose, sql, parameters, read)
    }

    private func askOnce<Value: Sendable>(
        _ purpose: Purpose,
        _ sql: String,
        _ parameters: [Parameter],
        _ read: @escaping @Sendable (Rows) -> Value
    ) async throws(PostgreSQLError) -> Value {
        guard let link = connections.links[purpose] else {
            throw problems[purpose] ?? .disconnected("there is no connection")
        }
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Answered<Value>, Never>) in
            link.ask(sql, parameters) { continuation.resume(returning: $0.map(read)) }
        }
        return try result.get()
    }

    private typealias Answered<Value> = Result<Value, PostgreSQLError>

    /// Runs a statement, with PostgreSQL's error as an error of the outbox.
    func inquire<Value: Sendable>(
        _ purpose: Purpose,
        _ sql: String,
        _ parameters: [Parameter] = [],
        _ read: @escaping @Sendable (Rows) -> Value
    ) async throws(OutboxError) -> Value {
        try checkOpen()
        do throws(PostgreSQLError) {
            return try await ask(purpose, sql, parameters, read)
        } catch {
            throw OutboxError(error, "the outbox in PostgreSQL cannot be used")
        }
    }

    /// Throws the error that explains why the outbox cannot be used; returns while it is open.
    func checkOpen() throws(OutboxError) {
        guard !isClosed else { throw OutboxError(.closed, "the outbox is closed") }
        if let openingProblem { throw openingProblem }
    }

    // MARK: Apps

    /// Returns the number of an app, which is assigned on its first use.
    func number(of app: String) async throws(OutboxError) -> Int64 {
        if let number = apps[app] { return number }
        let number = try await inquire(.watching, "SELECT martlet.app_number($1)", [.text(app)]) {
            $0.first?.integer(at: 0) ?? 0
        }
        apps[app] = number
        return number
    }

    /// Returns the number of a known app; nil for others.
    func number(ofKnown app: String) -> Int64? { apps[app] }

    func readApps() async throws(PostgreSQLError) {
        let all = try await ask(.watching, "SELECT name, number FROM martlet.app") { rows in
            rows.all.map { ($0.text(at: 0), $0.integer(at: 1)) }
        }
        apps = Dictionary(all) { first, _ in first }
    }

    /// Returns the name of an app by its number, which any node may have assigned.
    func name(of app: Int64) async throws(OutboxError) -> String {
        if let name = apps.first(where: { $0.value == app })?.key { return name }
        let name = try await inquire(.watching, "SELECT name FROM martlet.app WHERE number = $1", [.integer(app)]) {
            $0.first?.text(at: 0) ?? ""
        }
        apps[name] = app
        return name
    }
}

extension OutboxError {
    init(_ error: PostgreSQLError, _ what: String) {
        let kind: Kind =
            switch error.kind {
            case .full: .full
            case .corrupt: .damaged
            case .disconnected, .noAnswer: .unreachable
            case .unavailable, .conflict, .undefined, .other: .unavailable
            }
        let advice = error.kind == .undefined ? ": run martlet relay migrate" : ""
        self.init(kind, "\(what): \(error)\(advice)")
    }
}

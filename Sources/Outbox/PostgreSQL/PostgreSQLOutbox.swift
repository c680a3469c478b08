internal import PostgreSQL
internal import Wire

/// The outbox of several machines: a PostgreSQL database that their relays share.
///
/// What must hold between them is written in the database's own functions (``Schema``); this asks for it, many pushes
/// at a time, over four connections without waiting in line: one takes pushes in, one gives them out and stores their
/// outcomes, one watches, and one has the statements that may take long. Each relay is a node with a lease, which it
/// renews. What a node has claimed is its own until its lease ends; then the node that notices takes over, and notes
/// that it may have been sent.
package actor PostgreSQLOutbox {
    /// How a database is used.
    package struct Options: Sendable {
        /// Pushes that may wait at once, in all nodes together and within a moment's doings; 10 million by default.
        package var limit: Int
        /// How long a node that is not heard of keeps what it has claimed; 15 seconds by default.
        package var lease: Duration
        /// What people know this node by.
        package var name: String
        /// The longest time for a statement that needs a few rows; 3 seconds by default.
        ///
        /// The server cancels one that takes longer. A server that answers none of them for half a second more is taken
        /// for hung: all connections are dropped, and what was under way fails. Statements that write many pushes may
        /// take 6 times as long, and those that read whole tables 20 times.
        package var statementTime: Duration
        /// Whether opening succeeds while the database is away or full; false by default.
        ///
        /// Every call fails then until a later attempt to open succeeds.
        package var retriesOpening: Bool

        /// The defaults, save what is given.
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

    /// What a connection is for.
    enum Purpose: String, CaseIterable {
        case accepting
        case delivering
        /// Statements that need a few rows: a server that does not answer them is taken for hung.
        case watching
        /// Statements that may read whole tables, and the sign of life, which may take over what another node had.
        case maintaining

        /// The factor of ``Options/statementTime`` for a statement.
        var patience: Int {
            switch self {
            case .watching: 1
            case .accepting, .delivering: 6
            case .maintaining: 20
            }
        }
    }

    /// One urgency of one lane, in which this node delivers.
    struct Shelf: Hashable {
        var lane: Lane
        var urgency: Urgency
    }

    nonisolated let loop: EventLoop
    let connections: Connections
    /// Part of `Actor`.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let address: String
    let options: Options
    /// The reason why there is no connection for a purpose.
    var problems: [Purpose: PostgreSQLError] = [:]
    /// The server's processes of connections that were lost, which may still run what they were asked.
    var lostProcesses: [Purpose: Int64] = [:]
    /// The reason why the outbox is not open yet; nil once it is.
    var openingProblem: OutboxError?
    var isOpen = false
    var isClosed = false
    /// What the others are told of this node.
    var facts = "{}"
    /// This node's number; it gets another when its lease has ended.
    var node: Int64 = 0
    /// The registration under way of this node, after other nodes took over its claims.
    var registration: Task<Result<Void, PostgreSQLError>, Never>?
    /// The apps' numbers, by their names.
    private var apps: [String: Int64] = [:]

    var accepting = Gathering<AcceptPiece>()
    var settling = Gathering<SettlePiece>()
    /// What has been given out and not settled yet.
    var held: Set<Int64> = []
    /// Claims that the database has not answered.
    var claimsUnderWay = 0
    /// Until when a claim may still come true whose connection was lost.
    var lostClaimsUntil = ContinuousClock.now
    /// How far each shelf has been given out.
    var watermarks: [Shelf: Watermark] = [:]
    /// The time that was handed in last.
    var latestTime = Int64.min / 2
    var watch = Watch()
    /// Pushes that have not ended, in all nodes: as many as were counted last, and what this node has done since.
    var count = 0
    var countedBacklog: [Backlog] = []
    var nextCount = ContinuousClock.now
    package var measures = OutboxMeasures()

    package nonisolated let news: AsyncStream<OutboxNews>
    nonisolated let newsOut: AsyncStream<OutboxNews>.Continuation

    /// Connects to a database whose tables are those of this version.
    ///
    /// - Parameters:
    ///   - address: What libpq takes: `postgresql://…` or `host=… dbname=…`, with any number of hosts.
    ///   - options: How it is used.
    /// - Throws: ``OutboxError`` of kind `.unavailable` or `.unreachable`, which says what to do.
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
        // Should that fail, the lease ends by itself.
        try? await ask(.watching, "SELECT martlet.leave($1, $2)", [.integer(node), .flag(!isInOrder)]) { _ in }
        disconnect()
    }

    // MARK: Questions

    /// Asks the database, and reads the answer where it came in; once more where others were in the way.
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

    /// Asks the database in the outbox's name.
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

    /// Throws the error that explains why the outbox cannot be used; nothing while it is open.
    func checkOpen() throws(OutboxError) {
        guard !isClosed else { throw OutboxError(.closed, "the outbox is closed") }
        if let openingProblem { throw openingProblem }
    }

    // MARK: Apps

    /// The number of an app, which it gets when it is heard of for the first time.
    func number(of app: String) async throws(OutboxError) -> Int64 {
        if let number = apps[app] { return number }
        let number = try await inquire(.watching, "SELECT martlet.app_number($1)", [.text(app)]) {
            $0.first?.integer(at: 0) ?? 0
        }
        apps[app] = number
        return number
    }

    /// The number of an app that has been heard of; nil for others.
    func number(ofKnown app: String) -> Int64? { apps[app] }

    func readApps() async throws(PostgreSQLError) {
        let all = try await ask(.watching, "SELECT name, number FROM martlet.app") { rows in
            rows.all.map { ($0.text(at: 0), $0.integer(at: 1)) }
        }
        apps = Dictionary(all) { first, _ in first }
    }

    /// The name of an app that this node, or another, has given a number.
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
    /// What PostgreSQL says, in the outbox's words.
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

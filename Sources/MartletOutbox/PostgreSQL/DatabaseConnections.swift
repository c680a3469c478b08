// SPDX-License-Identifier: Apache-2.0

internal import MartletPostgreSQL
internal import MartletTransport

/// The connections of an outbox to its database, one for each purpose, which are reopened when they are lost.
///
/// It runs on the event loop of its outbox.
actor DatabaseConnections {
    /// The purpose of a connection.
    enum Purpose: String, CaseIterable {
        case accepting
        case delivering
        /// Installations and tickets, so that requests of phones do not delay pushes.
        case enrolling
        /// Statements that need a few rows: a server that does not answer them is taken to hang.
        case watching
        /// Statements that may read whole tables, and the heartbeat, which may release the claims of other nodes.
        case maintaining

        /// The factor of ``PostgreSQLOutbox/Options/statementTime`` for a statement.
        var timeoutFactor: Int {
            switch self {
            case .watching: 1
            case .accepting, .delivering, .enrolling: 6
            case .maintaining: 20
            }
        }
    }

    /// A change of a connection.
    enum Event: Sendable {
        case opened(Purpose)
        /// A back end has stored a push (`NOTIFY`).
        case notified
        /// A notification of this process did not arrive.
        case notificationLost
        case lost(Purpose, PostgreSQLError)
    }

    /// The stages of an outbox.
    private enum Stage {
        /// The outbox is being opened, with the error of the last attempt.
        case opening(OutboxError?)
        case open
        case closed
    }

    /// The time before each attempt to reopen a lost connection.
    private static let reconnectTime = Duration.milliseconds(250)
    /// The time after which a notification of this process has been lost.
    private static let notificationTime = Duration.seconds(2)
    /// The time that this process waits longer than the server, so that the server cancels a slow statement before the
    /// connection is closed.
    private static let margin = Duration.milliseconds(500)

    nonisolated let loop: EventLoop
    private let table: ConnectionTable
    /// The executor of the actor, required by `Actor`.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let address: String
    private let options: PostgreSQLOutbox.Options
    private var stage = Stage.opening(nil)
    private var onEvent: @Sendable (Event) -> Void = { _ in }
    private var hasBeenNotified = false
    /// The error of the last failed connection for each purpose.
    private var errors: [Purpose: PostgreSQLError] = [:]
    /// The server's processes of lost connections, which may still execute statements.
    private var lostProcesses: [Purpose: Int64] = [:]

    /// Creates closed connections.
    init(to address: String, options: PostgreSQLOutbox.Options) throws(TransportError) {
        table = try ConnectionTable()
        loop = table.loop
        self.address = address
        self.options = options
    }

    // MARK: Statements

    /// Runs a statement and reads its result on the event loop, with PostgreSQL's error as an error of the outbox.
    func query<Value: Sendable>(
        _ purpose: Purpose,
        _ sql: String,
        _ parameters: [Parameter] = [],
        _ read: @escaping @Sendable (Rows) -> Value
    ) async throws(OutboxError) -> Value {
        try checkOpen()
        do throws(PostgreSQLError) {
            return try await run(purpose, sql, parameters, read)
        } catch {
            throw OutboxError(error)
        }
    }

    /// Runs a statement while the outbox is being opened or closed, too; retries up to four times after a conflict.
    func run<Value: Sendable>(
        _ purpose: Purpose,
        _ sql: String,
        _ parameters: [Parameter] = [],
        _ read: @escaping @Sendable (Rows) -> Value
    ) async throws(PostgreSQLError) -> Value {
        for _ in 0..<4 {
            do throws(PostgreSQLError) {
                return try await runOnce(purpose, sql, parameters, read)
            } catch {
                guard error.kind == .conflict else { throw error }
            }
        }
        return try await runOnce(purpose, sql, parameters, read)
    }

    private func runOnce<Value: Sendable>(
        _ purpose: Purpose,
        _ sql: String,
        _ parameters: [Parameter],
        _ read: @escaping @Sendable (Rows) -> Value
    ) async throws(PostgreSQLError) -> Value {
        guard let connection = table.connections[purpose] else {
            throw errors[purpose] ?? .disconnected("there is no connection")
        }
        typealias Received = Result<Value, PostgreSQLError>
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Received, Never>) in
            connection.send(sql, parameters) { continuation.resume(returning: $0.map(read)) }
        }
        return try result.get()
    }

    /// Sends a statement without waiting for its result; does nothing while there is no connection.
    func send(_ purpose: Purpose, _ sql: String, _ parameters: [Parameter]) {
        table.connections[purpose]?.send(sql, parameters) { _ in }
    }

    // MARK: Stages

    /// Throws the error that explains why the outbox cannot be used; returns while it is open.
    func checkOpen() throws(OutboxError) {
        switch stage {
        case .closed: throw OutboxError(.closed, "the outbox is closed")
        case .opening(let error?): throw error
        case .opening(nil), .open: return
        }
    }

    var isClosed: Bool { if case .closed = stage { true } else { false } }

    /// Opens the missing connections, and checks the version of the tables.
    func open(_ onEvent: @escaping @Sendable (Event) -> Void) async throws(PostgreSQLError) {
        self.onEvent = onEvent
        for purpose in Purpose.allCases where table.connections[purpose] == nil { try await connect(purpose) }
        let version = try await run(.watching, "SELECT number FROM martlet.version") { $0.first?.integer(at: 0) }
        try OutboxSchema.check(version)
    }

    /// Notes whether the outbox has been opened; from then on, lost connections are reopened.
    func recordOpening(_ error: OutboxError?) {
        guard !isClosed else { return }
        stage = error.map(Stage.opening) ?? .open
    }

    /// Makes calls fail, except for those of ``run(_:_:_:_:)``; returns false when it was closed before.
    func beginClosing() -> Bool {
        defer { stage = .closed }
        return !isClosed
    }

    /// Closes the connections.
    func close() {
        stage = .closed
        let open = table.connections.values
        table.connections = [:]
        for connection in open { connection.close() }
    }

    // MARK: Connecting

    private func connect(_ purpose: Purpose) async throws(PostgreSQLError) {
        let session: Session
        do throws(PostgreSQLError) {
            session = try await withTaskExecutorPreference(LoopTaskExecutor(table.connecting)) {
                () async throws(PostgreSQLError) in
                try await Session.connected(to: address, name: "martlet \(options.name) \(purpose)")
            }
        } catch {
            errors[purpose] = error
            throw error
        }
        // The outbox may have been closed meanwhile; that closed only the connections that existed.
        guard !isClosed else { throw .disconnected("the outbox is closed") }
        let time = options.statementTime * purpose.timeoutFactor
        let connection: PipelinedConnection
        do throws(TransportError) {
            connection = try PipelinedConnection(session, on: loop, resultTimeout: time + Self.margin)
        } catch {
            throw .disconnected("\(error)")
        }
        connection.onEnd = { [weak self] error in self?.assumeIsolated { $0.lost(purpose, error) } }
        table.connections[purpose] = connection
        let milliseconds = max(1, Int64(time / .milliseconds(1)))
        connection.send("SELECT set_config('statement_timeout', $1, false)", [.text("\(milliseconds)")]) { _ in }
        terminateLostProcess(of: purpose, over: connection)
        if purpose == .watching {
            connection.onNotification = { [weak self] in self?.assumeIsolated { $0.recordNotification() } }
            connection.send("LISTEN martlet", []) { _ in }
        }
        onEvent(.opened(purpose))
    }

    private func recordNotification() {
        hasBeenNotified = true
        onEvent(.notified)
    }

    /// Sends a notification to this process over another connection, and reports when it does not arrive.
    ///
    /// A pooler in transaction mode accepts `LISTEN`, and discards what the server sends between transactions.
    func checkNotifications() {
        table.connections[.maintaining]?.send("SELECT pg_notify('martlet', '')", []) { [weak self] result in
            // A notification that was not sent, or is sent late, is not lost.
            guard case .success = result else { return }
            self?.assumeIsolated { $0.awaitNotification() }
        }
    }

    private func awaitNotification() {
        loop.schedule(after: Self.notificationTime) { [weak self] in
            self?.assumeIsolated { connections in
                guard !connections.hasBeenNotified, connections.table.connections[.watching] != nil else { return }
                connections.onEvent(.notificationLost)
            }
        }
    }

    /// Terminates the server's process of the previous, lost connection, and waits up to a second for its end.
    ///
    /// A server that hung still executes the statements that it had received. Otherwise an old settlement could undo a
    /// claim that was made since.
    private func terminateLostProcess(of purpose: Purpose, over connection: PipelinedConnection) {
        guard let process = lostProcesses.removeValue(forKey: purpose), process != 0 else { return }
        connection.send(
            """
            SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
            WHERE pid = $1 AND usename = current_user AND application_name = current_setting('application_name')
            """,
            [.integer(process)]
        ) { _ in }
    }

    private func lost(_ purpose: Purpose, _ error: PostgreSQLError) {
        guard let connection = table.connections.removeValue(forKey: purpose) else { return }
        lostProcesses[purpose] = connection.serverProcess
        errors[purpose] = error
        guard case .open = stage else { return }
        reconnect(purpose)
        onEvent(.lost(purpose, error))
        // These statements read a few rows: a server that does not answer them is taken to hang.
        guard purpose == .watching, error.kind == .noAnswer else { return }
        for connection in Array(table.connections.values) { connection.close(error) }
    }

    private func reconnect(_ purpose: Purpose) {
        loop.schedule(after: Self.reconnectTime) { [weak self] in
            guard let self else { return }
            Task(executorPreference: LoopTaskExecutor(loop)) { await self.tryToReconnect(purpose) }
        }
    }

    private func tryToReconnect(_ purpose: Purpose) async {
        guard !isClosed, table.connections[purpose] == nil else { return }
        do throws(PostgreSQLError) {
            try await connect(purpose)
        } catch {
            reconnect(purpose)
        }
    }
}

extension PostgreSQLError.Kind {
    /// Whether opening may succeed later without a change of the configuration or of the tables.
    var mayPass: Bool {
        switch self {
        case .disconnected, .noAnswer, .unavailable, .conflict, .full: true
        case .corrupt, .undefined, .denied, .other: false
        }
    }
}

extension Session {
    /// Opens a session in pipeline mode; only connecting blocks.
    @concurrent
    fileprivate static func connected(to address: String, name: String) async throws(PostgreSQLError) -> sending Session
    {
        let session = try Session(address, name: name)
        try session.beginPipeline()
        return session
    }
}

extension OutboxError {
    /// Creates an error of the outbox from one of PostgreSQL.
    init(_ error: PostgreSQLError, _ context: String = "the outbox in PostgreSQL cannot be used") {
        let kind: Kind =
            switch error.kind {
            case .full: .full
            case .corrupt: .damaged
            case .disconnected, .noAnswer: .unreachable
            case .denied: .denied
            case .unavailable, .conflict, .undefined, .other: .unavailable
            }
        let advice = error.kind == .undefined ? "run martlet relay migrate" : MissingRight(error)?.advice
        // A change may consist of several statements, of which the earlier ones have been executed.
        let isOutcomeUnknown = kind == .unreachable || error.isCancelled
        let description = "\(context): \(error)" + (advice.map { ": " + $0 } ?? "")
        self.init(kind, description, isOutcomeUnknown: isOutcomeUnknown)
    }
}

internal import MartletPostgreSQL
internal import MartletTransport

/// Opening of the connections, and reconnecting.
extension PostgreSQLOutbox {
    /// The time before the first retry of opening; it doubles up to ``longestRetry``.
    static let firstRetry = Duration.milliseconds(250)
    private static let longestRetry = Duration.seconds(2)
    /// The time before each attempt to reopen a lost connection.
    private static let reconnectTime = Duration.milliseconds(250)
    /// The time that this process waits longer than the server, so that the server cancels a slow statement before the
    /// connection is closed.
    private static let margin = Duration.milliseconds(500)

    /// Opens the connections and registers this node.
    func open() async throws(PostgreSQLError) {
        for purpose in Purpose.allCases where connections.links[purpose] == nil { try await connect(purpose) }
        let version = try await ask(.watching, "SELECT number FROM martlet.version") { $0.first?.integer(at: 0) }
        guard version == Int64(Schema.migrations.count) else {
            throw PostgreSQLError.wrongVersion(version ?? 0)
        }
        if node == 0 { try await register() }
        try await readApps()
        // A count that takes too long must not keep the outbox closed; each heartbeat repeats it.
        try? await countPushes()
        isOpen = true
        beatLater()
        pollLater()
    }

    /// Schedules an attempt to open the outbox, and further attempts until it succeeds.
    func retryOpening(after delay: Duration) {
        loop.schedule(after: delay) { [weak self] in
            guard let self else { return }
            let next = min(delay * 2, Self.longestRetry)
            Task(executorPreference: LoopTaskExecutor(loop)) { await self.tryToOpen(next: next) }
        }
    }

    private func tryToOpen(next delay: Duration) async {
        guard !isClosed else { return }
        do throws(PostgreSQLError) {
            try await open()
            openingProblem = nil
        } catch {
            openingProblem = OutboxError(error, "the outbox in PostgreSQL cannot be used")
            retryOpening(after: delay)
        }
    }

    private func connect(_ purpose: Purpose) async throws(PostgreSQLError) {
        let session: Session
        do throws(PostgreSQLError) {
            session = try await withTaskExecutorPreference(LoopTaskExecutor(connections.connecting)) {
                () async throws(PostgreSQLError) in
                try await Session.connected(to: address, name: "martlet \(options.name) \(purpose)")
            }
        } catch {
            problems[purpose] = error
            throw error
        }
        // The outbox may have been closed meanwhile; that closed only the connections that existed.
        guard !isClosed else { throw .disconnected("the outbox is closed") }
        let time = options.statementTime * purpose.timeoutFactor
        let link: PipelinedConnection
        do throws(TransportError) {
            link = try PipelinedConnection(session, on: loop, answerTime: time + Self.margin)
        } catch {
            throw .disconnected("\(error)")
        }
        link.onEnd = { [weak self] error in self?.assumeIsolated { $0.lost(purpose, error) } }
        connections.links[purpose] = link
        let milliseconds = max(1, Int64(time / .milliseconds(1)))
        link.ask("SELECT set_config('statement_timeout', $1, false)", [.text("\(milliseconds)")]) { _ in }
        endLostProcess(of: purpose, over: link)
        if purpose == .watching {
            link.onNotice = { [weak self] in self?.assumeIsolated { $0.poll() } }
            link.ask("LISTEN martlet", []) { _ in }
        }
        if purpose == .delivering, node != 0 {
            lostClaimsUntil = .now + .seconds(120)
            releaseLostClaims()
        }
    }

    /// Terminates the server's process of the previous, lost connection, and waits up to a second for its end.
    ///
    /// A server that hung still executes the statements that it had received. Otherwise an old settlement could undo a
    /// claim that was made since.
    private func endLostProcess(of purpose: Purpose, over link: PipelinedConnection) {
        guard let process = lostProcesses.removeValue(forKey: purpose), process != 0 else { return }
        link.ask(
            """
            SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
            WHERE pid = $1 AND usename = current_user AND application_name = current_setting('application_name')
            """,
            [.integer(process)]
        ) { _ in }
    }

    /// Releases the pushes of claims whose results were lost with their connection.
    ///
    /// Does nothing while a claim is under way, as the pushes of that claim are not known yet. The server may notice
    /// the lost connection late, and finish a claim, so the release is repeated for two minutes.
    func releaseLostClaims() {
        guard claimsUnderWay == 0, ContinuousClock.now < lostClaimsUntil, let link = connections.links[.delivering]
        else { return }
        let known = held.map { Optional($0) }
        link.ask("SELECT martlet.release($1, $2, false)", [.integer(node), .integers(known)]) { _ in }
    }

    private func lost(_ purpose: Purpose, _ error: PostgreSQLError) {
        guard let link = connections.links.removeValue(forKey: purpose) else { return }
        lostProcesses[purpose] = link.serverProcess
        problems[purpose] = error
        guard isOpen else { return }
        reconnect(purpose)
        if purpose != .maintaining {
            newsOut.yield(.unreachable(OutboxError(error, "the outbox in PostgreSQL cannot be used")))
        }
        // These statements read a few rows: a server that does not answer them is taken to hang.
        guard purpose == .watching, error.kind == .noAnswer else { return }
        for link in Array(connections.links.values) { link.close(error) }
    }

    private func reconnect(_ purpose: Purpose) {
        loop.schedule(after: Self.reconnectTime) { [weak self] in
            guard let self else { return }
            Task(executorPreference: LoopTaskExecutor(loop)) { await self.tryToReconnect(purpose) }
        }
    }

    private func tryToReconnect(_ purpose: Purpose) async {
        guard !isClosed, connections.links[purpose] == nil else { return }
        do throws(PostgreSQLError) {
            try await connect(purpose)
        } catch {
            reconnect(purpose)
        }
    }

    func disconnect() {
        isClosed = true
        let open = connections.links.values
        connections.links = [:]
        for link in open { link.close() }
        newsOut.finish()
    }
}

extension PostgreSQLError.Kind {
    /// Whether opening may succeed later without a change of the configuration or of the tables.
    var mayPass: Bool {
        switch self {
        case .disconnected, .noAnswer, .unavailable, .conflict, .full: true
        case .corrupt, .undefined, .other: false
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

extension PostgreSQLError {
    fileprivate static func wrongVersion(_ version: Int64) -> PostgreSQLError {
        let known = Schema.migrations.count
        return .wrongTables(
            version < known
                ? "its tables have version \(version) and not \(known): run martlet relay migrate"
                : "its tables have version \(version), this program knows those up to \(known): use a newer one"
        )
    }
}

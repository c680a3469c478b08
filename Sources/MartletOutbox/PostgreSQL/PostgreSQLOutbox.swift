// SPDX-License-Identifier: Apache-2.0

internal import MartletPostgreSQL
internal import MartletTransport

/// An outbox of several machines: a PostgreSQL database that their relays share.
///
/// The rules between the relays are implemented in functions of the database (``OutboxSchema``). This actor calls them,
/// many pushes at a time, over five pipelined connections: one accepts pushes, one claims them and stores their
/// outcomes, one changes installations, one runs short statements, and one runs the statements that may take long. Each
/// relay is a node with a lease, which it renews. The claims of a node are its own until its lease expires; then the
/// first node that notices releases them and marks the pushes as possibly sent.
package actor PostgreSQLOutbox: OutboxStore, SharedOutbox {
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
        /// Whether a database with sealed values may be opened; false by default.
        ///
        /// A relay without keys would send pushes to sealed tokens.
        package var isSealed: Bool

        /// Creates options, with a default for each.
        package init(
            limit: Int = 10_000_000,
            lease: Duration = .seconds(15),
            name: String = "relay",
            statementTime: Duration = .seconds(3),
            retriesOpening: Bool = false,
            isSealed: Bool = false
        ) {
            self.limit = limit
            self.lease = lease
            self.name = name
            self.statementTime = statementTime
            self.retriesOpening = retriesOpening
            self.isSealed = isSealed
        }
    }

    /// The time before the first retry of opening; it doubles up to ``longestRetry``.
    private static let firstRetry = Duration.milliseconds(250)
    private static let longestRetry = Duration.seconds(2)

    nonisolated let loop: EventLoop
    let connections: DatabaseConnections
    let apps: AppNumbers
    let membership: NodeMembership
    /// The executor of the actor, required by `Actor`.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let options: Options
    var accepting = StatementBatcher<AcceptPiece>()
    var settling = StatementBatcher<SettlePiece>()
    var progress = ClaimProgress()
    var polls = PollSchedule()
    var backlogCount = BacklogCount()
    package var measures = OutboxMeasures()

    package nonisolated let events: AsyncStream<OutboxEvent>
    nonisolated let eventsOut: AsyncStream<OutboxEvent>.Continuation
    package nonisolated var fleet: any OutboxFleet { membership }
    package nonisolated var shared: (any SharedOutbox)? { self }
    package nonisolated var localFile: (any OutboxFile)? { nil }
    package nonisolated var records: any OutboxRecords { PostgreSQLRecords(connections: connections, apps: apps) }
    package nonisolated var installations: any InstallationStore {
        PostgreSQLInstallations(connections: connections, apps: apps)
    }
    package nonisolated var jobs: any JobStore { PostgreSQLJobs(outbox: self) }
    package nonisolated var surfaces: any SurfaceStore { PostgreSQLSurfaces(outbox: self) }

    /// Connects to a database with tables of this version.
    ///
    /// - Parameters:
    ///   - address: A connection string of libpq, `postgresql://…` or `host=… dbname=…`, with any number of hosts.
    ///   - options: The options.
    /// - Throws: ``OutboxError`` of kind `.unavailable` or `.unreachable`, with advice.
    package init(address: String, options: Options = Options()) async throws(OutboxError) {
        self.options = options
        (events, eventsOut) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(10_000))
        do {
            connections = try DatabaseConnections(to: address, options: options)
        } catch {
            throw OutboxError(.unavailable, "\(error)")
        }
        loop = connections.loop
        apps = AppNumbers(connections)
        membership = NodeMembership(connections, apps, options: options)
        do throws(PostgreSQLError) {
            try await open()
        } catch {
            let problem = OutboxError(error)
            guard options.retriesOpening, error.kind.mayPass else {
                await connections.close()
                eventsOut.finish()
                throw problem
            }
            await connections.recordOpening(problem)
            retryOpening(after: Self.firstRetry)
        }
    }

    /// Opens the connections and registers this node.
    private func open() async throws(PostgreSQLError) {
        try await connections.open { [weak self] event in self?.assumeIsolated { $0.handle(event) } }
        try await membership.register()
        try await apps.load()
        // A count that takes too long must not keep the outbox closed; each heartbeat repeats it.
        try? await countPushes()
        await connections.recordOpening(nil)
        await connections.checkNotifications()
        scheduleHeartbeat()
        schedulePoll()
    }

    /// Schedules an attempt to open the outbox, and further attempts until it succeeds.
    private func retryOpening(after delay: Duration) {
        loop.schedule(after: delay) { [weak self] in
            guard let self else { return }
            let next = min(delay * 2, Self.longestRetry)
            Task(executorPreference: LoopTaskExecutor(loop)) { await self.tryToOpen(next: next) }
        }
    }

    private func tryToOpen(next delay: Duration) async {
        guard await !connections.isClosed else { return }
        do throws(PostgreSQLError) {
            try await open()
        } catch {
            await connections.recordOpening(OutboxError(error))
            retryOpening(after: delay)
        }
    }

    package func close(isInOrder: Bool) async {
        guard await connections.beginClosing() else { return }
        await membership.leave(isInOrder: isInOrder)
        await connections.close()
        eventsOut.finish()
    }
}

internal import MartletCore
internal import MartletPostgreSQL
internal import MartletTransport

/// Heartbeats of this node, and polling for pushes that other nodes and back ends have stored.
extension PostgreSQLOutbox {
    /// The schedule of polls: the interval, and whether a poll searches all times or only new ones.
    struct Watch {
        /// The time for which this node polls often after it had work.
        private static let busyTime = Duration.seconds(1)
        private static let busyInterval = Duration.milliseconds(100)
        private static let idleInterval = Duration.seconds(1)
        /// The minimum interval between complete polls, which find pushes that became visible very late.
        private static let thoroughInterval = Duration.seconds(5)
        private static let thoroughShare = 20

        private var lastWork = ContinuousClock.now
        private var nextThorough = ContinuousClock.now
        /// Whether the database knows that this node is idle, so that others notify it of new pushes.
        var isKnownToRest = false
        var isPolling = false

        mutating func noteWork() { lastWork = ContinuousClock.now }

        /// Whether there has been no work for ``busyTime``.
        var isResting: Bool { ContinuousClock.now - lastWork > Watch.busyTime }

        var interval: Duration { isKnownToRest && isResting ? Watch.idleInterval : Watch.busyInterval }

        /// Whether the next poll searches all times and not only new ones.
        var isThorough: Bool { ContinuousClock.now >= nextThorough }

        mutating func looked(thoroughlyFor time: Duration) {
            nextThorough = ContinuousClock.now + max(Watch.thoroughInterval, time * Watch.thoroughShare)
        }
    }

    private static let maximumQueues = 4_096

    // MARK: New pushes

    func pollLater() {
        loop.schedule(after: watch.interval) { [weak self] in
            self?.assumeIsolated {
                $0.poll()
                $0.pollLater()
            }
        }
    }

    /// Polls for due pushes in the lanes that this node delivers.
    func poll() {
        guard !watch.isPolling, !isClosed, !watermarks.isEmpty else { return }
        watch.isPolling = true
        Task {
            try? await lookForArrivals()
            watch.isPolling = false
        }
    }

    private func lookForArrivals() async throws(OutboxError) {
        let isThorough = watch.isThorough
        let start = ContinuousClock.now
        let queues = watermarks.keys.prefix(Self.maximumQueues).map { key in
            (key: key, from: isThorough ? .min : watermarks[key]?.startOfLook(at: start) ?? .min)
        }
        let apps = queues.map { number(ofKnown: $0.key.lane.app) ?? 0 }
        let places = try await inquire(
            isThorough ? .maintaining : .watching,
            """
            SELECT place FROM martlet.arrived($1, $2, $3, $4, martlet.milliseconds(clock_timestamp()))
            """,
            [
                .integers(apps), .flags(queues.map(\.key.lane.environment.isProduction)),
                .integers(queues.map { Int64($0.key.urgency.rawValue) }), .integers(queues.map(\.from)),
            ]
        ) { rows in rows.all.map { Int($0.integer(at: 0)) - 1 } }
        if isThorough { watch.looked(thoroughlyFor: ContinuousClock.now - start) }
        for place in places where queues.indices.contains(place) {
            let key = queues[place].key
            if isThorough { watermarks[key]?.startOver() } else { watermarks[key]?.expectStragglers() }
            newsOut.yield(.arrived(key.lane, key.urgency))
        }
    }

    // MARK: Nodes

    func register() async throws(PostgreSQLError) {
        let parameters: [Parameter] = [
            .text(options.name), .text(MartletVersion.current), .integer(options.lease.components.seconds),
        ]
        node = try await ask(.maintaining, "SELECT martlet.register($1, $2, $3)", parameters) {
            $0.first?.integer(at: 0) ?? 0
        }
    }

    func beatLater() {
        loop.schedule(after: options.lease / 3) { [weak self] in
            guard let self else { return }
            // On the event loop from the start: a lease must not expire because the program's threads are busy.
            Task(executorPreference: LoopTaskExecutor(loop)) { await self.beat() }
        }
    }

    private func beat() async {
        guard !isClosed else { return }
        defer { beatLater() }
        let isResting = watch.isResting
        let asked = node
        let parameters: [Parameter] = [
            .integer(asked), .integer(options.lease.components.seconds), .flag(isResting), .text(facts),
        ]
        do throws(PostgreSQLError) {
            let state = try await ask(.maintaining, "SELECT * FROM martlet.beat($1, $2, $3, $4)", parameters) { rows in
                rows.first.map(NodeState.init)
            }
            guard let state else { return }
            watch.isKnownToRest = isResting
            releaseLostClaims()
            // The released pushes of a missing node were due in the past.
            if state.released > 0 { watermarks = watermarks.mapValues { _ in Watermark() } }
            if state.isToDrain { newsOut.yield(.drainAsked) }
            newsOut.yield(.fleet(nodes: state.nodes, leads: state.leads))
            if !state.isAlive { try await registerAgain(insteadOf: asked) }
            if ContinuousClock.now >= nextCount { try await countPushes() }
        } catch {
            // The next heartbeat follows in any case; the lease continues until it ends.
            return
        }
    }

    /// Registers this node under a new number, after other nodes deleted it and took over its claims.
    ///
    /// Does nothing if it has another number already. Concurrent callers wait for one registration.
    ///
    /// - Parameter lost: The number that no longer exists in the database.
    /// - Throws: The error of the database; the next claim or heartbeat tries again.
    func registerAgain(insteadOf lost: Int64) async throws(PostgreSQLError) {
        guard node == lost else { return }
        if let registration { return try await registration.value.get() }
        // Reported before new claims can succeed, because the receiver drops all pushes that it holds.
        newsOut.yield(.claimsLost)
        held = []
        let task = Task(executorPreference: LoopTaskExecutor(loop)) { await self.registerFromStart() }
        registration = task
        try await task.value.get()
    }

    private func registerFromStart() async -> Result<Void, PostgreSQLError> {
        defer { registration = nil }
        do throws(PostgreSQLError) {
            try await register()
        } catch {
            return .failure(error)
        }
        watermarks = watermarks.mapValues { _ in Watermark() }
        return .success(())
    }

    /// The state of this node in the database.
    private struct NodeState: Sendable {
        var isAlive: Bool
        var isToDrain: Bool
        var nodes: Int
        var leads: Bool
        var released: Int64

        init(_ row: Row) {
            isAlive = row.flag(at: 0)
            isToDrain = row.flag(at: 1)
            nodes = Int(row.integer(at: 2))
            leads = row.flag(at: 3)
            released = row.integer(at: 4)
        }
    }
}

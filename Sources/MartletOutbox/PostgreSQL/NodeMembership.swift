// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL
internal import MartletTransport

/// The registration of this process as a node of the database, which heartbeats renew, and the data that nodes share
/// besides pushes.
///
/// It runs on the event loop of its outbox.
actor NodeMembership: OutboxFleet {
    /// The state of this node in the database after a heartbeat.
    struct Heartbeat: Sendable {
        /// The number of this node when the heartbeat was sent.
        var node: Int64
        /// Whether the node is still registered; other nodes may have deleted it after its lease expired.
        var isRegistered: Bool
        var isToDrain: Bool
        var nodes: Int
        var isLeader: Bool
        /// The number of pushes of missing nodes that the heartbeat released.
        var releasedPushes: Int64

        init(_ row: Row, of node: Int64) {
            self.node = node
            isRegistered = row.flag(at: 0)
            isToDrain = row.flag(at: 1)
            nodes = Int(row.integer(at: 2))
            isLeader = row.flag(at: 3)
            releasedPushes = row.integer(at: 4)
        }
    }

    private let connections: DatabaseConnections
    private let apps: AppNumbers
    /// The executor of the actor, required by `Actor`.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe connections.unownedExecutor }

    private let name: String
    /// The time for which the node keeps its claims without heartbeats, in seconds.
    private let lease: Int64
    /// Whether the node may register in a sealed outbox.
    private let hasKeys: Bool
    /// The number of this node, 0 before registration; it gets another after its lease has expired and it was deleted.
    private(set) var number: Int64 = 0
    /// The data that this node publishes for other nodes, as JSON.
    private var publishedData = "{}"
    /// The registration under way, after other nodes took over this node's claims.
    private var registration: Task<Result<Void, PostgreSQLError>, Never>?

    /// Creates a membership without a registration.
    init(_ connections: DatabaseConnections, _ apps: AppNumbers, options: PostgreSQLOutbox.Options) {
        self.connections = connections
        self.apps = apps
        name = options.name
        lease = options.lease.components.seconds
        hasKeys = options.isSealed
    }

    // MARK: Registration

    /// Registers this node, unless it is registered.
    func register() async throws(PostgreSQLError) {
        guard number == 0 else { return }
        number = try await newNumber()
    }

    private func newNumber() async throws(PostgreSQLError) -> Int64 {
        let parameters: [Parameter] = [
            .text(name), .text(MartletVersion.current), .integer(lease), .flag(hasKeys),
        ]
        return try await connections.run(.maintaining, "SELECT martlet.register($1, $2, $3, $4)", parameters) {
            $0.first?.integer(at: 0) ?? 0
        }
    }

    /// Registers this node under a new number, after other nodes deleted it and took over its claims.
    ///
    /// Does nothing if it has another number already. Concurrent callers wait for one registration.
    ///
    /// - Parameters:
    ///   - lost: The number that no longer exists in the database.
    ///   - onLoss: A callback before the registration, after which new claims can succeed.
    /// - Throws: The error of the database; the next claim or heartbeat tries again.
    func registerAgain(insteadOf lost: Int64, _ onLoss: @Sendable () -> Void) async throws(PostgreSQLError) {
        guard number == lost else { return }
        if let registration { return try await registration.value.get() }
        onLoss()
        let task = Task(executorPreference: LoopTaskExecutor(connections.loop)) { await self.replaceNumber() }
        registration = task
        try await task.value.get()
    }

    private func replaceNumber() async -> Result<Void, PostgreSQLError> {
        defer { registration = nil }
        do throws(PostgreSQLError) {
            number = try await newNumber()
        } catch {
            return .failure(error)
        }
        return .success(())
    }

    /// Renews the lease and publishes the data of this node; may release the claims of other nodes.
    func renew(isIdle: Bool) async throws(PostgreSQLError) -> Heartbeat? {
        let node = number
        return try await connections.run(
            .maintaining,
            "SELECT * FROM martlet.beat($1, $2, $3, $4)",
            [.integer(node), .integer(lease), .flag(isIdle), .text(publishedData)]
        ) { rows in rows.first.map { Heartbeat($0, of: node) } }
    }

    /// Ends the registration; if this fails, the lease expires.
    func leave(isInOrder: Bool) async {
        let parameters: [Parameter] = [.integer(number), .flag(!isInOrder)]
        try? await connections.run(.watching, "SELECT martlet.leave($1, $2)", parameters) { _ in }
    }

    // MARK: Shared data

    func nodes() async throws(OutboxError) -> [OutboxNode] {
        let (own, lease) = (number, lease * 1_000)
        return try await connections.query(
            .watching,
            """
            SELECT number, name, version, martlet.milliseconds(started_at),
                martlet.milliseconds(clock_timestamp()) - martlet.milliseconds(lease_until), is_to_drain, published_data
            FROM martlet.node ORDER BY number
            """
        ) { rows in
            rows.all.map { row in
                let (silence, isTooLong) = row.integer(at: 4).addingReportingOverflow(lease)
                return OutboxNode(
                    number: row.integer(at: 0),
                    name: row.text(at: 1),
                    version: row.text(at: 2),
                    startedAt: row.integer(at: 3),
                    silence: isTooLong ? .max : max(0, silence),
                    isToDrain: row.flag(at: 5),
                    isOwn: row.integer(at: 0) == own,
                    publishedData: row.text(at: 6)
                )
            }
        }
    }

    func requestDrain(_ number: Int64) async throws(OutboxError) -> Bool {
        try await connections.query(
            .watching,
            "UPDATE martlet.node SET is_to_drain = true WHERE number = $1 RETURNING 1",
            [.integer(number)]
        ) { $0.count > 0 }
    }

    func publish(_ data: String) {
        publishedData = data
    }

    func ended(among pushes: [(app: String, id: APNsID)]) async throws(OutboxError) -> [PushStatus] {
        var apps: [Int64] = []
        for push in pushes { apps.append(try await self.apps.number(of: push.app)) }
        let names = pushes.map(\.app)
        return try await connections.query(
            .watching,
            """
            SELECT g.place, k.* FROM unnest($1, $2) WITH ORDINALITY AS g (app, id, place)
            CROSS JOIN LATERAL martlet.known(g.app, g.id) k WHERE k.state IS NOT NULL
            """,
            [.integers(apps), .identifiers(pushes.map(\.id.bytes))]
        ) { rows in
            rows.all.compactMap { PushStatus($0, from: 1, app: names[Int($0.integer(at: 0)) - 1]) }
        }
    }

    func time() async throws(OutboxError) -> Int64 {
        try await connections.query(.watching, "SELECT martlet.milliseconds(clock_timestamp()) / 1000") { rows in
            rows.first?.integer(at: 0) ?? 0
        }
    }

    func sharedToken(of key: SharedToken.Key) async throws(OutboxError) -> SharedToken? {
        try await connections.query(
            .watching,
            "SELECT token, issued_at FROM martlet.provider_token WHERE team_id = $1 AND key_id = $2",
            [.text(key.teamID), .text(key.name)]
        ) { $0.first.map { SharedToken(text: Array($0.text(at: 0).utf8), issuedAt: $0.integer(at: 1)) } }
    }

    func share(
        _ token: SharedToken,
        of key: SharedToken.Key,
        inPlaceOf old: Int64?
    ) async throws(OutboxError) -> SharedToken {
        try await connections.query(
            .watching,
            """
            INSERT INTO martlet.provider_token AS t VALUES ($1, $2, $3, $4) ON CONFLICT (team_id, key_id)
            DO UPDATE SET token = excluded.token, issued_at = excluded.issued_at WHERE t.issued_at = $5
            """,
            [
                .text(key.teamID), .text(key.name), .text(String(decoding: token.text, as: UTF8.self)),
                .integer(token.issuedAt), .integer(old),
            ]
        ) { _ in }
        return try await sharedToken(of: key) ?? token
    }
}

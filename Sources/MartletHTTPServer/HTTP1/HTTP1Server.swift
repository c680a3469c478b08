// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The connections of an ``HTTP1Listener`` and the tasks that handle their requests.
actor HTTP1Server {
    /// The interval between checks for timed-out clients.
    private static let timeoutInterval = Duration.seconds(1)

    /// The maximum number of requests in one turn of the loop that have arrived with the ones before them.
    static let pipelinedRequestsPerTurn = 16

    /// A connection and the task that handles its current request.
    private struct Client {
        let connection: HTTP1Connection
        /// The client's address without its port.
        let host: String
        /// Whether the client has shown valid credentials.
        var isAuthenticated = false
        var task: Task<Void, Never>?
        /// The number of requests so far, so that a late response is not written for another request.
        var request = 0
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated let port: UInt16

    /// The socket that is listened on; nil once the server stops, so that further clients are refused.
    private var listeningSocket: ListeningSocket<Int>?
    private let limits: HTTP1Listener.Limits
    private let admission: @Sendable (HTTPRequest) -> HTTP1Admission
    private let onFull: @Sendable () -> Void
    private let onExcess: @Sendable () -> Void
    private var timeoutTimer: LoopTimer?
    private var clients: [Int: Client] = [:]
    private var nextClient = 0
    private var bodyBytes = 0
    /// The memory of heads, of further requests and of unread responses.
    private var memory: HeldMemory
    /// The connections whose next request has arrived with the last one, in the order of their turns.
    private var waiting: [Int] = []
    private var isTurnScheduled = false
    private var isClosing = false
    private var isStopping = false
    private var whenClosed: [CheckedContinuation<Void, Never>] = []
    private var date = (second: Int64(-1), text: "")

    /// Binds the address; connections are accepted after ``start()``.
    init(
        host: String,
        port: UInt16,
        limits: HTTP1Listener.Limits,
        admission: @escaping @Sendable (HTTPRequest) -> HTTP1Admission,
        onFull: @escaping @Sendable () -> Void,
        onExcess: @escaping @Sendable () -> Void
    ) throws(TransportError) {
        loop = try EventLoop()
        let socket: ListeningSocket<Int>
        do throws(TransportError) {
            socket = try ListeningSocket<Int>(host: host, port: port, limit: limits.connections, on: loop)
        } catch {
            loop.shutdown()
            throw error
        }
        self.port = socket.port
        listeningSocket = socket
        self.limits = limits
        memory = HeldMemory(limit: limits.totalHeldBytes)
        self.admission = admission
        self.onFull = onFull
        self.onExcess = onExcess
    }

    /// Starts accepting connections.
    ///
    /// - Throws: ``TransportError`` of kind `.system` when the socket cannot be watched.
    func start() throws(TransportError) {
        try listeningSocket?.start(
            ListeningSocket.Connections(
                count: { [unowned self] in clients.count },
                idle: { [unowned self] in idleConnections },
                isIdle: { [unowned self] id in clients[id]?.connection.idleSince != nil },
                close: { [unowned self] id in clients[id]?.connection.close() },
                onFull: onFull,
                serve: { [unowned self] socket, peer in assumeIsolated { $0.serve(socket, from: peer) } }
            )
        )
        schedulePatrol()
    }

    /// Stops accepting, answers the requests that are being handled with 503, and closes all connections.
    func stop() {
        guard !isStopping else { return }
        isStopping = true
        closeSocket()
        timeoutTimer?.cancel()
        for client in clients.values {
            client.task?.cancel()
            client.connection.closeGracefully()
            // The response to a request that is being handled.
            client.connection.answer(APIProblem(503, "the server is stopping").response)
            client.connection.close()
        }
        allClosed()
        loop.shutdown()
    }

    /// Stops accepting, and closes each connection when its request has been answered, at the latest after `limit`.
    func stop(within limit: Duration) async {
        guard !isStopping else { return }
        listeningSocket?.acceptWaiting()
        isClosing = true
        closeSocket()
        for client in clients.values { client.connection.closeGracefully() }
        if !clients.isEmpty {
            let timer = loop.schedule(after: limit) { [weak self] in self?.assumeIsolated { $0.allClosed() } }
            await withCheckedContinuation { whenClosed.append($0) }
            timer.cancel()
        }
        stop()
    }

    private func closeSocket() {
        listeningSocket?.stop()
        listeningSocket = nil
    }

    private func allClosed() {
        for continuation in whenClosed { continuation.resume() }
        whenClosed = []
    }

    // MARK: Connections

    private var idleConnections: [ConnectionSlots<Int>.Idle] {
        clients.compactMap { id, client in
            client.connection.idleSince.map { ConnectionSlots.Idle(id: id, host: client.host, since: $0) }
        }
    }

    private func serve(_ socket: Reference<Socket>, from peer: SocketAddress) {
        let id = nextClient
        nextClient += 1
        guard
            let connection = try? HTTP1Connection(
                socket,
                from: peer,
                limits: limits,
                clock: { [weak self] in self?.assumeIsolated { $0.dateText() } ?? "" },
                on: loop
            )
        else { return }
        clients[id] = Client(connection: connection, host: peer.host)
        let admission = admission
        connection.start(
            for: HTTP1Connection.Owner(
                admit: { [weak self] request in
                    let decision = admission(request)
                    if decision.isAuthenticated { self?.assumeIsolated { $0.authenticated(id) } }
                    return decision
                },
                reserve: { [weak self] count in self?.assumeIsolated { $0.reserve(count, for: id) } ?? false },
                release: { [weak self] count in self?.assumeIsolated { $0.bodyBytes -= count } },
                hold: { [weak self] change in self?.assumeIsolated { $0.hold(change, for: id) } },
                waitsForTurn: { [weak self] in self?.assumeIsolated { $0.addWaiting(id) } },
                received: { [weak self] request, handler, isStreamed in
                    self?.assumeIsolated { $0.handle(request, handler, isStreamed: isStreamed, of: id) }
                },
                clientDisconnected: { [weak self] in self?.assumeIsolated { $0.clients[id]?.task?.cancel() } },
                answered: { [weak self] in self?.assumeIsolated { $0.clients[id]?.task = nil } },
                closed: { [weak self] in self?.assumeIsolated { $0.closed(id) } }
            )
        )
    }

    private func closed(_ id: Int) {
        clients.removeValue(forKey: id)?.task?.cancel()
        listeningSocket?.connectionClosed()
        if isClosing, clients.isEmpty { allClosed() }
    }

    /// Reserves memory for a piece of a client's body.
    ///
    /// When the limit is reached, longer bodies that are still arriving are rejected to free memory.
    private func reserve(_ count: Int, for id: Int) -> Bool {
        guard let connection = clients[id]?.connection else { return false }
        while bodyBytes + count > limits.totalBodyBytes {
            let longest = clients.values.map(\.connection).max { $0.arrivedByteCount < $1.arrivedByteCount }
            guard let longest, longest.arrivedByteCount > connection.body.count + count else { return false }
            longest.refuseForLackOfMemory()
        }
        bodyBytes += count
        return true
    }

    /// Counts bytes of heads, of further requests and of unread responses.
    private func hold(_ change: Int, for id: Int) {
        memory.add(change, isAuthenticated: clients[id]?.isAuthenticated ?? false)
        if memory.excess != nil { scheduleTurn() }
    }

    /// Records that a client has shown valid credentials.
    private func authenticated(_ id: Int) {
        guard let client = clients[id], !client.isAuthenticated else { return }
        let held = client.connection.turns.heldByteCount
        memory.add(-held, isAuthenticated: false)
        memory.add(held, isAuthenticated: true)
        clients[id]?.isAuthenticated = true
    }

    private func addWaiting(_ id: Int) {
        waiting.append(id)
        scheduleTurn()
    }

    /// Goes on in the next turn, after the input of other clients.
    private func scheduleTurn() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        loop.atNextTurn { [weak self] in self?.assumeIsolated { $0.takeTurn() } }
    }

    /// Handles some of the waiting requests, and closes connections that hold too much memory.
    private func takeTurn() {
        isTurnScheduled = false
        let next = Array(waiting.prefix(HTTP1Server.pipelinedRequestsPerTurn))
        waiting.removeFirst(next.count)
        for id in next { clients[id]?.connection.takeTurn() }
        if memory.excess != nil { onExcess() }
        while let excess = memory.excess, closeLargest(of: excess) {}
        if !waiting.isEmpty { scheduleTurn() }
    }

    /// Closes the connection that holds the most memory; returns false when none holds any.
    private func closeLargest(of excess: HeldMemory.Excess) -> Bool {
        let candidates = clients.values.filter { excess == .all || !$0.isAuthenticated }.map(\.connection)
        let largest = candidates.max { $0.turns.heldByteCount < $1.turns.heldByteCount }
        guard let largest, largest.turns.heldByteCount > 0 else { return false }
        largest.close()
        return true
    }

    private func schedulePatrol() {
        timeoutTimer = loop.schedule(after: HTTP1Server.timeoutInterval) { [weak self] in
            self?.assumeIsolated { server in
                for client in server.clients.values { client.connection.enforceTimeouts() }
                server.schedulePatrol()
            }
        }
    }

    // MARK: Requests

    private func handle(
        _ request: HTTPRequest,
        _ handler: @escaping HTTP1Listener.Handler,
        isStreamed: Bool,
        of id: Int
    ) {
        clients[id]?.request += 1
        guard let number = clients[id]?.request else { return }
        let body = HTTP1Body { [weak self] () async throws(HTTP1Body.Broken) in
            guard isStreamed else { return nil }
            guard let self else { throw HTTP1Body.Broken() }
            return try await self.readBody(id, number)
        }
        clients[id]?.task = Task { [weak self] in
            let answer = await handler(request, body)
            switch answer {
            case .whole(let response):
                // Not on the loop: compressing a large body takes long.
                let coded = await response.coded(for: request)
                await self?.answer(id, number, coded)
            case .pieces(let fields, let pieces):
                guard await self?.begin(id, number, fields.unbuffered) ?? false else { return }
                if fields["content-type"] == ServerSentEvent.contentType {
                    guard await self?.write(id, number, ServerSentEvent.opening) ?? false else { return }
                }
                for await piece in pieces {
                    guard await self?.write(id, number, piece) ?? false else { return }
                }
                await self?.finish(id, number)
            }
        }
    }

    /// Returns the connection of a request; nil when it is closed or handles a later request.
    private func connection(_ id: Int, _ number: Int) -> HTTP1Connection? {
        guard let client = clients[id], client.request == number else { return nil }
        return client.connection
    }

    private func readBody(_ id: Int, _ number: Int) async throws(HTTP1Body.Broken) -> [UInt8]? {
        guard let connection = connection(id, number) else { throw HTTP1Body.Broken() }
        return try await withCheckedContinuation { continuation in
            connection.readBody { continuation.resume(returning: $0) }
        }.get()
    }

    private func answer(_ id: Int, _ number: Int, _ response: HTTPResponse) {
        connection(id, number)?.answer(response)
    }

    private func begin(_ id: Int, _ number: Int, _ fields: HTTPFields) -> Bool {
        connection(id, number)?.begin(fields)
        return connection(id, number) != nil
    }

    /// Writes a piece and returns when there is capacity for another; returns false when the client has disconnected.
    private func write(_ id: Int, _ number: Int, _ piece: [UInt8]) async -> Bool {
        guard let connection = connection(id, number) else { return false }
        await withCheckedContinuation { continuation in connection.write(piece) { continuation.resume() } }
        return self.connection(id, number) != nil
    }

    private func finish(_ id: Int, _ number: Int) {
        connection(id, number)?.finish()
    }

    /// Returns the value of the `date` field, formatted once per second.
    private func dateText() -> String {
        let second = Int64(Date().timeIntervalSince1970)
        if second != date.second { date = (second, HTTPDate.text(secondsSince1970: second)) }
        return date.text
    }
}

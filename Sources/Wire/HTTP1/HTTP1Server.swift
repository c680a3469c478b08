#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The connections of an ``HTTP1Listener``, and the requests that its handler is at work on.
actor HTTP1Server {
    /// The time that a listener without descriptors waits before it accepts again.
    private static let pauseWhenExhausted = Duration.milliseconds(100)
    /// The interval between checks for clients that take too long.
    private static let patrolInterval = Duration.seconds(1)

    /// A connection, with the request that is being handled on it.
    private struct Client {
        let connection: HTTP1Connection
        var task: Task<Void, Never>?
        /// Counts requests, so that an answer that comes too late reaches no other request.
        var request = 0
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated let port: UInt16

    private let socket: Box<Socket>
    private let limits: HTTP1Listener.Limits
    private let refusal: @Sendable (HTTPRequest) -> HTTPResponse?
    private let handler: @Sendable (HTTPRequest) async -> HTTP1Answer
    private var watcher: SocketWatcher?
    private var patrol: LoopTimer?
    private var clients: [Int: Client] = [:]
    private var nextClient = 0
    /// Connections in the order in which they last did something, for ``makeRoom()``.
    private var idle = IdleQueue<Int>()
    private var bodyBytes = 0
    private var isStopping = false
    private var date = (second: Int64(-1), text: "")

    /// Binds the address; connections are accepted after ``start()``.
    init(
        host: String,
        port: UInt16,
        limits: HTTP1Listener.Limits,
        refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse?,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTP1Answer
    ) throws(WireError) {
        guard let address = SocketAddress(literal: host, port: port) else {
            throw WireError(.cannotListen, "\(host) is not an address literal such as 127.0.0.1 or ::1")
        }
        let socket = Box(try Socket(for: address))
        try socket.value.listen(on: address)
        self.port = socket.value.localAddress?.port ?? port
        self.socket = socket
        self.limits = limits
        self.refusal = refusal
        self.handler = handler
        loop = try EventLoop()
    }

    /// Begins to accept connections.
    func start() {
        guard !isStopping else { return }
        watcher = try? SocketWatcher(socket.value, on: loop) { [weak self] _ in
            self?.assumeIsolated { $0.acceptWaiting() }
        }
        watcher?.wait(for: .readable)
        schedulePatrol()
    }

    /// Stops accepting, answers the requests that are being handled with 503, and closes all connections.
    func stop() {
        guard !isStopping else { return }
        isStopping = true
        watcher?.close()
        watcher = nil
        patrol?.cancel()
        for client in clients.values {
            client.task?.cancel()
            client.connection.closeInOrder()
            client.connection.answer(.unavailable)
            client.connection.close()
        }
        loop.shutdown()
    }

    // MARK: Connections

    private func acceptWaiting() {
        while let watcher {
            let isFull = clients.count >= limits.connections
            // When every client waits for an answer, further ones wait in the system's queue.
            if isFull, idle.isEmpty { return watcher.wait(for: []) }
            switch socket.value.accept() {
            case .accepted(let socket, let peer):
                if isFull { _ = makeRoom() }
                serve(Box(socket), from: peer)
            case .nobodyWaits: return
            case .exhausted:
                if makeRoom() { continue }
                watcher.wait(for: [])
                loop.schedule(after: HTTP1Server.pauseWhenExhausted) { [weak self] in
                    self?.assumeIsolated { $0.acceptAgain() }
                }
                return
            }
        }
    }

    private func acceptAgain() {
        watcher?.wait(for: .readable)
    }

    /// Closes the connection that has been without a whole request for longest; false when there is none.
    private func makeRoom() -> Bool {
        while let id = idle.popFirst() {
            guard let client = clients[id], client.connection.isExpendable else { continue }
            client.connection.close()
            return true
        }
        return false
    }

    private func serve(_ socket: Box<Socket>, from peer: SocketAddress) {
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
        clients[id] = Client(connection: connection)
        idle.append(id)
        let refusal = refusal
        connection.start(
            for: HTTP1Connection.Owner(
                admit: { refusal($0) },
                reserve: { [weak self] count in self?.assumeIsolated { $0.reserve(count) } ?? false },
                release: { [weak self] count in self?.assumeIsolated { $0.bodyBytes -= count } },
                received: { [weak self] request in self?.assumeIsolated { $0.handle(request, of: id) } },
                clientLeft: { [weak self] in self?.assumeIsolated { $0.clients[id]?.task?.cancel() } },
                answered: { [weak self] in self?.assumeIsolated { $0.answered(id) } },
                closed: { [weak self] in self?.assumeIsolated { $0.closed(id) } }
            )
        )
    }

    private func answered(_ id: Int) {
        clients[id]?.task = nil
        idle.append(id)
        acceptAgain()
    }

    private func closed(_ id: Int) {
        clients.removeValue(forKey: id)?.task?.cancel()
        idle.remove(id)
        acceptAgain()
    }

    private func reserve(_ count: Int) -> Bool {
        guard bodyBytes + count <= limits.bodyBytesTogether else { return false }
        bodyBytes += count
        return true
    }

    private func schedulePatrol() {
        patrol = loop.schedule(after: HTTP1Server.patrolInterval) { [weak self] in
            self?.assumeIsolated { server in
                for client in server.clients.values { client.connection.checkTime() }
                server.schedulePatrol()
            }
        }
    }

    // MARK: Requests

    private func handle(_ request: HTTPRequest, of id: Int) {
        idle.remove(id)
        clients[id]?.request += 1
        guard let number = clients[id]?.request else { return }
        let handler = handler
        clients[id]?.task = Task { [weak self] in
            let answer = await handler(request)
            switch answer {
            case .whole(let response): await self?.answer(id, number, response)
            case .pieces(let fields, let pieces):
                guard await self?.begin(id, number, fields) ?? false else { return }
                for await piece in pieces {
                    guard await self?.write(id, number, piece) ?? false else { return }
                }
                await self?.finish(id, number)
            }
        }
    }

    /// The connection of a request that has not been answered and whose client is there.
    private func connection(_ id: Int, _ number: Int) -> HTTP1Connection? {
        guard let client = clients[id], client.request == number else { return nil }
        return client.connection
    }

    private func answer(_ id: Int, _ number: Int, _ response: HTTPResponse) {
        connection(id, number)?.answer(response)
    }

    private func begin(_ id: Int, _ number: Int, _ fields: HTTPFields) -> Bool {
        connection(id, number)?.begin(fields)
        return connection(id, number) != nil
    }

    /// Writes a piece, and returns when there is room for another; false when the client has gone.
    private func write(_ id: Int, _ number: Int, _ piece: [UInt8]) async -> Bool {
        guard let connection = connection(id, number) else { return false }
        await withCheckedContinuation { continuation in connection.write(piece) { continuation.resume() } }
        return self.connection(id, number) != nil
    }

    private func finish(_ id: Int, _ number: Int) {
        connection(id, number)?.finish()
    }

    /// The text of the field `date`, made once a second.
    private func dateText() -> String {
        let second = Int64(Date().timeIntervalSince1970)
        if second != date.second { date = (second, HTTPDate.text(secondsSince1970: second)) }
        return date.text
    }
}

extension HTTPResponse {
    /// The answer to requests that are being handled when the listener stops.
    fileprivate static var unavailable: HTTPResponse {
        HTTPResponse(status: 503, text: "The server is stopping.")
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A server socket that accepts HTTP/2 connections on one address, with TLS or in cleartext; used only on its loop.
package final class HTTP2Listener {
    /// The interval between checks for timed-out clients; one timer serves all connections.
    private static let timeoutCheckInterval = Duration.seconds(1)

    /// The settings of a listener for its connections.
    package struct Configuration: Sendable {
        /// The TLS settings; nil for HTTP/2 in cleartext with prior knowledge (RFC 9113 §3.3).
        package var tls: TLSContext?
        package var limits: HTTP2Limits
        package var timeouts: HTTP2Timeouts
        /// The maximum number of connections.
        ///
        /// For a further connection the server closes one without a request in progress, see ``ConnectionSlots``. When
        /// all have one, further connections wait in the kernel's accept queue.
        package var connections: Int

        package init(
            tls: TLSContext?,
            limits: HTTP2Limits,
            timeouts: HTTP2Timeouts = HTTP2Timeouts(),
            connections: Int = 10_000
        ) {
            self.tls = tls
            self.limits = limits
            self.timeouts = timeouts
            self.connections = connections
        }
    }

    private let loop: EventLoop
    private var configuration: Configuration
    private let onEvent: (HTTP2Connection, HTTP2Connection.Event) -> Void
    private let onExcess: () -> Void
    /// The socket; nil once the listener is closing, so that further clients are refused.
    private var listeningSocket: ListeningSocket<ObjectIdentifier>?
    private var connections: [ObjectIdentifier: HTTP2Connection] = [:]
    private let load = HTTP2ServerLoad()
    private var timeoutCheck: LoopTimer?
    private var isClosingScheduled = false
    private var onDrained: (() -> Void)?

    package let port: UInt16

    /// Binds the address and starts accepting connections.
    ///
    /// - Parameters:
    ///   - host: An address literal, or `localhost` for both loopback addresses.
    ///   - port: The port, or 0 for any free port.
    ///   - configuration: The settings for connections.
    ///   - loop: The event loop of the listener and all connections.
    ///   - admits: Called for each client that connects; returns false to close the connection before the TLS
    ///     handshake.
    ///   - onFull: Called at most once a second while a new client needs the place of another.
    ///   - onExcess: Called when connections are closed because their incomplete requests and unread responses take too
    ///     much memory.
    ///   - onEvent: Called for each event of each connection.
    /// - Throws: ``TransportError`` of kind `.cannotListen` when the address is in use, or
    ///   `.addressNotAvailable` when it is not an address of this machine.
    package init(
        host: String,
        port: UInt16,
        configuration: Configuration,
        on loop: EventLoop,
        admits: @escaping () -> Bool = { true },
        onFull: @escaping () -> Void = {},
        onExcess: @escaping () -> Void = {},
        onEvent: @escaping (HTTP2Connection, HTTP2Connection.Event) -> Void
    ) throws(TransportError) {
        self.loop = loop
        self.configuration = configuration
        self.onEvent = onEvent
        self.onExcess = onExcess
        let socket = try ListeningSocket<ObjectIdentifier>(
            host: host,
            port: port,
            limit: configuration.connections,
            on: loop
        )
        self.port = socket.port
        listeningSocket = socket
        load.onExcess = { [weak self] in self?.scheduleClosing() }
        try socket.start(
            ListeningSocket.Connections(
                count: { [unowned self] in connections.count },
                idle: { [unowned self] in idleConnections },
                isIdle: { [unowned self] id in connections[id]?.idleSince != nil },
                close: { [unowned self] id in
                    connections[id]?.closeForOthers("the connection was closed to accept another client")
                },
                admits: admits,
                onFull: onFull,
                serve: { [unowned self] socket, peer in serve(socket, from: peer) }
            )
        )
    }

    /// Changes the TLS settings of connections that are accepted from now on.
    package func use(_ tls: TLSContext) {
        configuration.tls = tls
    }

    /// Changes the number of streams in the first SETTINGS frame of connections that are accepted from now on.
    package func use(concurrentStreams: UInt32) {
        configuration.limits.concurrentStreams = concurrentStreams
    }

    /// Stops accepting, sends a GOAWAY to every client, and calls `completion` when all connections are closed.
    ///
    /// - Parameters:
    ///   - grace: The time after which connections with open streams are closed.
    ///   - completion: Called once.
    package func close(grace: Duration, completion: @escaping () -> Void) {
        listeningSocket?.stop()
        listeningSocket = nil
        // Keeps the listener alive until all connections are closed, because the caller may release it immediately.
        onDrained = { withExtendedLifetime(self) { completion() } }
        for connection in connections.values { connection.goAway() }
        loop.schedule(after: grace) { [weak self] in
            guard let self else { return }
            for connection in connections.values {
                connection.close(TransportError(.closedLocally, "the server is closing"))
            }
        }
        finishIfDrained()
    }

    private var idleConnections: [ConnectionSlots<ObjectIdentifier>.Idle] {
        connections.compactMap { id, connection in
            connection.idleSince.map { ConnectionSlots.Idle(id: id, host: connection.peerHost, since: $0) }
        }
    }

    private func serve(_ socket: Reference<Socket>, from peer: SocketAddress) {
        // A client that cannot be served is dropped with its socket; other clients are not affected.
        guard
            let connection = try? HTTP2Connection(
                accepting: socket,
                from: peer.description,
                tls: configuration.tls,
                limits: configuration.limits,
                timeouts: configuration.timeouts,
                load: load,
                on: loop
            )
        else { return }
        connections[ObjectIdentifier(connection)] = connection
        scheduleTimeoutCheck()
        connection.start { [weak self, unowned connection] event in
            guard let self else { return }
            if case .closed = event {
                connections[ObjectIdentifier(connection)] = nil
                listeningSocket?.connectionClosed()
            }
            onEvent(connection, event)
            finishIfDrained()
        }
    }

    /// Closes connections in the next turn until their memory is within its limits.
    ///
    /// A connection reports its memory while it writes, so none can be closed at once.
    private func scheduleClosing() {
        guard !isClosingScheduled else { return }
        isClosingScheduled = true
        loop.atNextTurn { [weak self] in
            guard let self else { return }
            isClosingScheduled = false
            guard load.memory.excess != nil else { return }
            onExcess()
            while let excess = load.memory.excess, closeLargest(of: excess) {}
        }
    }

    /// Closes the connection that holds the most memory; returns false when none holds any.
    private func closeLargest(of excess: HeldMemory.Excess) -> Bool {
        let candidates = connections.values.filter { excess == .all || !$0.isAuthenticated }
        guard let largest = candidates.max(by: { $0.heldBytes < $1.heldBytes }), largest.heldBytes > 0 else {
            return false
        }
        let reason = "the client's incomplete requests and unread responses took too much memory"
        largest.closeForOthers(reason, code: .enhanceYourCalm)
        return true
    }

    private func scheduleTimeoutCheck() {
        guard timeoutCheck == nil, !connections.isEmpty else { return }
        timeoutCheck = loop.schedule(after: HTTP2Listener.timeoutCheckInterval) { [weak self] in
            guard let self else { return }
            timeoutCheck = nil
            for connection in connections.values { connection.enforceTimeouts() }
            scheduleTimeoutCheck()
        }
    }

    private func finishIfDrained() {
        guard listeningSocket == nil, connections.isEmpty else { return }
        onDrained.take()?()
    }
}

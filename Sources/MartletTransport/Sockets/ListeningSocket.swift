// SPDX-License-Identifier: Apache-2.0

/// A server socket that accepts connections up to a limit; used only on its loop.
///
/// At the limit, or without file descriptors, it closes an idle connection for each new one, see ``ConnectionSlots``.
/// When no connection is idle, further clients wait in the kernel's accept queue.
package final class ListeningSocket<ID> {
    /// The connections of the server, which owns them.
    package struct Connections {
        let count: () -> Int
        let idle: () -> [ConnectionSlots<ID>.Idle]
        /// Returns whether a connection is still idle.
        let isIdle: (ID) -> Bool
        /// Closes an idle connection for a new one.
        let close: (ID) -> Void
        /// Returns whether a client that connects is served; its connection is closed otherwise.
        let admits: () -> Bool
        /// Called at most once a second while a new client needs the place of another.
        let onFull: () -> Void
        let serve: (Reference<Socket>, SocketAddress) -> Void

        package init(
            count: @escaping () -> Int,
            idle: @escaping () -> [ConnectionSlots<ID>.Idle],
            isIdle: @escaping (ID) -> Bool,
            close: @escaping (ID) -> Void,
            admits: @escaping () -> Bool = { true },
            onFull: @escaping () -> Void,
            serve: @escaping (Reference<Socket>, SocketAddress) -> Void
        ) {
            self.count = count
            self.idle = idle
            self.isIdle = isIdle
            self.close = close
            self.admits = admits
            self.onFull = onFull
            self.serve = serve
        }
    }

    /// The time that a full server waits before it searches for idle connections again.
    private static var pause: Duration { .milliseconds(20) }
    /// The time between two reports that the server is full.
    private static var reportInterval: Duration { .seconds(1) }

    private let socket: Socket
    private let loop: EventLoop
    private var slots: ConnectionSlots<ID>
    private var connections: Connections?
    private var watcher: SocketWatcher?
    private var nextReport = MonotonicTime.zero

    package let port: UInt16

    /// Binds the address; connections are accepted after ``start(_:)``.
    ///
    /// - Parameters:
    ///   - host: An address literal.
    ///   - port: The port, or 0 for any free port.
    ///   - limit: The maximum number of connections.
    ///   - loop: The event loop of the server and its connections.
    /// - Throws: ``TransportError`` of kind `.cannotListen` when the address is in use, or
    ///   `.addressNotAvailable` when it is not an address of this machine.
    package init(host: String, port: UInt16, limit: Int, on loop: EventLoop) throws(TransportError) {
        guard let address = SocketAddress(literal: host, port: port) else {
            throw TransportError(.cannotListen, "\(host) is not an address literal such as 127.0.0.1 or ::1")
        }
        let socket = try Socket(for: address)
        try socket.listen(on: address)
        self.port = socket.localAddress?.port ?? port
        self.socket = socket
        self.loop = loop
        slots = ConnectionSlots(limit: limit)
    }

    /// Starts accepting connections.
    ///
    /// - Throws: ``TransportError`` of kind `.system` when the socket cannot be watched.
    package func start(_ connections: Connections) throws(TransportError) {
        self.connections = connections
        watcher = try SocketWatcher(socket, on: loop) { [unowned self] _ in acceptWaiting() }
        watcher?.wait(for: .readable)
    }

    /// Accepts the connections in the kernel's queue, up to the limit.
    package func acceptWaiting() {
        while let watcher, let connections {
            let isFull = connections.count() >= slots.limit
            let idle = isFull ? takeIdleConnection() : nil
            if isFull, idle == nil { return pauseAccepting(watcher) }
            switch socket.accept() {
            case .accepted(let socket, let peer):
                guard connections.admits() else {
                    if let idle { slots.putBack(idle) }
                    continue
                }
                if let idle { connections.close(idle) }
                connections.serve(Reference(socket), peer)
            case .wouldBlock:
                if let idle { slots.putBack(idle) }
                return
            case .exhausted:
                guard let idle = idle ?? takeIdleConnection() else { return pauseAccepting(watcher) }
                connections.close(idle)
            }
        }
    }

    /// Resumes accepting immediately after a connection has been closed.
    package func connectionClosed() {
        watcher?.wait(for: .readable)
    }

    /// Stops accepting permanently.
    ///
    /// The address becomes free, and clients are refused, when the object is released.
    package func stop() {
        watcher?.close()
        watcher = nil
        connections = nil
    }

    private func pauseAccepting(_ watcher: SocketWatcher) {
        watcher.wait(for: [])
        loop.schedule(after: Self.pause) { [weak self] in self?.watcher?.wait(for: .readable) }
    }

    /// Returns an idle connection to be closed for a new one; nil when there is none.
    private func takeIdleConnection() -> ID? {
        guard let connections else { return nil }
        if loop.now >= nextReport {
            nextReport = loop.now.advanced(by: Self.reportInterval)
            connections.onFull()
        }
        while let id = slots.nextCandidate(at: loop.now, among: connections.idle) {
            if connections.isIdle(id) { return id }
        }
        return nil
    }
}

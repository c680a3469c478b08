// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The server sockets of one port, which accept connections up to a limit; used only on their loop.
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
    /// The number of connections that a socket accepts in one turn of the loop.
    ///
    /// The limit lets the loop serve its other connections during a flood of clients. It is small, because each client
    /// may begin a TLS handshake at once, and a further turn takes only a few microseconds.
    private static var acceptedInTurn: Int { 4 }
    /// The number of free ports of 127.0.0.1 that are tried until one is free at `::1`, too.
    private static var freePortAttempts: Int { 16 }

    private let sockets: [Reference<Socket>]
    private let loop: EventLoop
    private var slots: ConnectionSlots<ID>
    private var connections: Connections?
    private var watchers: [SocketWatcher] = []
    private var nextReport = MonotonicTime.zero

    package let port: UInt16

    /// Listens on the address; connections are accepted after ``start(_:)``.
    ///
    /// - Parameters:
    ///   - host: An address literal, or `localhost` for both loopback addresses.
    ///   - port: The port, or 0 for any free port.
    ///   - limit: The maximum number of connections.
    ///   - loop: The event loop of the server and its connections.
    /// - Throws: ``TransportError`` of kind `.cannotListen` when the address is in use, `.addressNotAvailable` when it
    ///   is not an address of this machine, or `.system`.
    package init(host: String, port: UInt16, limit: Int, on loop: EventLoop) throws(TransportError) {
        let bound = try host == "localhost" ? Self.boundToLoopback(port) : [Self.bound(to: host, port)]
        for socket in bound { try socket.value.listen() }
        sockets = bound
        self.port = sockets.first?.value.localAddress?.port ?? port
        self.loop = loop
        slots = ConnectionSlots(limit: limit)
    }

    /// Returns sockets that are bound to the same port of 127.0.0.1 and `::1`; only the first without IPv6.
    ///
    /// The name `localhost` has both addresses, and many clients try `::1` first.
    private static func boundToLoopback(_ port: UInt16) throws(TransportError) -> [Reference<Socket>] {
        var attemptsLeft = port == 0 ? freePortAttempts : 1
        while true {
            let four = try bound(to: "127.0.0.1", port)
            do throws(TransportError) {
                return [four, try bound(to: "::1", four.value.localAddress?.port ?? port)]
            } catch {
                guard error.kind != .addressNotAvailable else { return [four] }
                attemptsLeft -= 1
                guard error.kind == .cannotListen, attemptsLeft > 0 else { throw error }
            }
        }
    }

    private static func bound(to host: String, _ port: UInt16) throws(TransportError) -> Reference<Socket> {
        guard let address = SocketAddress(literal: host, port: port) else {
            let shown = ShownValue(host)
            throw TransportError(.cannotListen, "\(shown) is not an address literal such as 127.0.0.1 or ::1")
        }
        let socket = Reference(try Socket(for: address))
        try socket.value.bind(to: address)
        return socket
    }

    /// Starts accepting connections.
    ///
    /// - Throws: ``TransportError`` of kind `.system` when the socket cannot be watched.
    package func start(_ connections: Connections) throws(TransportError) {
        self.connections = connections
        do throws(TransportError) {
            for socket in sockets {
                watchers.append(
                    try SocketWatcher(socket.value, on: loop) { [unowned self] _ in
                        accept(atMost: Self.acceptedInTurn)
                    }
                )
            }
        } catch {
            stop()
            throw error
        }
        wait(for: .readable)
    }

    /// Accepts the connections in the kernel's queues, up to the limit.
    package func acceptWaiting() {
        accept(atMost: Int(SOMAXCONN))
    }

    /// Accepts connections, up to the limit; the others wait for the next turn of the loop.
    ///
    /// - Parameter count: The number of connections that each socket accepts.
    private func accept(atMost count: Int) {
        for socket in sockets {
            guard accept(atMost: count, at: socket) else { return pauseAccepting() }
        }
    }

    /// Accepts connections in the queue of a socket; returns false when there is no place for one.
    private func accept(atMost count: Int, at socket: Reference<Socket>) -> Bool {
        for _ in 0..<count {
            guard let connections else { return true }
            let isFull = connections.count() >= slots.limit
            let idle = isFull ? takeIdleConnection() : nil
            if isFull, idle == nil { return false }
            switch socket.value.accept() {
            case .accepted(let socket, let peer):
                guard connections.admits() else {
                    if let idle { slots.putBack(idle) }
                    continue
                }
                if let idle { connections.close(idle) }
                connections.serve(Reference(socket), peer)
            case .wouldBlock:
                if let idle { slots.putBack(idle) }
                return true
            case .exhausted:
                guard let idle = idle ?? takeIdleConnection() else { return false }
                connections.close(idle)
            }
        }
        return true
    }

    /// Resumes accepting immediately after a connection has been closed.
    package func connectionClosed() {
        wait(for: .readable)
    }

    /// Stops accepting permanently.
    ///
    /// The address becomes free, and clients are refused, when the object is released.
    package func stop() {
        for watcher in watchers { watcher.close() }
        watchers = []
        connections = nil
    }

    private func pauseAccepting() {
        wait(for: [])
        loop.schedule(after: Self.pause) { [weak self] in self?.wait(for: .readable) }
    }

    private func wait(for readiness: SocketWatcher.Readiness) {
        for watcher in watchers { watcher.wait(for: readiness) }
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

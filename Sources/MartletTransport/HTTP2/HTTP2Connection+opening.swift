// SPDX-License-Identifier: Apache-2.0

/// The steps from a connected socket to an open connection.
extension HTTP2Connection {
    func dialed(_ result: Result<Reference<Socket>, TransportError>) {
        guard case .dialing(let dialer) = phase else { return }
        do throws(TransportError) {
            let socket = try result.get()
            transport = Reference(try Transport(socket, tls: dialer.endpoint.tls, peerName: dialer.endpoint.host))
            watcher = try SocketWatcher(socket.value, on: loop) { [unowned self] ready in becameReady(ready) }
            handshake()
        } catch {
            finish(error)
        }
    }

    func handshake() {
        guard let transport else { return }
        phase = .handshaking
        switch transport.value.handshake() {
        case .moved:
            timer?.cancel()
            phase = .open
            watcher?.wait(for: .readable)
            scheduleFlush()
            onEvent?(.ready)
            // The peer's first frames may have arrived with its last handshake message.
            read()
        case .mustWait(let toWrite):
            watcher?.wait(for: toWrite ? .writable : .readable)
        case .ended:
            finish(TransportError(.closedByPeer, "the peer closed the connection during the TLS handshake"))
        case .failed(let error):
            finish(error)
        }
    }
}

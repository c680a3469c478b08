/// The steps from a host name or an accepted socket to an open connection.
extension HTTP2Connection {
    func dialed(_ result: Result<Reference<Socket>, TransportError>, _ endpoint: Endpoint) {
        guard case .dialing = phase else { return }
        do throws(TransportError) {
            let socket = try result.get()
            guard let proxy = endpoint.proxy else {
                try connected(socket, endpoint)
                return
            }
            let tunnel = try ProxyTunnel(over: socket, to: proxy, host: endpoint.host, port: endpoint.port)
            phase = .tunnelling(tunnel)
            tunnel.start(socket, on: loop) { [weak self] error in self?.tunnelled(error, socket, endpoint) }
        } catch {
            finish(error)
        }
    }

    private func tunnelled(_ error: TransportError?, _ socket: Reference<Socket>, _ endpoint: Endpoint) {
        guard case .tunnelling = phase else { return }
        do throws(TransportError) {
            if let error { throw error }
            try connected(socket, endpoint)
        } catch {
            finish(error)
        }
    }

    private func connected(_ socket: Reference<Socket>, _ endpoint: Endpoint) throws(TransportError) {
        transport = Reference(try Transport(socket, tls: endpoint.tls, peerName: endpoint.host))
        watcher = try SocketWatcher(socket.value, on: loop) { [unowned self] ready in becameReady(ready) }
        handshake()
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

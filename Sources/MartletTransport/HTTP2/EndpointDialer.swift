// SPDX-License-Identifier: Apache-2.0

/// A connector to the server of a client's connection, directly or through a proxy; used only on its loop.
final class EndpointDialer {
    let endpoint: HTTP2Connection.Endpoint
    /// The timeout of name resolution, connecting and the TLS handshake together.
    let timeout: Duration
    private let loop: EventLoop
    private let dialer: Dialer
    private var tunnel: ProxyTunnel?
    private var completion: ((Result<Reference<Socket>, TransportError>) -> Void)?

    /// Creates a connector, which ``start(completion:)`` starts.
    init(_ endpoint: HTTP2Connection.Endpoint, timeout: Duration, on loop: EventLoop) {
        self.endpoint = endpoint
        self.timeout = timeout
        self.loop = loop
        dialer = Dialer(
            host: endpoint.proxy?.host ?? endpoint.host,
            port: endpoint.proxy?.port ?? endpoint.port,
            on: loop
        )
    }

    /// Starts connecting; `completion` is called once, unless ``cancel()`` is called before.
    func start(completion: @escaping (Result<Reference<Socket>, TransportError>) -> Void) {
        self.completion = completion
        dialer.start { [weak self] result in self?.dialed(result) }
    }

    /// Cancels connecting without calling `completion`.
    func cancel() {
        completion = nil
        dialer.cancel()
        tunnel?.cancel()
    }

    private func dialed(_ result: Result<Reference<Socket>, TransportError>) {
        guard let proxy = endpoint.proxy, case .success(let socket) = result else { return finish(result) }
        do throws(TransportError) {
            let tunnel = try ProxyTunnel(over: socket, to: proxy, host: endpoint.host, port: endpoint.port)
            self.tunnel = tunnel
            tunnel.start(socket, on: loop) { [weak self] error in
                self?.finish(error.map { .failure($0) } ?? .success(socket))
            }
        } catch {
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<Reference<Socket>, TransportError>) {
        completion.take()?(result)
    }
}

extension HTTP2Connection {
    /// The server to which a client connects.
    package struct Endpoint: Sendable {
        /// A host name or an address literal.
        package var host: String
        package var port: UInt16
        /// The TLS settings; nil for HTTP/2 in cleartext with prior knowledge (RFC 9113 §3.3).
        package var tls: TLSContext?
        /// The HTTP proxy; nil for a direct connection.
        package var proxy: HTTPProxy?

        package init(host: String, port: UInt16, tls: TLSContext?, proxy: HTTPProxy? = nil) {
            self.host = host
            self.port = port
            self.tls = tls
            self.proxy = proxy
        }
    }
}

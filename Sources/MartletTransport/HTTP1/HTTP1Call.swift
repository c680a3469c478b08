// SPDX-License-Identifier: Apache-2.0

/// A client for HTTP/1.1 requests, each over its own connection.
package struct HTTP1Call: Sendable {
    /// The maximum size of a response body in bytes.
    private static let longestBody = 4 << 20

    /// A host name or an address literal.
    package var host: String
    package var port: UInt16
    /// The TLS settings of the connection; nil for cleartext.
    package var tls: TLSContext?
    /// Whether the response includes its body; otherwise the call ends after the header fields.
    package var readsBody = true
    /// The HTTP proxy; nil for a direct connection.
    ///
    /// It gets a request for a tunnel to a server with TLS, and the request itself for a server without, because many
    /// proxies permit tunnels only to the ports of TLS.
    package var proxy: HTTPProxy?
    /// Returns whether the client may connect to an address that the name resolves to.
    ///
    /// A proxy resolves names itself, so with a proxy only a host that is an address literal is checked.
    package var admits: @Sendable (SocketAddress) -> Bool

    /// Creates a client for a server, by default for any address that its name resolves to.
    package init(
        host: String,
        port: UInt16,
        tls: TLSContext? = nil,
        admits: @escaping @Sendable (SocketAddress) -> Bool = { _ in true }
    ) {
        self.host = host
        self.port = port
        self.tls = tls
        self.admits = admits
    }

    /// The host and the port for messages.
    private var server: HostPort { HostPort(host: host, port: port) }

    /// Sends one request and waits for the response.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - path: The path, optionally with a query.
    ///   - fields: The fields besides those that every request has.
    ///   - body: The body; empty for none.
    ///   - bound: The timeout of the whole call.
    ///   - loop: The event loop that runs the call.
    /// - Returns: The response; redirects are not followed.
    /// - Throws: ``TransportError`` of kind `.nameNotResolved`, `.connectionRefused`, `.certificateRejected`,
    ///   `.closedByPeer`, `.timedOut`, or `.protocolViolation` for a response that is too long or not HTTP/1.
    package func send(
        _ method: String,
        _ path: String,
        fields: HTTPFields = [:],
        body: [UInt8] = [],
        within bound: Duration,
        on loop: EventLoop
    ) async throws(TransportError) -> HTTPResponse {
        let authority = "\(SocketAddress.bracketed(host)):\(port)"
        let forwarder = tls == nil ? proxy : nil
        // A proxy needs the absolute form of the target (RFC 9112 §3.2.2).
        let target = forwarder == nil ? path : "http://\(authority)\(path)"
        var lines = ["\(method) \(target) HTTP/1.1", "host: \(authority)", "connection: close"]
        if let authorization = forwarder?.authorization { lines.append("proxy-authorization: \(authorization)") }
        if !body.isEmpty || method == "POST" { lines.append("content-length: \(body.count)") }
        for (name, value) in fields { lines.append("\(name): \(value)") }
        let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
        let result = await withCheckedContinuation { continuation in
            loop.execute {
                let run = CallRun(self, request, on: loop)
                run.start(within: bound) { continuation.resume(returning: $0) }
            }
        }
        return try result.get()
    }

    /// The state of one call, used only on its loop and alive until the call completes.
    private final class CallRun {
        private let call: HTTP1Call
        private let loop: EventLoop
        private let dialer: Dialer
        private let request: [UInt8]
        private var tunnel: ProxyTunnel?
        private var exchange: TransportExchange?
        private var parser: HTTP1ResponseParser
        private var response: HTTPResponse?
        private var problem = HTTP1ResponseParser.Problem.noResponse
        private var timer: LoopTimer?
        private var completion: ((Result<HTTPResponse, TransportError>) -> Void)?

        init(_ call: HTTP1Call, _ request: [UInt8], on loop: EventLoop) {
            self.call = call
            self.loop = loop
            self.request = request
            parser = HTTP1ResponseParser(longestBody: HTTP1Call.longestBody, readsBody: call.readsBody)
            dialer = Dialer(host: call.proxy?.host ?? call.host, port: call.proxy?.port ?? call.port, on: loop)
        }

        /// Starts the call; `completion` is called once.
        ///
        /// Dialer, timer, tunnel and exchange keep this object alive until then.
        func start(within bound: Duration, completion: @escaping (Result<HTTPResponse, TransportError>) -> Void) {
            self.completion = completion
            timer = loop.schedule(after: bound) {
                self.finish(TransportError(.timedOut, "\(self.call.server) did not respond in time"))
            }
            guard call.proxy != nil else {
                return dialer.start(admits: call.admits) { self.connected($0) }
            }
            if let address = SocketAddress(literal: call.host, port: call.port), !call.admits(address) {
                return finish(TransportError(.connectionRefused, "the address \(call.host) is not allowed"))
            }
            dialer.start { self.connected($0) }
        }

        private func connected(_ result: Result<Reference<Socket>, TransportError>) {
            do throws(TransportError) {
                let socket = try result.get()
                guard let proxy = call.proxy, call.tls != nil else { return try sendRequest(over: socket) }
                let tunnel = try ProxyTunnel(over: socket, to: proxy, host: call.host, port: call.port)
                self.tunnel = tunnel
                tunnel.start(socket, on: loop) { self.established($0, over: socket) }
            } catch {
                finish(error)
            }
        }

        /// Sends the request through the tunnel; the error is nil when the proxy has established it.
        private func established(_ error: TransportError?, over socket: Reference<Socket>) {
            if let error { return finish(error) }
            do throws(TransportError) {
                try sendRequest(over: socket)
            } catch {
                finish(error)
            }
        }

        private func sendRequest(over socket: Reference<Socket>) throws(TransportError) {
            let exchange = try TransportExchange(over: socket, tls: call.tls, peerName: call.host, request: request)
            self.exchange = exchange
            exchange.start(socket, on: loop, until: { self.isWhole($0, $1) }, completion: { self.finish($0) })
        }

        private func isWhole(_ bytes: [UInt8], _ isAll: Bool) -> Bool {
            switch parser.state(of: bytes, isAll: isAll) {
            case .incomplete: return false
            case .invalid(let reason):
                problem = reason
                return true
            case .complete(let response):
                self.response = response
                return true
            }
        }

        private func finish(_ error: TransportError?) {
            let completion = completion.take()
            dialer.cancel()
            timer?.cancel()
            tunnel?.cancel()
            exchange?.cancel()
            exchange = nil
            if let response {
                completion?(.success(response))
            } else {
                let error = error ?? TransportError(.protocolViolation, "\(call.server) \(problem.rawValue)")
                completion?(.failure(error))
            }
        }
    }
}

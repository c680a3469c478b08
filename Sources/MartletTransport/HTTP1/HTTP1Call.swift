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
    /// Returns whether the client may connect to an address that the name resolves to.
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
        let authority = SocketAddress.bracketed(host)
        var lines = ["\(method) \(path) HTTP/1.1", "host: \(authority):\(port)", "connection: close"]
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
            dialer = Dialer(host: call.host, port: call.port, on: loop)
        }

        /// Starts the call; `completion` is called once.
        ///
        /// Dialer, timer and exchange keep this object alive until then.
        func start(within bound: Duration, completion: @escaping (Result<HTTPResponse, TransportError>) -> Void) {
            self.completion = completion
            timer = loop.schedule(after: bound) {
                self.finish(TransportError(.timedOut, "\(self.call.host):\(self.call.port) did not respond in time"))
            }
            dialer.start(admits: call.admits) { self.connected($0) }
        }

        private func connected(_ result: Result<Reference<Socket>, TransportError>) {
            do throws(TransportError) {
                let socket = try result.get()
                let exchange = try TransportExchange(over: socket, tls: call.tls, peerName: call.host, request: request)
                self.exchange = exchange
                exchange.start(socket, on: loop, until: { self.isWhole($0, $1) }, completion: { self.finish($0) })
            } catch {
                finish(error)
            }
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
            exchange?.cancel()
            exchange = nil
            if let response {
                completion?(.success(response))
            } else {
                let peer = "\(call.host):\(call.port)"
                completion?(
                    .failure(error ?? TransportError(.protocolViolation, "\(peer) \(problem.rawValue)"))
                )
            }
        }
    }
}

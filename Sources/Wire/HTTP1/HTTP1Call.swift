/// Asks an HTTP/1.1 server for one thing, over a connection of its own.
package struct HTTP1Call: Sendable {
    /// Bytes that the body of an answer may have.
    private static let longestBody = 4 << 20

    /// A host name or an address literal.
    package var host: String
    /// The port.
    package var port: UInt16
    /// How the connection is encrypted; nil in the clear.
    package var tls: TLSContext?
    /// Asked for each address that the name resolves to: only those are called that are admitted.
    package var admits: @Sendable (SocketAddress) -> Bool

    /// A call to a server; by default to any address that its name resolves to.
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

    /// Asks once.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - path: The path, with a query if need be.
    ///   - fields: The fields besides those that every request has.
    ///   - body: The body; empty for none.
    ///   - bound: How long it may take altogether.
    ///   - loop: Where it runs.
    /// - Returns: The answer, redirects among them.
    /// - Throws: ``WireError`` of kind `.nameNotResolved`, `.connectionRefused`, `.certificateRejected`,
    ///   `.closedByPeer`, `.timedOut`, or `.protocolViolation` for an answer that is no HTTP/1 or too long.
    package func send(
        _ method: String,
        _ path: String,
        fields: HTTPFields = [:],
        body: [UInt8] = [],
        within bound: Duration,
        on loop: EventLoop
    ) async throws(WireError) -> HTTPResponse {
        let authority = host.contains(":") ? "[\(host)]" : host
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

    /// One call on its way; lives on its loop, and as long as it takes.
    private final class CallRun {
        private let call: HTTP1Call
        private let loop: EventLoop
        private let dialer: Dialer
        private let request: [UInt8]
        private var exchange: TransportExchange?
        private var reply = HTTP1Reply(longestBody: HTTP1Call.longestBody)
        private var response: HTTPResponse?
        private var timer: LoopTimer?
        private var completion: ((Result<HTTPResponse, WireError>) -> Void)?

        init(_ call: HTTP1Call, _ request: [UInt8], on loop: EventLoop) {
            self.call = call
            self.loop = loop
            self.request = request
            dialer = Dialer(host: call.host, port: call.port, on: loop)
        }

        /// Asks; `completion` is called once.
        ///
        /// Dialer, timer and exchange keep this object until then.
        func start(within bound: Duration, completion: @escaping (Result<HTTPResponse, WireError>) -> Void) {
            self.completion = completion
            timer = loop.schedule(after: bound) {
                self.finish(WireError(.timedOut, "\(self.call.host):\(self.call.port) did not answer in time"))
            }
            dialer.start(admits: call.admits) { self.connected($0) }
        }

        private func connected(_ result: Result<Box<Socket>, WireError>) {
            do throws(WireError) {
                let socket = try result.get()
                let exchange = try TransportExchange(
                    over: socket,
                    tls: call.tls,
                    peerName: call.host,
                    request: request
                )
                self.exchange = exchange
                exchange.start(
                    socket,
                    on: loop,
                    until: { self.isWhole($0, $1) },
                    completion: { self.finish($0) }
                )
            } catch {
                finish(error)
            }
        }

        private func isWhole(_ bytes: [UInt8], _ isAll: Bool) -> Bool {
            switch reply.state(of: bytes, isAll: isAll) {
            case .more: return false
            case .nonsense: return true
            case .whole(let response):
                self.response = response
                return true
            }
        }

        private func finish(_ error: WireError?) {
            let completion = completion.take()
            dialer.cancel()
            timer?.cancel()
            exchange?.cancel()
            exchange = nil
            if let response {
                completion?(.success(response))
            } else {
                let peer = "\(call.host):\(call.port)"
                completion?(.failure(error ?? WireError(.protocolViolation, "\(peer) does not answer in HTTP/1")))
            }
        }
    }
}

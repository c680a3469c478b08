/// Answers HTTP/1.1 in the clear for browsers, curl, Prometheus and services, on an event loop of its own.
///
/// A request is handed to the handler when it is complete. Waiting for the handler costs neither a thread nor another
/// client's place, and the handler's task is cancelled when its client goes away.
package final class HTTP1Listener: Sendable {
    /// The bounds of what clients may do.
    package struct Limits: Sendable {
        /// Bytes of one request's body; a longer one is answered 413.
        package var bodyBytes = 1 << 20
        /// Bytes of the bodies of all requests that are under way; a request without room is answered 503.
        package var bodyBytesTogether = 256 << 20
        /// Connections at once; for a further one, the client leaves that has been without a whole request for longest.
        package var connections = 1_024
        /// Seconds that a connection may be idle, or a message be on its way without progress.
        package var idleSeconds = 60
        /// Seconds for a whole request, and for taking its answer, besides `idleSeconds`.
        package var requestSeconds = 120

        /// The default bounds.
        package init() {}
    }

    private let server: HTTP1Server

    /// The port that is listened on.
    package var port: UInt16 { server.port }

    /// Binds and begins to answer.
    ///
    /// - Parameters:
    ///   - host: An address literal.
    ///   - port: The port, or 0 for any that is free.
    ///   - limits: The bounds of what clients may do.
    ///   - refusal: Called on the listener's loop when a request's fields have arrived, so it must be quick. A response
    ///     is sent at once, and the request's body is not read.
    ///   - handler: Answers one request; many may run at once.
    /// - Throws: ``WireError`` of kind `.cannotListen` when the address is taken or is not one of this machine's.
    package init(
        host: String,
        port: UInt16,
        limits: Limits = Limits(),
        refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil },
        handler: @escaping @Sendable (HTTPRequest) async -> HTTP1Answer
    ) throws(WireError) {
        let server = try HTTP1Server(host: host, port: port, limits: limits, refusal: refusal, handler: handler)
        self.server = server
        server.loop.execute { server.assumeIsolated { $0.start() } }
    }

    deinit {
        stop()
    }

    /// Stops listening and cuts off the requests whose handlers still run; a second call does nothing.
    package func stop() {
        let server = server
        server.loop.execute { server.assumeIsolated { $0.stop() } }
    }
}

/// Answers HTTP/1.1 in the clear for browsers, curl, Prometheus and services, on an event loop of its own.
///
/// A request is handed to the handler when it is complete. Waiting for the handler costs neither a thread nor another
/// client's place, and the handler's task is cancelled when its client goes away.
package final class HTTP1Listener: Sendable {
    /// The bounds of what clients may do.
    package struct Limits: Sendable {
        /// Bytes of one request's body; a longer one is answered 413.
        package var bodyBytes = 1 << 20
        /// Bytes of the bodies of all requests that are under way; without room, the longest body that still arrives is
        /// answered 503.
        package var bodyBytesTogether = 64 << 20
        /// Connections at once; for a further one, the client leaves that has been without a whole request for longest.
        package var connections = 1_024
        /// Seconds that a connection may be idle, or a message be on its way without progress.
        package var idleSeconds = 60
        /// Seconds for a whole request, and for taking its answer, besides `idleSeconds`.
        package var requestSeconds = 120

        /// The default bounds.
        package init() {}
    }

    let server: HTTP1Server

    /// The port that is listened on.
    package var port: UInt16 { server.port }

    /// Answers a request; the body is empty but for a request that was admitted as `.streamed`.
    package typealias Handler = @Sendable (HTTPRequest, HTTP1Body) async -> HTTP1Answer

    /// Binds and begins to answer.
    ///
    /// - Parameters:
    ///   - host: An address literal.
    ///   - port: The port, or 0 for any that is free.
    ///   - limits: The bounds of what clients may do.
    ///   - admission: Called on the listener's loop when a request's fields have arrived, so it must be quick.
    ///   - handler: Answers one request; many may run at once.
    /// - Throws: ``WireError`` of kind `.cannotListen` when the address is taken, or `.addressNotAvailable` when it is
    ///   not one of this machine.
    package init(
        host: String,
        port: UInt16,
        limits: Limits = Limits(),
        admission: @escaping @Sendable (HTTPRequest) -> HTTP1Admission,
        handler: @escaping Handler
    ) throws(WireError) {
        let server = try HTTP1Server(host: host, port: port, limits: limits, admission: admission, handler: handler)
        self.server = server
        server.loop.execute { server.assumeIsolated { $0.start() } }
    }

    /// Binds and begins to answer requests with their whole bodies.
    ///
    /// - Parameters:
    ///   - host: An address literal.
    ///   - port: The port, or 0 for any that is free.
    ///   - limits: The bounds of what clients may do.
    ///   - handler: Answers one request; many may run at once.
    /// - Throws: ``WireError`` of kind `.cannotListen` when the address is taken, or `.addressNotAvailable` when it is
    ///   not one of this machine.
    package convenience init(
        host: String,
        port: UInt16,
        limits: Limits = Limits(),
        handler: @escaping @Sendable (HTTPRequest) async -> HTTP1Answer
    ) throws(WireError) {
        try self.init(
            host: host,
            port: port,
            limits: limits,
            admission: { _ in .whole },
            handler: { request, _ in await handler(request) }
        )
    }

    deinit {
        stop()
    }

    /// Stops listening, waits for the requests that are being handled to be answered, and closes all connections.
    ///
    /// - Parameter limit: The time that the answers may take; connections that are busy then are closed.
    package func stop(within limit: Duration) async {
        await server.stop(within: limit)
    }

    /// Stops listening and cuts off the requests whose handlers still run; a second call does nothing.
    package func stop() {
        let server = server
        server.loop.execute { server.assumeIsolated { $0.stop() } }
    }
}

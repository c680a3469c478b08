// SPDX-License-Identifier: Apache-2.0

package import MartletTransport

/// A server for HTTP/1.1 in cleartext, for browsers, curl, Prometheus and services, on its own event loop.
///
/// By default a request is passed to the handler when it is complete. Waiting for the handler blocks neither a thread
/// nor other clients, and the handler's task is cancelled when its client disconnects.
package final class HTTP1Listener: Sendable {
    /// The limits for clients.
    package struct Limits: Sendable {
        /// The maximum size of a request body in bytes, by default 1 MiB; a longer one is answered 413.
        package var bodyBytes = 1 << 20
        /// The maximum size in bytes of the bodies of all current requests, by default 32 MiB; when it is exceeded, the
        /// longest body that is still arriving is answered 503.
        ///
        /// The bodies take up to twice as much memory, because an array that grows reserves twice its size.
        package var totalBodyBytes = 32 << 20
        /// The maximum size in bytes of what all connections hold, by default 32 MiB.
        ///
        /// These are the heads and further requests that they have sent, and the responses that they have not read.
        /// When it is exceeded, the connection with the most is closed. Half of it is for clients that are not
        /// authenticated, see ``HTTP1Admission``.
        package var totalHeldBytes = HeldMemory.defaultLimit
        /// The maximum number of connections, by default 1,024.
        ///
        /// For a further connection the server closes the one that has been without a complete request for longest.
        package var connections = 1_024
        /// The maximum time in seconds without a request, or without progress of a message; by default 60.
        package var idleSeconds = 60
        /// The maximum time in seconds for a whole request, and for sending its response, in addition to `idleSeconds`;
        /// by default 120.
        package var requestSeconds = 120

        /// Creates the default limits.
        package init() {}
    }

    let server: HTTP1Server

    /// The port on which the listener accepts connections.
    package var port: UInt16 { server.port }

    /// A function that answers one request; several calls may run at the same time.
    ///
    /// The body is empty except for requests admitted as `.streamed`.
    package typealias Handler = @Sendable (HTTPRequest, HTTP1Body) async -> HTTP1Answer

    /// Binds the address and starts answering requests.
    ///
    /// - Parameters:
    ///   - host: An address literal, or `localhost` for both loopback addresses.
    ///   - port: The port, or 0 for any free port.
    ///   - limits: The limits for clients.
    ///   - admission: Decides about a request when its fields have arrived. It runs on the listener's loop, so it must
    ///     be fast.
    ///   - onFull: Called on the listener's loop, at most once a second while a new client needs the place of another.
    ///   - onExcess: Called on the listener's loop when connections are closed because of `totalHeldBytes`.
    /// - Throws: ``TransportError`` of kind `.cannotListen` when the address is in use, `.addressNotAvailable` when it
    ///   is not an address of this machine, or `.system`.
    package init(
        host: String,
        port: UInt16,
        limits: Limits = Limits(),
        admission: @escaping @Sendable (HTTPRequest) -> HTTP1Admission,
        onFull: @escaping @Sendable () -> Void = {},
        onExcess: @escaping @Sendable () -> Void = {}
    ) async throws(TransportError) {
        let server = try HTTP1Server(
            host: host,
            port: port,
            limits: limits,
            admission: admission,
            onFull: onFull,
            onExcess: onExcess
        )
        self.server = server
        try await server.start()
    }

    /// Binds the address and starts answering requests, each with its complete body.
    ///
    /// - Parameters:
    ///   - host: An address literal, or `localhost` for both loopback addresses.
    ///   - port: The port, or 0 for any free port.
    ///   - limits: The limits for clients.
    ///   - handler: Answers one request; several calls may run at the same time.
    /// - Throws: ``TransportError`` of kind `.cannotListen` when the address is in use, `.addressNotAvailable` when it
    ///   is not an address of this machine, or `.system`.
    package convenience init(
        host: String,
        port: UInt16,
        limits: Limits = Limits(),
        handler: @escaping @Sendable (HTTPRequest) async -> HTTP1Answer
    ) async throws(TransportError) {
        try await self.init(
            host: host,
            port: port,
            limits: limits,
            admission: { _ in .whole { request, _ in await handler(request) } }
        )
    }

    deinit {
        stop()
    }

    /// Stops listening, waits until the current requests have been answered, and closes all connections.
    ///
    /// - Parameter limit: The timeout, after which connections that are still busy are closed.
    package func stop(within limit: Duration) async {
        await server.stop(within: limit)
    }

    /// Stops listening, answers the requests whose handlers still run with 503, and closes all connections; a second
    /// call has no effect.
    package func stop() {
        let server = server
        server.loop.execute { server.assumeIsolated { $0.stop() } }
    }
}

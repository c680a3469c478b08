internal import CMicroHTTPD
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Answers HTTP/1.1 in the clear for browsers, curl and Prometheus, on one thread of libmicrohttpd's own.
///
/// A request is handed to the handler when it is complete; its connection rests meanwhile and holds up no other.
package final class HTTP1Listener: Sendable {
    /// Bounds on what clients may do.
    package struct Limits: Sendable {
        /// Bytes of one request's line and headers, with the buffers of its connection.
        package var connectionMemory = 64 * 1024
        /// Bytes of one request's body; a longer one is answered 413.
        package var bodyBytes = 1 << 20
        /// Bytes of the bodies of all requests that are under way; one for which there is no room is answered 503.
        package var bodyBytesTogether = 256 << 20
        /// Connections at once; with the last place taken, whoever has been without a whole request for the longest
        /// leaves.
        package var connections: UInt32 = 1_024
        /// Seconds a connection may be idle, or a request be on its way without progress.
        package var idleSeconds: UInt32 = 60
        /// Seconds for a whole request, and for taking its answer, besides those that a connection may be idle: whoever
        /// drips bytes leaves.
        package var requestSeconds: UInt32 = 120

        /// The default bounds.
        package init() {}
    }

    /// What libmicrohttpd's callbacks are given: the handler, its bounds, and the requests it is busy with.
    final class Context: Sendable {
        /// Requests whose connections rest until their handler has answered.
        ///
        /// Resting, waking and stopping exclude each other through one lock: libmicrohttpd ends the process when it is
        /// stopped while a connection rests, and a connection must not be woken after the stop.
        struct Resting {
            var exchanges: [ObjectIdentifier: HTTP1Exchange] = [:]
            /// Answers that are still being written.
            var streams: [ObjectIdentifier: HTTP1Stream] = [:]
            var isStopping = false
            /// The number of requests that are complete and whose answers have not been written whole.
            var unfinishedCount = 0
            /// Tasks that wait until there are no unfinished requests.
            var finishWaiters: [CheckedContinuation<Void, Never>] = []

            /// Counts a request whose answer has been written, or whose client is gone.
            mutating func finishRequest() {
                unfinishedCount -= 1
                if unfinishedCount == 0 { resumeFinishWaiters() }
            }

            mutating func resumeFinishWaiters() {
                for waiter in finishWaiters { waiter.resume() }
                finishWaiters = []
            }
        }

        let limits: Limits
        let refusal: @Sendable (HTTPRequest) -> HTTPResponse?
        let handler: @Sendable (HTTPRequest) async -> HTTP1Answer
        let resting = Mutex(Resting())
        let places: Mutex<HTTP1Places>
        /// Bytes of bodies that are read or being answered.
        let bodyBytes = Mutex(0)

        init(
            limits: Limits,
            refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse?,
            handler: @escaping @Sendable (HTTPRequest) async -> HTTP1Answer
        ) {
            self.limits = limits
            self.refusal = refusal
            self.handler = handler
            places = Mutex(HTTP1Places(limit: Int(limits.connections)))
        }

        /// A client has come, or gone.
        func noteConnection(_ connection: OpaquePointer, _ event: MHD_ConnectionNotificationCode) {
            let key = UInt(bitPattern: connection)
            guard event == .CONNECTION_NOTIFY_STARTED else { return places.withLock { $0.left(key) } }
            let descriptor = martlet_MHD_descriptor(connection)
            let leaving = places.withLock { $0.arrived(key, descriptor: descriptor, at: .now) }
            // libmicrohttpd sees the end of what it reads, and closes.
            if let leaving { shutdown(leaving, CInt(SHUT_RDWR)) }
        }

        /// Sends away whoever takes too long for one request.
        func sendOverdueAway() {
            let patience = Duration.seconds(Int(limits.idleSeconds) + Int(limits.requestSeconds))
            // With the lock held: libmicrohttpd tells that a client is gone before it closes its descriptor.
            places.withLock { places in
                for descriptor in places.overdue(since: .now - patience) { shutdown(descriptor, CInt(SHUT_RDWR)) }
            }
        }
    }

    /// How often it is looked who takes too long.
    private static let patrolInterval = Duration.seconds(1)

    private let context: Context
    private let daemon: Mutex<DaemonReference?>
    private let patrol: Task<Void, Never>

    /// The port that is listened on.
    package let port: UInt16

    /// Binds and begins to answer.
    ///
    /// - Parameters:
    ///   - host: An address literal.
    ///   - port: The port, or 0 for any that is free.
    ///   - limits: Bounds on what clients may do.
    ///   - refusal: Asked when a request's fields are there, on the one thread that serves all; what it answers is
    ///     answered, and the request's body is not read.
    ///   - handler: Answers one request; many may run at once.
    /// - Throws: ``WireError`` of kind `.cannotListen` when the address is taken, or `.addressNotAvailable` when it is
    ///   none of this machine's.
    package init(
        host: String,
        port: UInt16,
        limits: Limits = Limits(),
        refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil },
        handler: @escaping @Sendable (HTTPRequest) async -> HTTP1Answer
    ) throws(WireError) {
        guard let address = SocketAddress(literal: host, port: port) else {
            throw WireError(.cannotListen, "\(host) is no address literal such as 127.0.0.1 or ::1")
        }
        let context = Context(limits: limits, refusal: refusal, handler: handler)
        self.context = context
        var flags = MHD_USE_AUTO_INTERNAL_THREAD.rawValue | MHD_USE_SUSPEND_RESUME.rawValue
        if address.family == sa_family_t(AF_INET6) { flags |= MHD_USE_IPv6.rawValue }
        let daemon = address.withPointer { pointer, _ in
            var options = martlet_MHD_options(
                address: pointer,
                on_access: { context, connection, _, method, _, upload, uploadSize, exchange in
                    HTTP1Exchange.access(context, connection, method, upload, uploadSize, exchange)
                },
                on_completed: { context, _, exchange, _ in HTTP1Exchange.completed(context, exchange) },
                on_connection: { context, connection, _, event in
                    guard let context, let connection else { return }
                    Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().noteConnection(connection, event)
                },
                on_target: { _, target, _ in HTTP1Exchange.began(target) },
                context: Unmanaged.passUnretained(context).toOpaque(),
                connection_memory: limits.connectionMemory,
                connections: limits.connections,
                idle_seconds: limits.idleSeconds
            )
            return martlet_MHD_start_daemon(flags, &options)
        }
        guard let daemon else {
            throw Socket.listenError(address, errno)
        }
        self.port = UInt16(clamping: martlet_MHD_bound_port(daemon))
        self.daemon = Mutex(DaemonReference(raw: daemon))
        patrol = Task {
            while !Task.isCancelled {
                context.sendOverdueAway()
                try? await Task.sleep(for: HTTP1Listener.patrolInterval)
            }
        }
    }

    deinit {
        stop()
    }

    /// Waits until complete requests have their whole answers, and stops.
    ///
    /// libmicrohttpd closes its connections at once when it is stopped: an answer that a handler has returned may not
    /// have been written yet.
    ///
    /// - Parameter limit: The time for the answers; requests that have none after it are cut off.
    package func stop(within limit: Duration) async {
        let context = context
        let timer = Task {
            try await Task.sleep(for: limit)
            context.resting.withLock { $0.resumeFinishWaiters() }
        }
        await withCheckedContinuation { continuation in
            context.resting.withLock { resting in
                if resting.unfinishedCount == 0 {
                    continuation.resume()
                } else {
                    resting.finishWaiters.append(continuation)
                }
            }
        }
        timer.cancel()
        stop()
    }

    /// Stops listening and cuts off the requests whose handlers still run; a second call does nothing.
    package func stop() {
        guard let daemon = daemon.withLock({ $0.take() }) else { return }
        patrol.cancel()
        let streams = context.resting.withLock { resting in
            resting.isStopping = true
            for exchange in resting.exchanges.values { exchange.wake(with: .whole(.unavailable)) }
            resting.exchanges = [:]
            return resting.streams.values
        }
        for stream in streams { stream.finish() }
        MHD_stop_daemon(daemon.raw)
    }

    /// A reference that only ``stop()`` uses, once.
    ///
    /// It is `@unchecked Sendable` because libmicrohttpd lets any thread stop a daemon that runs its own.
    private struct DaemonReference: @unchecked Sendable {
        let raw: OpaquePointer
    }
}

/// One HTTP/2 connection, client or server: moves bytes between its transport and its session, gathers what many
/// callers send in a turn of the loop into few writes, and reports what happens.
///
/// It lives on its loop: every call and every report is there. The transport decides nothing but TLS, the session
/// decides everything that HTTP/2 decides, and the owner the rest.
package final class HTTP2Connection {
    /// Reads before other connections of the loop get their turn.
    private static let readsPerTurn = 64
    /// Frames for a client that may gather before they are written and more of what it sends is read.
    private static let outputFrames = 1_000
    /// How long a server waits for a client that it has left to leave, too.
    static let partingLimit = Duration.seconds(2)

    private enum State {
        case idle
        case dialing(Dialer)
        case tunnelling(ProxyTunnel)
        case handshaking
        case open
        /// Everything has been said, and the client has not gone yet (servers only).
        case parting
        case closed
    }

    let loop: EventLoop
    let role: HTTP2Session.Role
    private let timeout: Duration
    private let endpoint: Endpoint?
    /// Who is at the other end, as an address with its port (servers), or by the name that was asked for.
    package let peer: String
    let session: HTTP2Session
    /// A server's notes on how long its client keeps it waiting.
    var watch: HTTP2Watch?
    @exclusivity(unchecked) private var transport: Box<Transport>?
    private var watcher: SocketWatcher?
    private(set) var onEvent: ((Event) -> Void)?
    @exclusivity(unchecked) private var state = State.idle
    private var timer: LoopTimer?
    @exclusivity(unchecked) private var isFlushScheduled = false
    private var coalescing = ReadCoalescing()
    private var readTimer: LoopTimer?
    /// What the transport has not taken yet.
    @exclusivity(unchecked) private var output = HTTP2Output()
    /// Whether the socket takes no output for now.
    private var isStalled = false
    /// Memory for the next list of events.
    private var spareEvents: [HTTP2Event] = []
    /// The debug data of the GOAWAY that ends a graceful shutdown, from its announcement on (servers only).
    var announcedDebugData: [UInt8]?
    /// Why the connection will close once its last output is written.
    @exclusivity(unchecked) private var ending: WireError?

    /// A client's connection, which ``start(onEvent:)`` opens.
    ///
    /// - Parameters:
    ///   - endpoint: Where to connect to.
    ///   - limits: What the server is allowed.
    ///   - timeout: Bound on name resolution, connecting and TLS together.
    ///   - loop: The loop to live on.
    /// - Throws: ``WireError`` of kind `.system` without memory.
    package init(
        to endpoint: Endpoint,
        limits: HTTP2Limits,
        timeout: Duration,
        on loop: EventLoop
    ) throws(WireError) {
        self.loop = loop
        self.endpoint = endpoint
        peer = endpoint.host
        self.timeout = timeout
        role = .client
        session = try HTTP2Session(.client, limits: limits)
    }

    /// A server's connection on a socket it has accepted.
    init(
        accepting socket: Box<Socket>,
        from peer: String,
        tls: TLSContext?,
        limits: HTTP2Limits,
        patience: HTTP2Patience,
        on loop: EventLoop
    ) throws(WireError) {
        self.loop = loop
        timeout = patience.handshake
        watch = HTTP2Watch(patience, at: loop.now)
        endpoint = nil
        self.peer = peer
        role = .server
        session = try HTTP2Session(.server, limits: limits)
        transport = Box(try Transport(socket, tls: tls, peerName: peer))
        watcher = try SocketWatcher(socket.value, on: loop) { [unowned self] ready in becameReady(ready) }
    }

    /// Begins: dials (a client) and shakes hands; reports everything that happens to `onEvent`.
    package func start(onEvent: @escaping (Event) -> Void) {
        guard case .idle = state else { return }
        self.onEvent = onEvent
        guard let endpoint else {
            handshake()
            return
        }
        timer = loop.schedule(after: timeout) { [weak self] in
            guard let self else { return }
            close(WireError(.timedOut, "no connection within \(timeout)"))
        }
        let dialer = Dialer(
            host: endpoint.proxy?.host ?? endpoint.host,
            port: endpoint.proxy?.port ?? endpoint.port,
            on: loop
        )
        state = .dialing(dialer)
        dialer.start { [weak self] result in self?.dialed(result, endpoint) }
    }

    // MARK: For owners

    /// Whether requests may be sent.
    package var isOpen: Bool {
        isConnected && ending == nil
    }

    /// What the certificate that the peer has shown says about itself; nil when it has shown none.
    package var peerCertificate: CertificateFacts? { transport?.value.peerCertificate }

    /// What was agreed on in the TLS handshake; nil in the clear, and once the connection is closed.
    package var security: TransportSecurity? { transport?.value.security }

    /// Sends a request (clients only).
    ///
    /// - Parameters:
    ///   - fields: All fields, pseudo fields first.
    ///   - body: The body.
    ///   - sender: Whoever the stream's ``Event/ended(_:sender:_:)`` will name.
    /// - Returns: The stream, to ``cancel(_:)`` it.
    /// - Throws: ``WireError`` when the connection takes no more requests.
    @discardableResult
    package func send(
        _ fields: consuming HTTPFields,
        body: [UInt8],
        for sender: AnyObject
    ) throws(WireError) -> HTTP2Stream {
        writeEarly()
        guard isOpen else { throw ending ?? WireError(.closedLocally, "the connection is not open") }
        let stream = HTTP2Stream(sending: fields, body: body, for: sender)
        try session.open(stream)
        scheduleFlush()
        return stream
    }

    /// Ends the connection with a TCP reset, without a word before it.
    package func abort(_ reason: WireError = WireError(.closedLocally, "the connection was reset")) {
        transport?.value.resetOnClose()
        finish(reason)
    }

    /// Closes now, after writing what the socket takes at once; open streams end as broken.
    package func close(_ reason: WireError) {
        if isConnected {
            flush()
            transport?.value.sayGoodbye()
        }
        finish(reason)
    }

    // MARK: Reading and writing

    private var isConnected: Bool {
        if case .open = state { true } else { false }
    }

    /// Whether everything has been said, and the client has not gone yet (servers only).
    var isParting: Bool {
        if case .parting = state { true } else { false }
    }

    /// Who does not read is not read from: the answers to more would only pile up here.
    private var mayRead: Bool { isParting || isOpen && (!isStalled || role == .client) }

    private func dialed(_ result: Result<Box<Socket>, WireError>, _ endpoint: Endpoint) {
        guard case .dialing = state else { return }
        do throws(WireError) {
            let socket = try result.get()
            guard let proxy = endpoint.proxy else {
                try connected(socket, endpoint)
                return
            }
            let tunnel = try ProxyTunnel(over: socket, to: proxy, host: endpoint.host, port: endpoint.port)
            state = .tunnelling(tunnel)
            tunnel.start(socket, on: loop) { [weak self] error in self?.tunnelled(error, socket, endpoint) }
        } catch {
            finish(error)
        }
    }

    private func tunnelled(_ error: WireError?, _ socket: Box<Socket>, _ endpoint: Endpoint) {
        guard case .tunnelling = state else { return }
        do throws(WireError) {
            if let error { throw error }
            try connected(socket, endpoint)
        } catch {
            finish(error)
        }
    }

    private func connected(_ socket: Box<Socket>, _ endpoint: Endpoint) throws(WireError) {
        transport = Box(try Transport(socket, tls: endpoint.tls, peerName: endpoint.host))
        watcher = try SocketWatcher(socket.value, on: loop) { [unowned self] ready in becameReady(ready) }
        handshake()
    }

    private func becameReady(_ ready: SocketWatcher.Readiness) {
        switch state {
        case .handshaking:
            handshake()
        case .open:
            if ready.contains(.writable) {
                outputMoved()
                flush()
            }
            read()
        case .parting:
            read()
        case .idle, .dialing, .tunnelling, .closed:
            break
        }
    }

    private func handshake() {
        guard let transport else { return }
        state = .handshaking
        switch transport.value.handshake() {
        case .moved:
            timer?.cancel()
            state = .open
            watcher?.wait(for: .readable)
            scheduleFlush()
            onEvent?(.ready)
            // The peer's first frames may have come with its last handshake message.
            read()
        case .mustWait(let toWrite):
            watcher?.wait(for: toWrite ? .writable : .readable)
        case .ended:
            finish(WireError(.closedByPeer, "the peer closed the connection during the TLS handshake"))
        case .failed(let error):
            finish(error)
        }
    }

    private func read() {
        for _ in 0..<HTTP2Connection.readsPerTurn {
            guard mayRead, let transport else { return }
            var count = 0
            let outcome = transport.value.fill(loop.readBuffer, &count)
            if count > 0, isOpen { received(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count])) }
            switch outcome {
            case .moved:
                continue
            case .mustWait:
                return
            case .ended:
                finish(ending ?? WireError(.closedByPeer, "the peer closed the connection"))
                return
            case .failed(let error):
                finish(ending ?? error)
                return
            }
        }
        // There may be more in OpenSSL's buffer, of which the socket will not tell.
        loop.atEndOfTurn { [weak self] in self?.read() }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        let now = loop.now
        watch?.heard(at: now)
        do throws(WireError) {
            try session.receive(bytes, at: now)
        } catch {
            ending = error
        }
        reportEvents()
        if role == .server, session.outputFrameCount > HTTP2Connection.outputFrames { flush() } else { scheduleFlush() }
    }

    /// Leaves in order, and goes on reading what the client still sends.
    ///
    /// Who closes a socket with something unread in it has the kernel forget what was written last (RFC 9112 §9.6).
    private func part(_ reason: WireError) {
        guard role == .server, let transport else { return finish(reason) }
        ending = reason
        state = .parting
        transport.value.sayGoodbye()
        timer = loop.schedule(after: HTTP2Connection.partingLimit) { [weak self] in self?.finish(reason) }
        read()
    }

    /// Gives the connection up because nothing can be written; what the peer said before it went counts still.
    private func hearOut(_ reason: WireError) {
        guard role == .client else { return finish(ending ?? reason) }
        while let transport {
            var count = 0
            let outcome = transport.value.fill(loop.readBuffer, &count)
            let bytes = UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count])
            guard (try? session.receive(bytes, at: loop.now)) != nil, case .moved = outcome else { break }
        }
        finish(ending ?? reason)
    }

    func scheduleFlush() {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        loop.atEndOfTurn { [weak self] in
            self?.isFlushScheduled = false
            self?.flush()
        }
    }

    func flush() {
        while isConnected, let transport {
            if output.isEmpty { output.gather(from: session) }
            guard !output.isEmpty else { return flushTransport(transport) }
            guard writeOutput(to: transport) else { return }
        }
    }

    /// Has requests leave the session as they come, and the transport take them record by record.
    ///
    /// What waited for the end of the turn would be cold in the processor's caches by then. With TLS the transport
    /// keeps what it has until it is flushed, or full.
    private func writeEarly() {
        guard isConnected else { return }
        output.gatherMany(from: session)
        if output.isFull, !isStalled, let transport { _ = writeOutput(to: transport) }
    }

    /// Hands the transport what has been gathered; false when it takes no more for now.
    private func writeOutput(to transport: Box<Transport>) -> Bool {
        switch output.write(to: transport.value) {
        case .moved:
            return true
        case .mustWait(let toWrite):
            outputStalled(toWrite)
        case .ended:
            finish(WireError(.closedByPeer, "the peer closed the connection"))
        case .failed(let error):
            hearOut(error)
        }
        return false
    }

    private func outputStalled(_ toWrite: Bool) {
        isStalled = toWrite
        watch?.stalled(at: loop.now)
        watcher?.wait(for: toWrite && role == .server ? .writable : [.readable, .writable])
    }

    private func outputMoved() {
        isStalled = false
        watch?.moved()
    }

    /// Sees to it that everything the transport has taken goes out.
    private func flushTransport(_ transport: Box<Transport>) {
        switch transport.value.flush() {
        case .mustWait(let toWrite):
            outputStalled(toWrite)
        case .failed(let error):
            hearOut(error)
        case .moved, .ended:
            outputMoved()
            watcher?.wait(for: .readable)
            reportEvents()
            guard session.isOver || ending != nil else { return coalesceReads() }
            part(ending ?? session.violation ?? WireError(.closedLocally, "the connection was closed in order"))
        }
    }

    /// Asks the kernel to wake a busy client once for many answers.
    private func coalesceReads() {
        guard role == .client, let transport else { return }
        if let mark = coalescing.openStreams(session.openStreamCount) { transport.value.setLowWaterMark(mark) }
        guard coalescing.isActive, readTimer == nil else { return }
        readTimer = loop.schedule(after: ReadCoalescing.delayLimit) { [weak self] in
            guard let self else { return }
            readTimer = nil
            read()
            coalesceReads()
        }
    }

    // MARK: Reporting

    private func reportEvents() {
        // Reporting may bring more events, by closing the connection for one: they get a list of their own.
        var events: [HTTP2Event] = []
        swap(&events, &spareEvents)
        session.takeEvents(&events)
        defer {
            events.removeAll(keepingCapacity: true)
            swap(&events, &spareEvents)
        }
        // The owner may end the connection on the way, and is still told how its requests ended.
        let owner = onEvent
        // A server takes the ends of its streams once all output has been written, or when the connection has ended.
        let isWritten = if case .closed = state { false } else { true }
        for event in events { report(event, isWritten, to: owner) }
        if !events.isEmpty { owner?(.caughtUp) }
    }

    private func finish(_ reason: WireError) {
        if case .closed = state { return }
        switch state {
        case .dialing(let dialer): dialer.cancel()
        case .tunnelling(let tunnel): tunnel.cancel()
        case .idle, .handshaking, .open, .parting, .closed: break
        }
        state = .closed
        timer?.cancel()
        readTimer?.cancel()
        watcher?.close()
        watcher = nil
        transport = nil
        reportEvents()
        if role == .server {
            for stream in session.takeOpenStreams() where stream.isCounted {
                onEvent?(.served(stream, isAnswered: false))
            }
        }
        let report = onEvent.take()
        report?(.closed(reason))
        for stream in session.takeOpenStreams() where role == .client {
            report?(.ended(stream, sender: stream.sender.take(), session.outcome(of: stream, brokenBy: reason)))
        }
        report?(.caughtUp)
    }
}

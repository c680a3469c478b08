// SPDX-License-Identifier: Apache-2.0

/// An HTTP/2 connection of a client or a server.
///
/// It moves bytes between its transport and its session, batches the frames of one turn of the loop into few writes,
/// and reports events.
///
/// All calls and events are on its loop. The transport handles TLS, the session the HTTP/2 protocol, and the owner the
/// requests.
package final class HTTP2Connection {
    /// The maximum number of consecutive reads of a client before other connections of the loop are served.
    private static let readsPerTurn = 64
    /// The number of queued frames for a client from which on they are written before more of its input is read.
    private static let outputFrames = 1_000
    /// The time that a server waits for a client to close the connection after the server has finished.
    static let drainingLimit = Duration.seconds(2)

    let loop: EventLoop
    let role: HTTP2Session.Role
    /// The peer: an address with its port (servers), or the host name of the endpoint (clients).
    package let peer: String
    let session: HTTP2Session
    /// The state of a server's client; nil for a client.
    @exclusivity(unchecked) var served: HTTP2ServedClient?
    /// Whether input that was not processed in this turn is read in the next one.
    private var readsInNextTurn = false
    @exclusivity(unchecked) var transport: Reference<Transport>?
    var watcher: SocketWatcher?
    private(set) var onEvent: ((Event) -> Void)?
    @exclusivity(unchecked) var phase: Phase
    var timer: LoopTimer?
    @exclusivity(unchecked) private var isFlushScheduled = false
    private var coalescing = ReadCoalescing()
    private var readTimer: LoopTimer?
    @exclusivity(unchecked) private var output = HTTP2Output()
    /// Reusable storage for the next list of events.
    private var spareEvents: [HTTP2Event] = []

    /// Creates a client's connection, which ``start(onEvent:)`` opens.
    ///
    /// - Parameters:
    ///   - endpoint: The server to connect to.
    ///   - limits: The limits for the server.
    ///   - timeout: The timeout of name resolution, connecting and the TLS handshake together.
    ///   - loop: The event loop of the connection.
    /// - Throws: ``TransportError`` of kind `.system` when memory cannot be allocated.
    package init(
        to endpoint: Endpoint,
        limits: HTTP2Limits,
        timeout: Duration,
        on loop: EventLoop
    ) throws(TransportError) {
        self.loop = loop
        peer = endpoint.host
        role = .client
        phase = .idle(EndpointDialer(endpoint, timeout: timeout, on: loop))
        session = try HTTP2Session(.client, limits: limits)
    }

    init(
        accepting socket: Reference<Socket>,
        from peer: String,
        tls: TLSContext?,
        limits: HTTP2Limits,
        timeouts: HTTP2Timeouts,
        load: HTTP2ServerLoad,
        on loop: EventLoop
    ) throws(TransportError) {
        self.loop = loop
        self.peer = peer
        role = .server
        phase = .idle(nil)
        served = HTTP2ServedClient(HTTP2IdleMonitor(timeouts, at: loop.now), load: load)
        session = try HTTP2Session(.server, limits: limits)
        transport = Reference(try Transport(socket, tls: tls, peerName: peer))
        watcher = try SocketWatcher(socket.value, on: loop) { [unowned self] ready in becameReady(ready) }
    }

    /// Connects (a client) and performs the TLS handshake; events are reported to `onEvent`.
    package func start(onEvent: @escaping (Event) -> Void) {
        guard case .idle(let dialer) = phase else { return }
        self.onEvent = onEvent
        guard let dialer else { return handshake() }
        let timeout = dialer.timeout
        timer = loop.schedule(after: timeout) { [weak self] in
            self?.close(TransportError(.timedOut, "no connection within \(timeout)"))
        }
        phase = .dialing(dialer)
        dialer.start { [weak self] result in self?.dialed(result) }
    }

    // MARK: For owners

    /// Sends a request (clients only).
    ///
    /// - Parameters:
    ///   - fields: All fields, pseudo-header fields first.
    ///   - body: The body.
    ///   - sender: The object that the stream's ``Event/ended(_:sender:_:)`` carries.
    /// - Returns: The stream, which can be passed to ``reset(_:_:)``.
    /// - Throws: ``TransportError`` when the connection accepts no more requests.
    @discardableResult
    package func send(
        _ fields: consuming HTTPFields,
        body: [UInt8],
        for sender: AnyObject
    ) throws(TransportError) -> HTTP2Stream {
        if isWritable, output.fillsEarly(from: session), let transport {
            handleWrite(output.write(to: transport.value))
        }
        guard isOpen else { throw endReason ?? TransportError(.closedLocally, "the connection is not open") }
        let stream = HTTP2Stream(sending: fields, body: body, for: sender)
        try session.open(stream)
        scheduleFlush()
        return stream
    }

    /// Closes the connection with a TCP reset, without sending a GOAWAY.
    package func abort(_ reason: TransportError = TransportError(.closedLocally, "the connection was reset")) {
        transport?.value.resetOnClose()
        finish(reason)
    }

    /// Closes the connection after writing what the socket accepts immediately; open streams end as broken.
    package func close(_ reason: TransportError) {
        if isWritable {
            flush()
            transport?.value.closeWriting()
        }
        finish(reason)
    }

    // MARK: Reading and writing

    /// Whether output can be written.
    private var isWritable: Bool {
        switch phase {
        case .open, .ending: true
        case .idle, .dialing, .handshaking, .draining, .closed: false
        }
    }

    /// Whether all output has been sent, and the client has not closed the connection yet (servers only).
    var isDraining: Bool {
        if case .draining = phase { true } else { false }
    }

    /// The reason why the connection ends; nil when it does not.
    private var endReason: TransportError? {
        switch phase {
        case .ending(let reason), .draining(let reason): reason
        case .idle, .dialing, .handshaking, .open, .closed: nil
        }
    }

    /// A server stops reading from a client that does not read its output, because further responses would only be
    /// queued.
    private var mayRead: Bool { isDraining || isOpen && (!output.isStalled || role == .client) }

    func becameReady(_ ready: SocketWatcher.Readiness) {
        switch phase {
        case .handshaking:
            guard !readsInNextTurn else { return }
            guard served?.load.takeHandshakeStep(in: loop.turn) ?? true else { return readInNextTurn() }
            handshake()
        case .open, .ending:
            if ready.contains(.writable) {
                served?.timeouts.outputResumed()
                flush()
            }
            read()
        case .draining:
            read()
        case .idle, .dialing, .closed:
            break
        }
    }

    func read() {
        guard !readsInNextTurn else { return }
        var octetsLeft = served?.load.share(in: loop.turn) ?? HTTP2Connection.readsPerTurn * loop.readBuffer.count
        while octetsLeft > 0 {
            guard mayRead, let transport else { return }
            var count = 0
            let buffer = UnsafeMutableRawBufferPointer(rebasing: loop.readBuffer.prefix(octetsLeft))
            let outcome = transport.value.fill(buffer, &count)
            octetsLeft -= buffer.count
            if count > 0, isOpen { received(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            switch outcome {
            case .moved:
                continue
            case .mustWait:
                return
            case .ended:
                return finish(endReason ?? TransportError(.closedByPeer, "the peer closed the connection"))
            case .failed(let error):
                return finish(endReason ?? error)
            }
        }
        // OpenSSL's buffer may hold more data, for which the socket reports no readiness.
        readInNextTurn()
    }

    /// Goes on with the input in the next turn of the loop, after that of other connections.
    private func readInNextTurn() {
        readsInNextTurn = true
        loop.atNextTurn { [weak self] in
            self?.readsInNextTurn = false
            self?.becameReady(.readable)
        }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        let now = loop.now
        served?.timeouts.receivedInput(at: now)
        do throws(TransportError) {
            try session.receive(bytes, at: now)
        } catch {
            phase = .ending(error)
        }
        reportEvents()
        if role == .server, session.outputFrameCount > HTTP2Connection.outputFrames { flush() } else { scheduleFlush() }
    }

    /// Closes the sending side and continues to read what the client still sends.
    ///
    /// Closing a socket with unread input makes the kernel discard unsent output (RFC 9112 §9.6).
    private func drain(_ reason: TransportError) {
        guard role == .server, let transport else { return finish(reason) }
        phase = .draining(reason)
        transport.value.closeWriting()
        timer = loop.schedule(after: HTTP2Connection.drainingLimit) { [weak self] in self?.finish(reason) }
        read()
    }

    /// Closes the connection because its output cannot be written; a client first processes the received input.
    private func receiveRemainingInput(_ reason: TransportError) {
        guard role == .client else { return finish(endReason ?? reason) }
        while let transport {
            var count = 0
            let outcome = transport.value.fill(loop.readBuffer, &count)
            let bytes = UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count])
            guard (try? session.receive(bytes, at: loop.now)) != nil, case .moved = outcome else { break }
        }
        finish(endReason ?? reason)
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
        guard isWritable, let transport else { return }
        let outcome = output.flush(session, to: transport.value)
        served?.count(heldBytes: session.callbackState.bounds.heldBytes)
        guard case .moved = outcome else { return handleWrite(outcome) }
        served?.timeouts.outputResumed()
        watcher?.wait(for: .readable)
        reportEvents()
        let reason = endReason
        guard session.isOver || reason != nil else { return coalesceReads() }
        drain(reason ?? session.violation ?? TransportError(.closedLocally, "the connection was closed in order"))
    }

    /// Waits until the transport accepts more output, or ends the connection, when output was not accepted.
    private func handleWrite(_ outcome: Transport.Outcome) {
        switch outcome {
        case .moved:
            break
        case .mustWait(let toWrite):
            served?.timeouts.outputStalled(at: loop.now)
            watcher?.wait(for: toWrite && role == .server ? .writable : [.readable, .writable])
        case .ended:
            receiveRemainingInput(TransportError(.closedByPeer, "the peer closed the connection"))
        case .failed(let error):
            receiveRemainingInput(error)
        }
    }

    /// Makes the kernel wake a busy client once for several responses.
    private func coalesceReads() {
        guard role == .client, let transport else { return }
        if let mark = coalescing.openStreams(session.callbackState.openStreamCount) {
            transport.value.setLowWaterMark(mark)
        }
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
        // Reporting may cause more events, for example by closing the connection; they use a separate list.
        var events: [HTTP2Event] = []
        swap(&events, &spareEvents)
        session.takeEvents(&events)
        served?.load.add(events: events.count)
        defer {
            events.removeAll(keepingCapacity: true)
            swap(&events, &spareEvents)
        }
        // The owner may close the connection in between, and still receives the ends of its requests.
        let owner = onEvent
        // A server receives the ends of its streams when all output has been written, or when the connection has ended.
        let isWritten = if case .closed = phase { false } else { true }
        for event in events { report(event, isWritten, to: owner) }
        if !events.isEmpty { owner?(.caughtUp) }
    }

    func finish(_ reason: TransportError) {
        if case .closed = phase { return }
        switch phase {
        case .dialing(let dialer): dialer.cancel()
        case .idle, .handshaking, .open, .ending, .draining, .closed: break
        }
        phase = .closed
        served?.count(heldBytes: 0)
        timer?.cancel()
        readTimer?.cancel()
        watcher?.close()
        watcher = nil
        transport = nil
        reportEvents()
        if role == .server {
            for stream in session.callbackState.takeOpenStreams() where stream.isCounted {
                onEvent?(.served(stream, isAnswered: false))
            }
        }
        let report = onEvent.take()
        report?(.closed(reason))
        for stream in session.callbackState.takeOpenStreams() where role == .client {
            report?(.ended(stream, sender: stream.sender.take(), session.outcome(of: stream, brokenBy: reason)))
        }
        report?(.caughtUp)
    }
}

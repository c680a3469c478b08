// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// A client's connection to an HTTP/1.1 server, used only on its loop.
///
/// It reads one request at a time, passes it to its owner and writes the response. While the owner handles a request,
/// the connection reads a limited amount ahead, which is how it detects that the client has closed the connection.
final class HTTP1Connection {
    /// The maximum number of bytes of a streamed body that are read ahead of its reader.
    private static let readAhead = 64 * 1024
    /// The time within which a client has to close the connection after the last response.
    private static let drainingLimit = Duration.seconds(2)
    /// The time for which a streamed body may pause before a full server may close its connection.
    private static let pauseLimit = Duration.seconds(1)
    /// The maximum number of consecutive reads before other connections are served.
    private static let readsPerTurn = 4

    let loop: EventLoop
    private let peer: String
    private let transport: Transport
    private let limits: HTTP1Listener.Limits
    private let clock: () -> String
    private var watcher: SocketWatcher?
    var owner: Owner?
    private var state = State.reading
    private var parser = HTTP1RequestParser()

    /// The request whose body is being read.
    private var head: HTTP1RequestHead?
    /// The handler of that request.
    private var handler: HTTP1Listener.Handler?
    var body: [UInt8] = []
    /// The progress of a body that the owner reads while it arrives.
    var incoming = Incoming.none
    /// Receives the next piece of such a body when it is available.
    var bodyReader: ((Result<[UInt8]?, HTTP1Body.Broken>) -> Void)?
    /// Whether the server takes no further requests.
    private var isEnding = false
    private var hasClientLeft = false
    var turns = HTTP1Turns()

    private var output = HTTP1Output()

    /// The start of the request, of its response, or of the wait for the next request.
    private var phaseBegan: MonotonicTime
    /// The last time at which bytes were received or sent.
    var lastTransferAt: MonotonicTime

    init(
        _ socket: Reference<Socket>,
        from peer: SocketAddress,
        limits: HTTP1Listener.Limits,
        clock: @escaping () -> String,
        on loop: EventLoop
    ) throws(TransportError) {
        self.loop = loop
        self.limits = limits
        self.clock = clock
        self.peer = peer.description
        transport = try Transport(socket, tls: nil, peerName: peer.description)
        phaseBegan = loop.now
        lastTransferAt = phaseBegan
        watcher = try SocketWatcher(socket.value, on: loop) { [unowned self] ready in becameReady(ready) }
    }

    /// Starts reading.
    func start(for owner: Owner) {
        self.owner = owner
        watch()
        read()
    }

    /// The time since which the server has been waiting for the client, so that the connection can be closed in favor
    /// of another client; nil while a request is answered.
    ///
    /// A streamed body counts after a pause of ``pauseLimit``, so that a batch that is still arriving is not
    /// interrupted.
    var idleSince: MonotonicTime? {
        switch state {
        case .reading: phaseBegan
        case .draining: .zero
        case .handling, .streaming:
            bodyReader != nil && loop.now >= lastTransferAt.advanced(by: HTTP1Connection.pauseLimit)
                ? lastTransferAt : nil
        case .finishing, .closed: nil
        }
    }

    /// The bytes of an arriving body that is not streamed.
    var arrivedByteCount: Int {
        if case .reading = state { body.count } else { 0 }
    }

    /// Rejects a request whose body is still arriving, to free memory for other requests.
    func refuseForLackOfMemory() {
        refuse(.overloaded)
    }

    /// Answers the request that the owner received.
    func answer(_ response: HTTPResponse) {
        guard case .handling = state else { return }
        write(response)
    }

    /// Starts a response whose body follows with ``write(_:then:)`` and ends with ``finish()``.
    func begin(_ fields: HTTPFields) {
        guard case .handling = state else { return }
        output.begin(fields, date: clock())
        enter(.streaming)
        flush()
    }

    /// Writes a piece of the body and calls `then` when there is capacity for another; immediately when the client has
    /// gone.
    func write(_ piece: [UInt8], then: @escaping () -> Void) {
        guard case .streaming = state else { return then() }
        output.add(piece: piece, then: then)
        flush()
    }

    /// Ends a streamed response.
    func finish() {
        guard case .streaming = state else { return }
        output.finish()
        enter(.finishing)
        flush()
    }

    /// Closes after the requests that have arrived are answered.
    func closeGracefully() {
        isEnding = true
        output.keepsAlive = false
        takeTurn()
        // A request that the client has sent may still be unread.
        read()
        if case .reading = state, head == nil { close() }
    }

    /// Closes the connection immediately.
    func close() {
        if case .closed = state { return }
        state = .closed
        watcher?.close()
        watcher = nil
        breakBody()
        dropBody()
        owner?.hold(-turns.heldByteCount)
        output.resumeWriter()
        output = HTTP1Output()
        let owner = owner.take()
        owner?.closed()
    }

    /// Closes the connection if its client has exceeded a time limit.
    func enforceTimeouts() {
        let now = loop.now
        let idle = Duration.seconds(limits.idleSeconds)
        let isIdle = now >= lastTransferAt.advanced(by: idle)
        let isOverdue = now >= phaseBegan.advanced(by: idle + .seconds(limits.requestSeconds))
        switch state {
        case .reading where head == nil && parser.isBetweenRequests:
            if isIdle { close() }
        case .reading:
            if isIdle || isOverdue { refuse(HTTP1Violation(408, "the request took too long to arrive")) }
        case .closed: break
        case .handling:
            if bodyReader != nil, isIdle { connectionFailed() }
        case .streaming:
            if bodyReader != nil || output.isPending, isIdle { connectionFailed() }
        case .finishing:
            if isIdle || isOverdue { close() }
        case .draining:
            if now >= phaseBegan.advanced(by: HTTP1Connection.drainingLimit) { close() }
        }
    }

    private func enter(_ state: State) {
        self.state = state
        phaseBegan = loop.now
        lastTransferAt = phaseBegan
    }

    // MARK: Reading

    private func becameReady(_ ready: SocketWatcher.Readiness) {
        if ready.contains(.writable) { flush() }
        if ready.contains(.readable) { read() }
    }

    /// Whether there is capacity for more input.
    private var mayRead: Bool {
        switch state {
        case .reading: !turns.isWaiting
        case .draining: true
        case .handling, .streaming, .finishing: !hasClientLeft && hasRoom
        case .closed: false
        }
    }

    /// Whether there is capacity for more input while a request is handled.
    private var hasRoom: Bool {
        if case .arriving = incoming { return parser.unreadByteCount + body.count < HTTP1Connection.readAhead }
        return parser.unreadByteCount < HTTP1Turns.readAhead
    }

    func watch() {
        if case .closed = state { return }
        if let change = turns.count(parser.heldByteCount + output.heldByteCount) { owner?.hold(change) }
        var interest: SocketWatcher.Readiness = mayRead ? .readable : []
        if output.isPending { interest.insert(.writable) }
        watcher?.wait(for: interest)
    }

    private func read() {
        for _ in 0..<HTTP1Connection.readsPerTurn where mayRead {
            var count = 0
            let outcome = unsafe transport.fill(loop.readBuffer, &count)
            if count > 0 {
                lastTransferAt = loop.now
                if case .draining = state {
                } else {
                    if parser.isBetweenRequests, head == nil, case .reading = state { phaseBegan = lastTransferAt }
                    unsafe parser.append(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
                    parse()
                }
            }
            switch outcome {
            case .moved: continue
            case .mustWait: return watch()
            case .ended: return inputEnded()
            case .failed: return connectionFailed()
            }
        }
        watch()
    }

    /// Handles the end of the client's input; the client may still read a response.
    private func inputEnded() {
        switch state {
        // The end of the input is read again when the requests before it are answered.
        case .reading where turns.isWaiting: watch()
        case .reading, .draining: close()
        case .handling, .streaming:
            hasClientLeft = true
            output.keepsAlive = false
            breakBody()
            watch()
            owner?.clientDisconnected()
        case .finishing:
            hasClientLeft = true
            output.keepsAlive = false
            watch()
        case .closed: break
        }
    }

    /// Closes a connection whose client has closed it, stopped reading or violated HTTP/1.1 while it was answered.
    private func connectionFailed() {
        owner?.clientDisconnected()
        close()
    }

    /// Parses the received bytes until a request is complete or more input is needed.
    func parse() {
        // An immediate response would call this method recursively.
        guard !turns.isParsing else { return }
        turns.isParsing = true
        defer { turns.isParsing = false }
        do throws(HTTP1Violation) {
            while isReadyForEvent {
                guard turns.mayBegin(isAtStart: parser.isAtStart, unread: parser.unreadByteCount) else {
                    owner?.waitsForTurn()
                    return
                }
                guard let event = try parser.next() else { return }
                switch event {
                case .head(let head): try began(head)
                case .body(let piece): try take(piece)
                case .end: ended()
                }
            }
        } catch {
            if case .reading = state { refuse(error) } else { connectionFailed() }
        }
    }

    private var isReadyForEvent: Bool {
        switch (state, incoming) {
        case (.reading, _): !turns.isWaiting
        case (.handling, .arriving), (.streaming, .arriving): body.count < HTTP1Connection.readAhead
        default: false
        }
    }

    private func began(_ head: HTTP1RequestHead) throws(HTTP1Violation) {
        var head = head
        head.request.peer = peer
        self.head = head
        output.prepare(for: head, isLast: isEnding)
        switch owner?.admit(head.request) {
        case .answer(let response):
            // The body of such a request is not read, so the next request cannot be found.
            if head.bodyLength != .known(0) { output.keepsAlive = false }
            self.head = nil
            return write(response)
        case .whole(let handler, _):
            self.handler = handler
            if case .known(let length) = head.bodyLength, length > limits.bodyBytes { throw tooLong }
            askForBody(of: head)
        case .streamed(let handler, _):
            askForBody(of: head)
            incoming = .arriving
            self.head = nil
            enter(.handling)
            owner?.received(head.request, handler, true)
        case nil: break
        }
    }

    private func askForBody(of head: HTTP1RequestHead) {
        guard head.expectsContinue else { return }
        output.askForBody()
        flush()
    }

    private var tooLong: HTTP1Violation {
        HTTP1Violation(413, "the body is longer than the \(limits.bodyBytes) bytes allowed here")
    }

    private func take(_ piece: [UInt8]) throws(HTTP1Violation) {
        if case .reading = state, body.count + piece.count > limits.bodyBytes { throw tooLong }
        guard owner?.reserve(piece.count) ?? false else { throw .overloaded }
        body += piece
        passBody()
    }

    private func ended() {
        if case .arriving = incoming {
            incoming = .complete
            passBody()
        } else if var request = head.take()?.request, let handler = handler.take() {
            request.body = body
            enter(.handling)
            owner?.received(request, handler, false)
        }
    }

    // MARK: Writing

    /// Rejects the received request and closes the connection, because the start of the next request is unknown.
    private func refuse(_ violation: HTTP1Violation) {
        output.keepsAlive = false
        head = nil
        let retryAfter = violation.status == 503 ? 1 : nil
        write(APIProblem(violation.status, violation.message, retryAfter: retryAfter).response)
    }

    private func write(_ response: HTTPResponse) {
        if case .arriving = incoming { output.keepsAlive = false }
        output.add(response, date: clock())
        if case .none = incoming { dropBody() }
        enter(.finishing)
        flush()
    }

    private func flush() {
        let isReading = if case .arriving = incoming { true } else { false }
        switch output.write(to: transport, isReading: isReading, didMove: { lastTransferAt = loop.now }) {
        case .complete:
            output.resumeWriter()
            if case .finishing = state { answered() }
            watch()
        case .mustWait: watch()
        case .failed: connectionFailed()
        }
    }

    /// Handles the end of a response.
    private func answered() {
        // The unread rest of a body must not be parsed as the next request.
        let keepsAlive = if case .arriving = incoming { false } else { output.keepsAlive }
        output = HTTP1Output()
        incoming = .none
        dropBody()
        guard keepsAlive else {
            transport.closeWriting()
            enter(.draining)
            if hasClientLeft { close() }
            return
        }
        enter(.reading)
        turns.answered()
        owner?.answered()
        parse()
    }
}

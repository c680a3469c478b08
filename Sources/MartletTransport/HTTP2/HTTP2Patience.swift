/// The timeouts of a server's clients, which keep unresponsive clients from occupying memory and connections.
package struct HTTP2Patience: Sendable, Hashable {
    /// The timeout of the TLS handshake and the client's first SETTINGS together, from the connection's start.
    package var handshake: Duration
    /// The timeout of a whole request, from its first byte, and of the delivery of its response; then its stream is
    /// reset.
    package var request: Duration
    /// The timeout for a client that reads none of its output.
    package var output: Duration
    /// The timeout for a connection on which nothing is received, not even a PING.
    package var idle: Duration

    /// Creates timeouts, by default 30 seconds each for the handshake, a request and output, and one hour without
    /// input.
    package init(
        handshake: Duration = .seconds(30),
        request: Duration = .seconds(30),
        output: Duration = .seconds(30),
        idle: Duration = .seconds(3_600)
    ) {
        self.handshake = handshake
        self.request = request
        self.output = output
        self.idle = idle
    }
}

/// The timeout state of a server's client, updated by events and without I/O.
struct HTTP2Watch {
    /// The timeout that a client has exceeded.
    enum Overdue {
        case handshake
        case output
        case idle
    }

    private let patience: HTTP2Patience
    private let accepted: MonotonicTime
    /// The time of the last input from the client.
    private(set) var heard: MonotonicTime
    private var isGreeted = false
    private var stalled: MonotonicTime?

    /// Starts with an accepted connection.
    init(_ patience: HTTP2Patience, at now: MonotonicTime) {
        self.patience = patience
        accepted = now
        heard = now
    }

    /// Records input from the client.
    mutating func heard(at now: MonotonicTime) {
        heard = now
    }

    /// Records the client's SETTINGS, which complete the handshake.
    mutating func greeted() {
        isGreeted = true
    }

    /// Records that the client accepts no more output for now.
    mutating func stalled(at now: MonotonicTime) {
        if stalled == nil { stalled = now }
    }

    /// Records that the client accepts output again.
    mutating func moved() {
        stalled = nil
    }

    /// Returns the timeout that the client has exceeded; nil when there is none.
    func overdue(at now: MonotonicTime) -> Overdue? {
        guard isGreeted else { return now >= accepted.advanced(by: patience.handshake) ? .handshake : nil }
        if let stalled, now >= stalled.advanced(by: patience.output) { return .output }
        return now >= heard.advanced(by: patience.idle) ? .idle : nil
    }

    /// Returns the time at or before which an incomplete request must have started to exceed its timeout.
    func requestDeadline(at now: MonotonicTime) -> MonotonicTime {
        now.advanced(by: .zero - patience.request)
    }
}

extension HTTP2Connection {
    /// The time of the last input from a client without a request in progress (servers only); nil when a request is in
    /// progress.
    ///
    /// An incomplete request, and a response that the client does not read, do not count as in progress: a client could
    /// keep its connection with them. A connection that the server has finished is the first to be closed.
    var idleSince: MonotonicTime? {
        if isDraining { return .zero }
        return session.requestsInProgress == 0 ? watch?.heard : nil
    }

    /// The client's address without its port (servers only).
    var peerHost: String { String(peer[..<(peer.lastIndex(of: ":") ?? peer.endIndex)]) }

    /// Closes the connection in order to accept another client (servers only).
    ///
    /// The GOAWAY frame excludes incomplete requests, so that their client can send them again.
    func makeRoom() {
        goAway(lastStreamID: session.lastReportedStreamID)
        close(WireError(.closedLocally, "another client needed the place"))
    }

    /// Resets requests, or closes the connection, that have exceeded a timeout (servers only).
    func giveUpWaiting() {
        guard let watch else { return }
        switch watch.overdue(at: loop.now) {
        case .handshake:
            let text =
                isOpen
                ? "the client did not complete its HTTP/2 preface in time"
                : "the client took too long for the TLS handshake"
            close(WireError(.timedOut, text))
        case .output:
            abort(WireError(.timedOut, "the client does not read"))
        case .idle:
            goAway()
            close(WireError(.timedOut, "the client was silent for too long"))
        case nil:
            for stream in session.requestsUnfinished(since: watch.requestDeadline(at: loop.now)) {
                reset(stream, .cancel)
            }
        }
    }
}

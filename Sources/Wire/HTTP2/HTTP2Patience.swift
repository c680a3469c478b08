/// How long a server waits for a client, so that nobody holds memory and a place for nothing.
package struct HTTP2Patience: Sendable, Hashable {
    /// For the TLS handshake and the client's first SETTINGS together, from when it has connected.
    package var handshake: Duration
    /// For a whole request, from its first byte, and again for room for its answer; then its stream is reset.
    package var request: Duration
    /// For a client that does not read to take any of what it is sent.
    package var output: Duration
    /// For anything at all on a connection, be it a PING.
    package var idle: Duration

    /// By default 30 seconds each for the handshake, a request and output, and an hour of silence.
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

/// Decides when a server has waited for a client long enough, from what it is told about it.
struct HTTP2Watch {
    /// What a client took too long for.
    enum Overdue {
        case handshake
        case output
        case idle
    }

    private let patience: HTTP2Patience
    private let accepted: MonotonicTime
    /// When something came from the client last.
    private(set) var heard: MonotonicTime
    private var isGreeted = false
    private var stalled: MonotonicTime?

    /// The client has connected.
    init(_ patience: HTTP2Patience, at now: MonotonicTime) {
        self.patience = patience
        accepted = now
        heard = now
    }

    /// Something has come from the client.
    mutating func heard(at now: MonotonicTime) {
        heard = now
    }

    /// The client's SETTINGS are there: it speaks HTTP/2.
    mutating func greeted() {
        isGreeted = true
    }

    /// The client takes no more output for now.
    mutating func stalled(at now: MonotonicTime) {
        if stalled == nil { stalled = now }
    }

    /// The client takes output again.
    mutating func moved() {
        stalled = nil
    }

    /// What the connection is to be given up for, if anything.
    func overdue(at now: MonotonicTime) -> Overdue? {
        guard isGreeted else { return now >= accepted.advanced(by: patience.handshake) ? .handshake : nil }
        if let stalled, now >= stalled.advanced(by: patience.output) { return .output }
        return now >= heard.advanced(by: patience.idle) ? .idle : nil
    }

    /// Requests that began at this time or before are to be given up when they are not complete.
    func requestDeadline(at now: MonotonicTime) -> MonotonicTime {
        now.advanced(by: .zero - patience.request)
    }
}

extension HTTP2Connection {
    /// The time since which nothing has come from a client to which the server owes no answer (servers only); nil when
    /// it owes one.
    ///
    /// A request whose end has not come, and an answer that the client does not take, do not count: a client could keep
    /// its connection with them. A connection that the server has ended makes room first.
    var idleSince: MonotonicTime? {
        if isParting { return .zero }
        return session.requestsInProgress == 0 ? watch?.heard : nil
    }

    /// The client's address without its port (servers only).
    var peerHost: String { String(peer[..<(peer.lastIndex(of: ":") ?? peer.endIndex)]) }

    /// Closes in order, for another client (servers only).
    ///
    /// The GOAWAY frame leaves out requests that are not complete, so that their client can send them again.
    func makeRoom() {
        goAway(lastStreamID: session.lastReportedStreamID)
        close(WireError(.closedLocally, "another client needed the place"))
    }

    /// Gives up what the client has kept waiting for too long: a request, or the connection (servers only).
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

// SPDX-License-Identifier: Apache-2.0

/// The timeout state of a server's client, updated by events and without I/O.
struct HTTP2IdleMonitor {
    /// The timeout that a client has exceeded.
    enum Overdue {
        case handshake
        case output
        case idle
    }

    private let timeouts: HTTP2Timeouts
    private let acceptedAt: MonotonicTime
    /// The time of the last input from the client.
    private(set) var lastInputAt: MonotonicTime
    private var hasReceivedSettings = false
    /// The time since which the client accepts no output; nil when it accepts output.
    private var stalledAt: MonotonicTime?

    /// Starts with an accepted connection.
    init(_ timeouts: HTTP2Timeouts, at now: MonotonicTime) {
        self.timeouts = timeouts
        acceptedAt = now
        lastInputAt = now
    }

    mutating func receivedInput(at now: MonotonicTime) {
        lastInputAt = now
    }

    /// Records the client's SETTINGS, which complete the handshake.
    mutating func receivedSettings() {
        hasReceivedSettings = true
    }

    /// Records that the client accepts no more output for now.
    mutating func outputStalled(at now: MonotonicTime) {
        if stalledAt == nil { stalledAt = now }
    }

    /// Records that the client accepts output again.
    mutating func outputResumed() {
        stalledAt = nil
    }

    /// Returns the timeout that the client has exceeded; nil when there is none.
    func overdue(at now: MonotonicTime) -> Overdue? {
        guard hasReceivedSettings else { return now >= acceptedAt.advanced(by: timeouts.handshake) ? .handshake : nil }
        if let stalledAt, now >= stalledAt.advanced(by: timeouts.output) { return .output }
        return now >= lastInputAt.advanced(by: timeouts.idle) ? .idle : nil
    }

    /// Returns the time at or before which an incomplete request must have started to exceed its timeout.
    func requestDeadline(at now: MonotonicTime) -> MonotonicTime {
        now.advanced(by: .zero - timeouts.request)
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
        return session.callbackState.requestsInProgress == 0 ? served?.timeouts.lastInputAt : nil
    }

    /// The client's address without its port (servers only).
    var peerHost: String { String(peer[..<(peer.lastIndex(of: ":") ?? peer.endIndex)]) }

    /// The memory of the client's incomplete requests and unread responses, in bytes (servers only).
    var heldBytes: Int { served?.heldBytes ?? 0 }

    /// Whether the client has shown valid credentials (servers only).
    package var isAuthenticated: Bool { served?.isAuthenticated ?? false }

    /// Records that the client has shown valid credentials, so that it is closed for lack of memory only after all
    /// clients that have not (servers only).
    package func authenticated() {
        served?.authenticated()
    }

    /// Closes the connection for the sake of other clients (servers only).
    ///
    /// The GOAWAY frame excludes incomplete requests, so that their client can send them again.
    func closeForOthers(_ reason: String, code: HTTP2ErrorCode = .noError) {
        goAway(code, lastStreamID: session.callbackState.lastReportedStreamID)
        close(TransportError(.closedLocally, reason))
    }

    /// Resets requests, or closes the connection, that have exceeded a timeout (servers only).
    func enforceTimeouts() {
        guard let timeouts = served?.timeouts else { return }
        switch timeouts.overdue(at: loop.now) {
        case .handshake:
            let text =
                isOpen
                ? "the client did not complete its HTTP/2 preface in time"
                : "the client did not complete the TLS handshake in time"
            close(TransportError(.timedOut, text))
        case .output:
            abort(TransportError(.timedOut, "the client did not read its output in time"))
        case .idle:
            goAway()
            close(TransportError(.timedOut, "the client sent nothing for too long"))
        case nil:
            for stream in session.callbackState.requestsUnfinished(since: timeouts.requestDeadline(at: loop.now)) {
                reset(stream, .cancel)
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletServer
internal import MartletTransport

/// The counters and properties of one connection that the simulator reports.
///
/// A push only increments two counters. The other properties are filled in when a report is requested or the connection
/// is closed.
struct ConnectionRecord: Sendable {
    /// The port of the simulator that a client connects to.
    enum Port: String {
        /// The port for all requests.
        case pushes
        /// The port for requests about channels only.
        case channels
    }

    /// The number of the connection, unique in the simulator.
    let id: Int
    let port: Port
    /// The client's address with its port.
    let peer: String
    let security: TransportSecurity?
    let certificate: CertificateFacts?
    /// The time at which the connection was opened, in milliseconds since 1970.
    let openedAt: Int64
    private(set) var requests = 0
    /// The number of answers that were written, by status.
    private(set) var answers: [Int: Int] = [:]
    /// The number of requests whose stream has ended without an answer.
    private(set) var unanswered = 0
    private(set) var openStreams = 0
    private(set) var mostStreams = 0
    /// The number of streams that were refused because too many were open.
    private(set) var refusedStreams = 0
    /// The number of streams that the client has reset.
    private(set) var resetStreams = 0
    /// The number of requests whose stream was reset because they were malformed (RFC 9113 §8.1.1).
    private(set) var malformedRequests = 0
    /// The last GOAWAY frame that was written to the client.
    private(set) var goAwaySent: HTTP2GoAway?
    var goAwayReceived: HTTP2GoAway?
    /// The claims of the provider token that was accepted last; nil when none was.
    private(set) var claims: ProviderToken?
    /// Whether the connection was closed before the end of its TLS handshake.
    var hasFailedHandshake = false
    /// Whether the connection was closed because no request could be received over it.
    private(set) var hasFailed = false
    /// The time at which the connection was closed, in milliseconds since 1970, and the reason; nil while it is open.
    private(set) var ending: (time: Int64, reason: String)?

    init(_ connection: ClientConnection, on port: Port, at now: Int64) {
        id = connection.id
        self.port = port
        peer = connection.peer
        security = connection.security
        certificate = connection.certificate
        openedAt = now
    }

    /// Counts a request.
    mutating func receivedRequest(openStreams: Int) {
        requests += 1
        mostStreams = max(mostStreams, openStreams)
    }

    /// Counts a request whose stream has ended, by the status of the answer that was written whole; 0 for none.
    mutating func answered(_ status: Int) {
        if status == 0 { unanswered += 1 } else { answers[status, default: 0] += 1 }
    }

    /// Counts a request that could not be read, and its answer: status 431, or 0 for a stream that was reset.
    mutating func unreadable(_ status: Int, isMalformed: Bool) {
        requests += 1
        if isMalformed { malformedRequests += 1 }
        answered(status)
    }

    /// Returns the record with the current state of an open connection.
    func open(with state: RequestEvaluator.ConnectionState, _ connection: ClientConnection) -> ConnectionRecord {
        var record = self
        record.claims = state.claims
        record.openStreams = connection.openStreamCount
        record.refusedStreams = connection.refusedStreamCount
        record.resetStreams = connection.resetStreamCount
        record.goAwaySent = connection.goAwaySent
        return record
    }

    /// Returns the record with the time and the reason of the connection's end.
    func closed(
        _ reason: TransportError,
        at now: Int64,
        with state: RequestEvaluator.ConnectionState,
        _ connection: ClientConnection
    ) -> ConnectionRecord {
        var record = open(with: state, connection)
        record.openStreams = 0
        record.hasFailed = hasFailedHandshake || requests == 0 && reason.kind == .notHTTP2
        record.ending = (now, reason.description)
        return record
    }
}

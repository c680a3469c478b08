internal import APNs
internal import APNsServer
internal import Wire

/// What there is to say of one connection: counters while it is open, and who it was once somebody asks.
///
/// A push costs two additions.
struct ConnectionNotes: Sendable {
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
    /// In seconds since 1970.
    let openedAt: Int64
    private(set) var requests = 0
    /// Answers that were written, by their status.
    private(set) var answers: [Int: Int] = [:]
    /// Requests whose stream has ended without an answer.
    private(set) var unanswered = 0
    private(set) var openStreams = 0
    private(set) var mostStreams = 0
    /// Streams that were refused because too many were open.
    private(set) var refusedStreams = 0
    /// Streams that the client has reset.
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
    /// When it was closed, and why.
    private(set) var ending: (time: Int64, reason: String)?

    init(_ connection: ClientConnection, on port: Port, at now: Int64) {
        id = connection.id
        self.port = port
        peer = connection.peer
        security = connection.security
        certificate = connection.certificate
        openedAt = now
    }

    mutating func asked(openStreams: Int) {
        requests += 1
        mostStreams = max(mostStreams, openStreams)
    }

    /// The stream of a request has ended: its answer was written whole, or there is none, which is status 0.
    mutating func served(_ status: Int) {
        if status == 0 { unanswered += 1 } else { answers[status, default: 0] += 1 }
    }

    /// Counts a request that could not be read, and its answer: status 431, or 0 for a stream that was reset.
    mutating func unreadable(_ status: Int, isMalformed: Bool) {
        requests += 1
        if isMalformed { malformedRequests += 1 }
        served(status)
    }

    /// The notes with what is true of an open connection now.
    func open(with state: Judge.ConnectionState, _ connection: ClientConnection) -> ConnectionNotes {
        var notes = self
        notes.claims = state.claims
        notes.openStreams = connection.openStreamCount
        notes.refusedStreams = connection.refusedStreamCount
        notes.resetStreams = connection.resetStreamCount
        notes.goAwaySent = connection.goAwaySent
        return notes
    }

    /// The notes with how the connection ended.
    func closed(
        _ reason: WireError,
        at now: Int64,
        with state: Judge.ConnectionState,
        _ connection: ClientConnection
    ) -> ConnectionNotes {
        var notes = open(with: state, connection)
        notes.openStreams = 0
        notes.ending = (now, reason.description)
        return notes
    }
}

/// The connections that were closed last, a hundred at most.
struct ClosedConnections {
    private static let limit = 100

    /// Oldest first.
    private(set) var all: [ConnectionNotes] = []
    /// Streams that were refused on connections that are closed, these and earlier ones.
    private(set) var refusedStreams = 0
    /// Streams that clients have reset on connections that are closed, these and earlier ones.
    private(set) var resetStreams = 0

    mutating func note(_ notes: ConnectionNotes) {
        if all.count == ClosedConnections.limit { all.removeFirst() }
        all.append(notes)
        refusedStreams += notes.refusedStreams
        resetStreams += notes.resetStreams
    }
}

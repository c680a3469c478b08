/// Decides when a connection is opened, which request goes onto it when, and when it is given up: a struct without
/// I/O, so that every story of a connection can be told to it as a list of facts.
///
/// ```
///          submitted               connected           goAwayReceived
///   idle ─────────────▶ connecting ─────────▶ open ─────────────────▶ draining
///    ▲                      │                   │                        │
///    │     connectFailed    │                   │      disconnected      │
///    ├──────────────────────┘                   └────────────┬───────────┘
///    └───────────────────────────────────────────────────────┤ nothing waits
///                        connecting ◀────────────────────────┘ something waits
/// ```
///
/// ``close()`` may come in any state; then no more is taken, and the end of the connection is the end of all.
///
/// `Request` is whatever the driver knows a request by; tests use text.
struct ConnectionMachine<Request> {
    /// What the connection is doing.
    private enum State {
        /// There is none; the next request opens it.
        case idle
        /// It is being opened; requests wait.
        case connecting
        /// Requests go onto it as streams come free.
        case open
        /// The server takes no more: what is in flight ends, then the connection does; new requests wait.
        case draining
    }

    /// What to do with a request that was just submitted.
    enum Submission {
        /// Open a connection; the request waits for it.
        case connect
        /// Put it onto the connection now.
        case open(Request)
        /// It waits its turn.
        case wait
        /// Too many wait already.
        case refuseOverload(Request)
        /// The client is closed.
        case refuseClosed(Request)
    }

    /// What to do after a connection has ended.
    enum Aftermath {
        /// Nothing: no request waits.
        case rest
        /// Open another for those that wait.
        case connect
        /// The client is closed for good; these never went out.
        case closed([Request])
    }

    private var state = State.idle
    private var isClosing = false
    private var waiting = RequestQueue<Request>()
    private let waitingLimit: Int
    private let startsWithOneStream: Bool
    private var inFlight = 0
    private var peerLimit = 1
    private var hasBeenAnswered = false

    /// A machine at rest.
    ///
    /// - Parameters:
    ///   - startsWithOneStream: Whether one request at a time goes out until the first has been answered, as APNs
    ///     demands of connections that authenticate by token ("Establishing a connection to APNs").
    ///   - waitingLimit: Requests that may wait; more are refused.
    init(startsWithOneStream: Bool, waitingLimit: Int) {
        self.startsWithOneStream = startsWithOneStream
        self.waitingLimit = waitingLimit
    }

    /// Streams that may be open at once now: what the server allows, once it has said so.
    private var streamLimit: Int {
        startsWithOneStream && !hasBeenAnswered ? min(1, peerLimit) : peerLimit
    }

    // MARK: Facts about requests

    /// A caller wants this sent.
    mutating func submitted(_ request: Request) -> Submission {
        guard !isClosing else { return .refuseClosed(request) }
        if case .open = state, waiting.isEmpty, inFlight < streamLimit {
            inFlight += 1
            return .open(request)
        }
        guard waiting.count < waitingLimit else { return .refuseOverload(request) }
        waiting.append(request)
        guard case .idle = state else { return .wait }
        state = .connecting
        return .connect
    }

    /// The next request to put onto the connection, if one waits and a stream is free; ask until it is nil.
    mutating func nextToOpen() -> Request? {
        guard case .open = state, inFlight < streamLimit, let request = waiting.popFirst() else { return nil }
        inFlight += 1
        return request
    }

    /// A request that was put onto the connection has its answer.
    mutating func answered() {
        hasBeenAnswered = true
        inFlight -= 1
    }

    /// A request that was put onto the connection ended without an answer, or was not wanted any more.
    mutating func abandoned() {
        inFlight -= 1
    }

    /// What waits, oldest first.
    var waitingRequests: [Request] { waiting.all }

    // MARK: Facts about the connection

    /// Whether the connection has come about.
    var hasConnected: Bool {
        switch state {
        case .open, .draining: true
        case .idle, .connecting: false
        }
    }

    /// The connection is there.
    mutating func connected() {
        if case .connecting = state { state = .open }
    }

    /// The server's settings allow this many streams.
    mutating func peerAllows(streams: Int) {
        peerLimit = streams
    }

    /// The server will take no more requests on this connection.
    mutating func goAwayReceived() {
        if case .open = state { state = .draining }
    }

    /// The connection could not be opened; these never went out.
    mutating func connectFailed() -> [Request] {
        forgetConnection()
        return waiting.removeAll()
    }

    /// The connection has ended; what was in flight has been told.
    mutating func disconnected() -> Aftermath {
        forgetConnection()
        if isClosing { return .closed(waiting.removeAll()) }
        if waiting.isEmpty { return .rest }
        state = .connecting
        return .connect
    }

    private mutating func forgetConnection() {
        state = .idle
        inFlight = 0
        peerLimit = 1
        hasBeenAnswered = false
    }

    // MARK: Closing

    /// The owner wants no more requests taken, and those there are finished.
    mutating func close() {
        isClosing = true
    }

    /// Whether the owner has closed and nothing waits or is in flight any more.
    var isFinished: Bool {
        isClosing && inFlight == 0 && waiting.isEmpty
    }

    /// Time is up: these never went out.
    mutating func giveUp() -> [Request] {
        isClosing = true
        return waiting.removeAll()
    }
}

internal import MartletTransport

/// The pool's state of one of its connections.
struct PooledConnection {
    /// The phases of a connection.
    enum Phase {
        /// The connection is being opened.
        case connecting
        /// Pushes are sent on the connection when streams are available.
        case open
        /// No more pushes are sent; the connection closes when its pushes in flight have ended.
        case draining
        /// The connection is being closed.
        case closing
    }

    let id: PoolMachine.ConnectionID
    var phase = Phase.connecting
    /// The number of streams that the server allows, 1 before its settings arrive.
    var peerLimit = 1
    /// Whether a response has been received on the connection.
    var hasBeenAnswered = false
    private(set) var inFlight: [PendingPush] = []
    /// The time of the last input on the connection.
    var lastHeard: MonotonicTime
    /// The time at which a PING was sent that has not been acknowledged; nil when there is none.
    var pingSentAt: MonotonicTime?
    /// The time since which no push is in flight.
    private(set) var idleSince: MonotonicTime

    init(id: PoolMachine.ConnectionID, at now: MonotonicTime) {
        self.id = id
        lastHeard = now
        idleSince = now
    }

    /// Returns whether another push may be sent; `startsWithOneStream` is the rule for connections with provider
    /// tokens.
    func hasRoom(startsWithOneStream: Bool) -> Bool {
        guard case .open = phase else { return false }
        return inFlight.count < (startsWithOneStream && !hasBeenAnswered ? min(1, peerLimit) : peerLimit)
    }

    /// Whether a push has been sent on the connection.
    var hasBeenUsed: Bool { hasBeenAnswered || !inFlight.isEmpty }

    /// Whether the connection is open and accepts pushes.
    var isUsable: Bool { phase == .open }

    mutating func add(_ push: PendingPush, at now: MonotonicTime) {
        // The time without input is measured from when a response can be expected.
        if inFlight.isEmpty, pingSentAt == nil { lastHeard = now }
        push.progress.index = inFlight.count
        inFlight.append(push)
    }

    mutating func remove(_ push: PendingPush, at now: MonotonicTime) {
        let index = push.progress.index
        guard index < inFlight.count, inFlight[index] === push else { return }
        let last = inFlight.removeLast()
        if last !== push {
            inFlight[index] = last
            last.progress.index = index
        }
        if inFlight.isEmpty { idleSince = now }
    }

    mutating func heard(at now: MonotonicTime) {
        lastHeard = now
        pingSentAt = nil
    }
}

internal import Wire

/// What the pool knows of one of its connections.
struct PooledConnection {
    /// What the connection is doing.
    enum Phase {
        /// It is being opened.
        case connecting
        /// Pushes go onto it as streams come free.
        case open
        /// It takes no more: what is in flight ends, then it does.
        case draining
        /// It has been told to close.
        case closing
    }

    let id: PoolMachine.ConnectionID
    var phase = Phase.connecting
    /// Streams the server allows, once it has said so.
    var peerLimit = 1
    /// Whether an answer has come over it.
    var hasBeenAnswered = false
    private(set) var inFlight: [PendingPush] = []
    /// When something last came over it.
    var lastHeard: MonotonicTime
    /// When it was asked for a sign of life that has not come yet.
    var pingSentAt: MonotonicTime?
    /// Since when nothing is in flight.
    private(set) var idleSince: MonotonicTime

    init(id: PoolMachine.ConnectionID, at now: MonotonicTime) {
        self.id = id
        lastHeard = now
        idleSince = now
    }

    /// Whether another push may go onto it; `startsWithOneStream` is the rule of connections with provider tokens.
    func hasRoom(startsWithOneStream: Bool) -> Bool {
        guard case .open = phase else { return false }
        return inFlight.count < (startsWithOneStream && !hasBeenAnswered ? min(1, peerLimit) : peerLimit)
    }

    /// Whether anything has gone onto it.
    var hasBeenUsed: Bool { hasBeenAnswered || !inFlight.isEmpty }

    /// Whether it is open and takes pushes.
    var isUsable: Bool { phase == .open }

    mutating func add(_ push: PendingPush, at now: MonotonicTime) {
        // Silence counts from when an answer can be expected.
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

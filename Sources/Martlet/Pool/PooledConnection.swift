// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The pool's state of one of its connections.
struct PooledConnection {
    enum Phase {
        /// The connection is being opened. Can become `open` or `closing`.
        case connecting
        /// Pushes are sent on the connection when streams are available. Can become `draining` or `closing`.
        case open
        /// No more pushes are sent; the connection closes when its pushes in flight have ended. Can become `closing`.
        case draining
        /// The connection is being closed.
        case closing
    }

    let id: PoolMachine.ConnectionID
    var phase = Phase.connecting
    /// The number of streams that the server allows, 1 before its settings arrive.
    var peerLimit = 1
    var hasBeenAnswered = false
    /// The number of pushes that are assigned to the connection.
    private(set) var inFlight = 0
    /// The time of the last input on the connection.
    var lastInputAt: MonotonicTime
    /// The time at which a PING was sent that has not been acknowledged; nil when there is none.
    var pingSentAt: MonotonicTime?
    /// The time since which no push is in flight.
    private(set) var idleSince: MonotonicTime

    init(id: PoolMachine.ConnectionID, at now: MonotonicTime) {
        self.id = id
        lastInputAt = now
        idleSince = now
    }

    /// Returns whether another push may be sent; `startsWithOneStream` is the rule for connections with provider
    /// tokens.
    func hasRoom(startsWithOneStream: Bool) -> Bool {
        guard case .open = phase else { return false }
        return inFlight < (startsWithOneStream && !hasBeenAnswered ? min(1, peerLimit) : peerLimit)
    }

    var hasBeenUsed: Bool { hasBeenAnswered || inFlight > 0 }

    var isUsable: Bool { phase == .open }

    /// Whether the connection, which has ended, was lost before any response to the pushes on it.
    var isLostUnanswered: Bool { phase == .open && !hasBeenAnswered && inFlight > 0 }

    mutating func add(at now: MonotonicTime) {
        // The time without input is measured from when a response can be expected.
        if inFlight == 0, pingSentAt == nil { lastInputAt = now }
        inFlight += 1
    }

    mutating func remove(at now: MonotonicTime) {
        inFlight -= 1
        if inFlight == 0 { idleSince = now }
    }

    mutating func receivedInput(at now: MonotonicTime) {
        lastInputAt = now
        pingSentAt = nil
    }
}

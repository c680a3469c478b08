// SPDX-License-Identifier: Apache-2.0

/// The load of all clients of a server, shared by its connections; used only on the server's loop.
///
/// Without it, clients with many requests in flight would delay all others: each connection would process its input
/// until none is left, and requests that are never completed would occupy memory without bound.
final class HTTP2ServerLoad {
    /// The number of octets that all connections together process in one turn of the loop: about two hundred pushes.
    static let octetsPerTurn = 64 << 10
    /// The number of octets for which each event of a connection counts in addition, because a short request takes as
    /// long as a push.
    static let octetsPerEvent = 128
    /// The number of octets that a connection processes in one turn at least.
    static let leastOctets = 64
    /// The number of steps of TLS handshakes in one turn of the loop, because a handshake takes as long as many pushes.
    static let handshakeStepsPerTurn = 8

    private var turn: UInt64 = 0
    /// The number of steps of TLS handshakes in this turn.
    private var handshakeSteps = 0
    /// The number of octets for which the events of this turn count.
    private var eventOctets = 0
    /// The number of connections that have received input in this turn, and in the turn before it.
    private var active = 0
    private var activeBefore = 0
    /// The memory of incomplete requests and unread responses.
    private(set) var memory = HeldMemory()
    /// Called when the memory exceeds a limit.
    var onExcess: () -> Void = {}

    /// Returns the number of octets that a connection may process in a turn of the loop, 0 when it has to wait for the
    /// next turn; called once in each turn in which it has input.
    func share(in turn: UInt64) -> Int {
        begin(turn)
        active += 1
        guard eventOctets < HTTP2ServerLoad.octetsPerTurn else { return 0 }
        return max(HTTP2ServerLoad.leastOctets, HTTP2ServerLoad.octetsPerTurn / max(active, activeBefore))
    }

    /// Returns whether a connection may go on with its TLS handshake in a turn of the loop; it has to wait for the next
    /// turn otherwise.
    func takeHandshakeStep(in turn: UInt64) -> Bool {
        begin(turn)
        guard handshakeSteps < HTTP2ServerLoad.handshakeStepsPerTurn else { return false }
        handshakeSteps += 1
        return true
    }

    private func begin(_ turn: UInt64) {
        guard turn != self.turn else { return }
        activeBefore = turn == self.turn &+ 1 ? active : 0
        active = 0
        eventOctets = 0
        handshakeSteps = 0
        self.turn = turn
    }

    /// Adds events of a connection in this turn.
    func add(events count: Int) {
        eventOctets += count * HTTP2ServerLoad.octetsPerEvent
    }

    /// Adds a change of the memory of a connection's incomplete requests and unread responses.
    func add(heldBytes change: Int, isAuthenticated: Bool) {
        memory.add(change, isAuthenticated: isAuthenticated)
        if change > 0, memory.excess != nil { onExcess() }
    }
}

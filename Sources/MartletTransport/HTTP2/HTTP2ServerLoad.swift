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
    /// The maximum size in bytes of incomplete requests and unread responses, of all connections together.
    ///
    /// They take up to twice as much memory, because an array that grows reserves twice its size.
    static let heldBytesLimit = 32 << 20
    /// The part of ``heldBytesLimit`` for connections that are not authenticated, so that clients without credentials
    /// never make the server close a connection of a client that has some.
    static let unauthenticatedBytesLimit = heldBytesLimit / 2

    /// The connections that hold too much memory.
    enum Excess {
        /// Those that are not authenticated.
        case unauthenticated
        /// All of them.
        case all
    }

    private var turn: UInt64 = 0
    /// The number of octets for which the events of this turn count.
    private var eventOctets = 0
    /// The number of connections that have received input in this turn, and in the turn before it.
    private var active = 0
    private var activeBefore = 0
    /// The memory in bytes of incomplete requests and unread responses.
    private(set) var heldBytes = 0
    /// The part of it of connections that are not authenticated.
    private(set) var unauthenticatedBytes = 0
    /// Called when the memory exceeds a limit.
    var onExcess: () -> Void = {}

    /// The connections that hold too much memory; nil when none do.
    ///
    /// When all connections together hold too much, those that are not authenticated are closed first.
    var excess: Excess? {
        let isFull = heldBytes > HTTP2ServerLoad.heldBytesLimit
        let limit = isFull ? 0 : HTTP2ServerLoad.unauthenticatedBytesLimit
        if unauthenticatedBytes > limit { return .unauthenticated }
        return isFull ? .all : nil
    }

    /// Returns the number of octets that a connection may process in a turn of the loop, 0 when it has to wait for the
    /// next turn; called once in each turn in which it has input.
    func share(in turn: UInt64) -> Int {
        if turn != self.turn {
            activeBefore = turn == self.turn &+ 1 ? active : 0
            active = 0
            eventOctets = 0
            self.turn = turn
        }
        active += 1
        guard eventOctets < HTTP2ServerLoad.octetsPerTurn else { return 0 }
        return max(HTTP2ServerLoad.leastOctets, HTTP2ServerLoad.octetsPerTurn / max(active, activeBefore))
    }

    /// Adds events of a connection in this turn.
    func add(events count: Int) {
        eventOctets += count * HTTP2ServerLoad.octetsPerEvent
    }

    /// Adds a change of the memory of a connection's incomplete requests and unread responses.
    func add(heldBytes change: Int, isAuthenticated: Bool) {
        heldBytes += change
        if !isAuthenticated { unauthenticatedBytes += change }
        if change > 0, excess != nil { onExcess() }
    }
}

public import APNs

/// Something that happened to a client besides its answers, for logs.
public enum ClientEvent: Sendable, Hashable {
    /// A connection is open. They are numbered from 1: on each loop, and once more where channels are managed.
    case connected(connection: Int)
    /// A connection could not be opened.
    case connectionFailed(APNsError)
    /// The server takes no more pushes on a connection, and may have said why.
    case goAway(connection: Int, Reason?)
    /// A connection has ended.
    case disconnected(connection: Int, APNsError)
    /// A push is sent again after a while.
    case retrying(APNsID, after: Duration, because: APNsError)
    /// APNs refused the credentials, and its clock says another time: this machine's is so far ahead, or behind.
    case clockSkew(Duration)
    /// Nothing is sent for a while, for the reason that the error explains.
    case circuitOpened(APNsError)
}

/// What a client has counted since it was made.
public struct ClientCounters: Sendable, Hashable {
    /// Calls to send, and requests about channels.
    public internal(set) var sends = 0
    /// Pushes that APNs accepted.
    public internal(set) var accepted = 0
    /// Pushes that APNs refused for good.
    public internal(set) var refused = 0
    /// Pushes that failed and were provably not acted on.
    public internal(set) var notSent = 0
    /// Pushes that were sent and not answered.
    public internal(set) var unknown = 0
    /// Tries after a refusal that passes.
    public internal(set) var retries = 0
    /// Pushes that went out once more because a server had left them alone.
    public internal(set) var resends = 0
    /// Connections that were opened.
    public internal(set) var connectionsOpened = 0
    /// Connections that could not be opened.
    public internal(set) var connectionsFailed = 0

    static func + (left: ClientCounters, right: ClientCounters) -> ClientCounters {
        var sum = left
        sum.sends += right.sends
        sum.accepted += right.accepted
        sum.refused += right.refused
        sum.notSent += right.notSent
        sum.unknown += right.unknown
        sum.retries += right.retries
        sum.resends += right.resends
        sum.connectionsOpened += right.connectionsOpened
        sum.connectionsFailed += right.connectionsFailed
        return sum
    }

    mutating func count(_ error: APNsError) {
        switch error.outcome {
        case .answered: refused += 1
        case .neverSent, .unprocessed: notSent += 1
        case .unknown: unknown += 1
        }
    }
}

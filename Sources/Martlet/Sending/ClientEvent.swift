// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// An event of a client, other than responses to pushes, for logs.
public enum ClientEvent: Sendable, Hashable {
    /// A connection is open. Connections are numbered from 1, separately on each loop and for channel management.
    case connected(connection: Int)
    /// A connection could not be opened.
    case connectionFailed(APNsError)
    /// The server accepts no more pushes on a connection, and may have sent a reason.
    case goAway(connection: Int, APNsReason?)
    /// A connection has ended.
    case disconnected(connection: Int, APNsError)
    /// A push will be sent again after a delay.
    case retrying(APNsID, after: Duration, because: APNsError)
    /// APNs rejected the credentials and its clock differs: this machine's clock is ahead by this time, or behind.
    case clockSkew(Duration)
    /// Nothing is sent for a while, for the reason in the error.
    case circuitOpened(APNsError)
}

/// The counters of a client since its creation.
public struct ClientCounters: Sendable, Hashable {
    /// The number of pushes and channel management requests that were submitted.
    public internal(set) var sends = 0
    /// The number of pushes that APNs accepted.
    public internal(set) var accepted = 0
    /// The number of pushes that APNs rejected permanently.
    public internal(set) var refused = 0
    /// The number of pushes that failed and were certainly not processed.
    public internal(set) var notSent = 0
    /// The number of pushes that were sent and not answered.
    public internal(set) var unknown = 0
    /// The number of retries after temporary failures.
    public internal(set) var retries = 0
    /// The number of times that a push was sent again because a server had not processed it.
    public internal(set) var resends = 0
    /// The number of connections that were opened.
    public internal(set) var connectionsOpened = 0
    /// The number of connections that could not be opened.
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

    mutating func count(_ outcome: APNsError.Outcome) {
        switch outcome {
        case .answered: refused += 1
        case .neverSent, .unprocessed: notSent += 1
        case .unknown: unknown += 1
        }
    }
}

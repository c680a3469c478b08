/// Where the time of a send went.
public struct SendTiming: Sendable, Hashable {
    /// Waiting for a connection, or for a stream on one.
    public internal(set) var waiting = Duration.zero
    /// On the wire, from the request to its answer, over all tries.
    public internal(set) var onWire = Duration.zero
    /// Between a refusal and the next try.
    public internal(set) var backingOff = Duration.zero
}

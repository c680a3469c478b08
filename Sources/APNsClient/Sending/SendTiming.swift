/// Where the time of a send went.
public struct SendTiming: Sendable, Hashable {
    /// Nanoseconds, since a duration takes twice the room.
    private var waitingTime: Int64 = 0
    private var wireTime: Int64 = 0
    private var backOffTime: Int64 = 0

    /// Waiting for a connection, or for a stream on one.
    public var waiting: Duration { .nanoseconds(waitingTime) }
    /// On the wire, from the request to its answer, over all tries.
    public var onWire: Duration { .nanoseconds(wireTime) }
    /// The time between a refusal and the next try, and the time that an update of a Live Activity waited for its
    /// timestamp.
    public var backingOff: Duration { .nanoseconds(backOffTime) }

    mutating func add(_ nanoseconds: Int64, in place: PushProgress.Place) {
        switch place {
        case .waiting: waitingTime += nanoseconds
        case .onWire: wireTime += nanoseconds
        case .delayed, .backingOff: backOffTime += nanoseconds
        case .nowhere, .settled: break
        }
    }
}

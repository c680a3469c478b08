/// An event in a simulator, passed to its followers.
enum SimulatorEvent: Sendable {
    /// A push was received and answered.
    case received(ReceivedPush)
    /// A push received earlier has a new delivery event, or its answer was not written.
    case changed(ReceivedPush)
    /// The pushes with these numbers were forgotten, as far as they were still stored.
    case forgotten(ClosedRange<Int>)
    /// The faults were changed.
    case faultsChanged
    /// The data for previews was changed.
    case previewsChanged
    /// Received pushes cannot be written to the data file.
    case trouble(SimulatorError)
    /// Streams were refused because a client had too many open.
    case streamsRefused(RefusedStreams)
    /// No event for a while: clients that follow over a network see that the simulator is still running.
    case nothing
}

/// A group of streams that were refused because a client had too many open.
package struct RefusedStreams: Sendable, Hashable {
    /// The number of the connection, from 1.
    package let connection: Int
    /// The number of streams.
    package let count: Int
}

/// The followers of a simulator's events, each of which is passed the events in order.
///
/// Events are passed at the end of a turn of the event loop, so that many pushes in one read wake each follower once.
struct Followers {
    private var tellers: [(SimulatorEvent) -> Bool] = []
    private var untold: [SimulatorEvent] = []

    /// The number of followers.
    var count: Int { tellers.count }
    /// Whether there are no followers, so that events need not be recorded.
    var isEmpty: Bool { tellers.isEmpty }
    /// Whether there are recorded events.
    var hasNews: Bool { !untold.isEmpty }

    /// Adds a follower that is passed every later event until `tell` returns false.
    mutating func add(_ tell: @escaping (SimulatorEvent) -> Bool) {
        tellers.append(tell)
    }

    /// Removes all followers.
    mutating func removeAll() {
        tellers = []
        untold = []
    }

    /// Records an event.
    mutating func note(_ event: SimulatorEvent) {
        if !isEmpty { untold.append(event) }
    }

    /// Passes the recorded events to all followers.
    mutating func tell() {
        let events = untold
        untold.removeAll(keepingCapacity: true)
        tellers.removeAll { tell in !events.allSatisfy(tell) }
    }
}

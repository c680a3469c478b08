/// Something that happened in a simulator, for those who follow along.
enum SimulatorEvent: Sendable {
    /// A push came in and was answered.
    case received(ReceivedPush)
    /// Something became of a push that came in before.
    case changed(ReceivedPush)
    /// The pushes of these numbers were forgotten, as far as they were still there.
    case forgotten(ClosedRange<Int>)
    /// What goes wrong was changed.
    case faultsChanged
    /// What previews are made of besides pushes was changed.
    case previewsChanged
    /// What comes in cannot be kept in the file that was asked for.
    case trouble(SimulatorError)
    /// Streams were refused because a client had too many open.
    case streamsRefused(RefusedStreams)
    /// Nothing, for a while: whoever listens over a network is to see that the simulator is still there.
    case nothing
}

/// Streams that were refused together, because a client had too many open.
package struct RefusedStreams: Sendable, Hashable {
    /// The connection; they count up from 1.
    package let connection: Int
    /// The number of streams.
    package let count: Int
}

/// Those who follow what happens, each told in order.
///
/// They are told at the end of a turn of the loop, so that many pushes that came in one piece wake nobody twice.
struct Followers {
    private var tellers: [(SimulatorEvent) -> Bool] = []
    private var untold: [SimulatorEvent] = []

    /// How many listen.
    var count: Int { tellers.count }
    /// Whether nobody listens; there is nothing to note then.
    var isEmpty: Bool { tellers.isEmpty }
    /// Whether something is still to be told.
    var hasNews: Bool { !untold.isEmpty }

    /// Adds one who is told of everything from now on, until `tell` returns false.
    mutating func add(_ tell: @escaping (SimulatorEvent) -> Bool) {
        tellers.append(tell)
    }

    /// Lets them all go.
    mutating func removeAll() {
        tellers = []
        untold = []
    }

    /// Notes what happened.
    mutating func note(_ event: SimulatorEvent) {
        if !isEmpty { untold.append(event) }
    }

    /// Tells everybody what has been noted.
    mutating func tell() {
        let events = untold
        untold.removeAll(keepingCapacity: true)
        tellers.removeAll { tell in !events.allSatisfy(tell) }
    }
}

/// Decides who leaves a listener: whoever has been without a whole request for too long, and when all places are taken,
/// whoever has been so for the longest.
///
/// libmicrohttpd gives up connections that are silent. One that sends a byte now and then, or takes one, it would keep
/// for as long as that goes on.
struct HTTP1Places {
    typealias Time = ContinuousClock.Instant

    private struct Place {
        var descriptor: CInt
        var turn: UInt64
        /// When it came, or was answered last.
        var since: Time
        /// Whether the client waits for its answer, which is no fault of its own.
        var isResting = false
    }

    private let limit: Int
    private var places: [UInt: Place] = [:]
    private var turn: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// A client has come, by the address of its connection.
    ///
    /// - Returns: The descriptor of the client that has to leave, so that the next finds a place; nil while there are
    ///   places, or when all wait for answers.
    mutating func arrived(_ connection: UInt, descriptor: CInt, at now: Time) -> CInt? {
        turn += 1
        places[connection] = Place(descriptor: descriptor, turn: turn, since: now)
        guard places.count >= limit else { return nil }
        return places.filter { !$0.value.isResting && $0.key != connection }.min { $0.value.turn < $1.value.turn }?
            .value.descriptor
    }

    /// A client's request is there, and is being answered.
    mutating func rests(_ connection: UInt) {
        places[connection]?.isResting = true
    }

    /// A client's answer is on its way.
    mutating func answered(_ connection: UInt, at now: Time) {
        turn += 1
        places[connection]?.isResting = false
        places[connection]?.turn = turn
        places[connection]?.since = now
    }

    /// The descriptors of clients that had no whole request since this time.
    func overdue(since time: Time) -> [CInt] {
        places.values.filter { !$0.isResting && $0.since <= time }.map(\.descriptor)
    }

    /// A client has gone.
    mutating func left(_ connection: UInt) {
        places[connection] = nil
    }
}

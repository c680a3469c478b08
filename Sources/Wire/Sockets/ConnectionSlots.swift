/// Decides which idle connection of a full server gives way to a new one: a value without I/O.
///
/// Hosts share the connections: the host with the most idle connections gives one up first, and of those the one that
/// has been idle for longest. A flood from one host closes that host's own connections.
struct ConnectionSlots<ID> {
    /// A connection on which the server owes no answer.
    struct Idle {
        var id: ID
        /// The client's address without its port.
        var host: String
        var since: MonotonicTime
    }

    /// The time between two looks at all connections, so that a flood does not cause one for each connection.
    static var scanInterval: Duration { .milliseconds(10) }

    /// The number of connections that a server accepts.
    let limit: Int
    /// The connections that give way, the next one last.
    private var victims: [ID] = []
    private var nextScan = MonotonicTime.zero

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a connection that was idle recently; nil when there is none, or it is too early to look again.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - idle: All connections that are idle.
    /// - Returns: The connection.
    mutating func victim(at now: MonotonicTime, among idle: () -> [Idle]) -> ID? {
        if now >= nextScan {
            nextScan = now.advanced(by: Self.scanInterval)
            victims = Self.ordered(idle())
        }
        return victims.popLast()
    }

    /// Takes a connection back that did not have to give way.
    mutating func putBack(_ id: ID) {
        victims.append(id)
    }

    private static func ordered(_ idle: [Idle]) -> [ID] {
        var counts: [String: Int] = [:]
        // The newest connection of a host counts as its first, the oldest as its last.
        let ranked = idle.sorted { $0.since > $1.since }.map { connection in
            counts[connection.host, default: 0] += 1
            return (connection, rank: counts[connection.host, default: 0])
        }
        return ranked.sorted { ($0.rank, $1.0.since) < ($1.rank, $0.0.since) }.map(\.0.id)
    }
}

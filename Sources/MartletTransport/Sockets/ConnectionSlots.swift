// SPDX-License-Identifier: Apache-2.0

/// The choice of idle connections that a full server closes to accept new ones.
///
/// The host with the most idle connections loses one first, and of those the one that has been idle for longest. A
/// flood from one host therefore closes that host's own connections.
package struct ConnectionSlots<ID> {
    /// A connection on which no request is in progress.
    package struct Idle {
        package var id: ID
        /// The client's address without its port.
        package var host: String
        /// The time since which no request has been in progress.
        package var since: MonotonicTime

        package init(id: ID, host: String, since: MonotonicTime) {
            self.id = id
            self.host = host
            self.since = since
        }
    }

    /// The time between two scans of all connections, so that a flood does not cause a scan for each connection.
    static var scanInterval: Duration { .milliseconds(10) }

    let limit: Int
    /// The connections to close, the next one last.
    private var candidates: [ID] = []
    private var nextScan = MonotonicTime.zero

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns a connection that was idle in the last scan; nil when there is none, or it is too early for another
    /// scan.
    mutating func nextCandidate(at now: MonotonicTime, among idle: () -> [Idle]) -> ID? {
        if now >= nextScan {
            nextScan = now.advanced(by: Self.scanInterval)
            candidates = Self.ordered(idle())
        }
        return candidates.popLast()
    }

    /// Returns a connection that was not closed to the list.
    mutating func putBack(_ id: ID) {
        candidates.append(id)
    }

    private static func ordered(_ idle: [Idle]) -> [ID] {
        var counts: [String: Int] = [:]
        // Within a host, the newest connection has the first rank and the oldest the last.
        let ranked = idle.sorted { $0.since > $1.since }.map { connection in
            counts[connection.host, default: 0] += 1
            return (connection, rank: counts[connection.host, default: 0])
        }
        return ranked.sorted { ($0.rank, $1.0.since) < ($1.rank, $0.0.since) }.map(\.0.id)
    }
}

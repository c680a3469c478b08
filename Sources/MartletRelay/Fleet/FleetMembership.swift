// SPDX-License-Identifier: Apache-2.0

/// The number of relays that share the outbox, and the role of this one.
struct FleetMembership: Sendable, Hashable {
    /// The number of relays, this one included.
    private(set) var size = 1
    /// Whether this relay performs the work of a single relay, such as maintenance.
    private(set) var isLeader = true

    /// Changes the values; returns whether they were others.
    mutating func update(size: Int, isLeader: Bool) -> Bool {
        let before = self
        self.size = max(1, size)
        self.isLeader = isLeader
        return self != before
    }

    /// Returns this relay's share of a limit for all relays.
    func share(of limit: Int) -> Int { max(1, limit / size) }
}

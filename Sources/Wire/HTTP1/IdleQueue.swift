/// Clients in the order in which they were last served, to find the one that has been idle for longest.
///
/// Every operation takes constant time on average, since a flood of connections uses them for each.
struct IdleQueue<ID: Hashable> {
    private var turns: [ID: Int] = [:]
    /// Entries whose turn is not in `turns` any more are skipped.
    private var entries: [(id: ID, turn: Int)] = []
    private var first = 0
    private var turn = 0

    /// Whether there is no client in the queue.
    var isEmpty: Bool { turns.isEmpty }

    /// Puts a client at the end, wherever it was before.
    mutating func append(_ id: ID) {
        turn += 1
        turns[id] = turn
        entries.append((id, turn))
        if entries.count > 2 * turns.count + 64 { compact() }
    }

    /// Takes a client out.
    mutating func remove(_ id: ID) {
        turns[id] = nil
    }

    /// Takes out the client that has been in the queue for longest.
    mutating func popFirst() -> ID? {
        while first < entries.count {
            let (id, turn) = entries[first]
            first += 1
            if turns[id] == turn {
                turns[id] = nil
                return id
            }
        }
        compact()
        return nil
    }

    private mutating func compact() {
        entries = entries[first...].filter { turns[$0.id] == $0.turn }
        first = 0
    }
}

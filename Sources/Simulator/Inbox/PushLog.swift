/// What came in last, as far back as number and age allow: a struct without I/O or a clock.
struct PushLog {
    private let limit: Int
    /// Seconds after which a push is forgotten.
    private let longestAge: Int64
    /// A ring once it is full, in which each new one takes the place of the oldest; oldest first before that.
    private var ring: [ReceivedPush] = []
    /// Where the oldest is.
    private var start = 0
    /// The number of the newest there ever was; how many have come in altogether.
    private(set) var lastNumber = 0

    init(limit: Int, longestAge: Duration) {
        self.limit = max(1, limit)
        self.longestAge = max(1, longestAge.components.seconds)
    }

    /// What is remembered, oldest first.
    var pushes: [ReceivedPush] { start == 0 ? ring : Array(ring[start...] + ring[..<start]) }

    /// The push of this number, as long as it is remembered.
    subscript(number: Int) -> ReceivedPush? {
        index(of: number).map { ring[$0] }
    }

    /// Begins with the newest of what there was, oldest first.
    mutating func restore(_ pushes: [ReceivedPush], lastNumber: Int) {
        (ring, start) = (pushes.suffix(limit), 0)
        self.lastNumber = max(lastNumber, ring.last?.number ?? 0)
    }

    /// Remembers a push, whose number has to be higher than all before.
    ///
    /// - Returns: The numbers between which all have been forgotten for it.
    mutating func append(_ push: ReceivedPush) -> ClosedRange<Int>? {
        lastNumber = push.number
        guard ring.count == limit else {
            ring.append(push)
            return nil
        }
        let forgotten = ring[start].number
        ring[start] = push
        start = (start + 1) % limit
        return forgotten...forgotten
    }

    /// Forgets what is too old at this time in seconds since 1970.
    ///
    /// - Returns: The numbers between which all have been forgotten.
    mutating func prune(at now: Int64) -> ClosedRange<Int>? {
        guard !ring.isEmpty, ring[start].time < now - longestAge else { return nil }
        let all = pushes
        let kept = all.drop { $0.time < now - longestAge }
        let forgotten = all[0].number...all[kept.startIndex - 1].number
        (ring, start) = (Array(kept), 0)
        return forgotten
    }

    /// Notes what became of a push; one that has been forgotten stays so.
    mutating func note(_ event: DeliveryEvent, on number: Int) {
        guard let index = index(of: number) else { return }
        ring[index].deliveries.append(event)
    }

    /// Forgets those that a condition is true of.
    ///
    /// - Returns: Their numbers.
    mutating func remove(where isUnwanted: (ReceivedPush) -> Bool) -> [Int] {
        let all = pushes
        let kept = all.filter { !isUnwanted($0) }
        guard kept.count < all.count else { return [] }
        (ring, start) = (kept, 0)
        let numbers = Set(kept.map(\.number))
        return all.map(\.number).filter { !numbers.contains($0) }
    }

    /// Where the push of this number is; numbers go up, with gaps where some were removed.
    private func index(of number: Int) -> Int? {
        var offsets = 0..<ring.count
        while let middle = offsets.isEmpty ? nil : offsets.lowerBound + offsets.count / 2 {
            let index = (start + middle) % ring.count
            if ring[index].number == number { return index }
            offsets = ring[index].number < number ? middle + 1..<offsets.upperBound : offsets.lowerBound..<middle
        }
        return nil
    }
}

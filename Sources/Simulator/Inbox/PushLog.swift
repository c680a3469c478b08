/// What came in last, as far back as number and age allow: a struct without I/O or a clock.
struct PushLog {
    /// What is remembered of the fate of one push.
    private static let deliveryLimit = 100

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
        self.lastNumber = min(max(lastNumber, ring.last?.number ?? 0, 0), PushLog.highestNumber)
    }

    /// No number that a damaged file holds may be so high that counting on from it fails.
    private static let highestNumber = Int.max / 2

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
        guard !ring.isEmpty, ring[start].arrival < now - longestAge else { return nil }
        let all = pushes
        let kept = all.drop { $0.arrival < now - longestAge }
        let forgotten = all[0].number...all[kept.startIndex - 1].number
        (ring, start) = (Array(kept), 0)
        return forgotten
    }

    /// Notes what became of a push; one that has been forgotten stays so.
    mutating func note(_ event: DeliveryEvent, on number: Int) {
        guard let index = index(of: number), ring[index].deliveries.count < PushLog.deliveryLimit else { return }
        ring[index].note(event)
    }

    /// Notes that the answer to a push was not written.
    mutating func loseAnswer(of number: Int, to loss: AnswerLoss) {
        if let index = index(of: number) { ring[index].loseAnswer(to: loss) }
    }

    /// Forgets those that a condition is true of.
    ///
    /// - Returns: How many those were, and their numbers: one range for all between two that are kept.
    mutating func remove(where isUnwanted: (ReceivedPush) -> Bool) -> (count: Int, [ClosedRange<Int>]) {
        var kept: [ReceivedPush] = []
        var ranges: [ClosedRange<Int>] = []
        var isInRange = false
        let all = pushes
        for push in all {
            if !isUnwanted(push) {
                kept.append(push)
                isInRange = false
            } else if isInRange, let last = ranges.popLast() {
                ranges.append(last.lowerBound...push.number)
            } else {
                ranges.append(push.number...push.number)
                isInRange = true
            }
        }
        (ring, start) = (kept, 0)
        return (all.count - kept.count, ranges)
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

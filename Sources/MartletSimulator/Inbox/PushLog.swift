// SPDX-License-Identifier: Apache-2.0

/// The most recent pushes, limited by number and age, without I/O or a clock.
struct PushLog {
    /// The maximum number of delivery events stored for one push.
    private static let deliveryLimit = 100

    private let limit: Int
    /// The number of seconds after which a push is forgotten.
    private let longestAge: Int64
    /// The pushes, oldest first; once full, a ring buffer in which each new push replaces the oldest.
    private var ring: [ReceivedPush] = []
    /// The index of the oldest push.
    private var start = 0
    /// The highest number of a push so far, which is the number of pushes received in total.
    private(set) var lastNumber = 0

    init(limit: Int, longestAge: Duration) {
        self.limit = max(1, limit)
        self.longestAge = max(1, longestAge.components.seconds)
    }

    /// The stored pushes, oldest first.
    var pushes: [ReceivedPush] { start == 0 ? ring : Array(ring[start...] + ring[..<start]) }

    /// The number of stored pushes.
    var count: Int { ring.count }
    /// The push that was received first; nil when none is stored.
    var oldest: ReceivedPush? { ring.isEmpty ? nil : ring[start] }
    /// The push that was received last; nil when none is stored.
    var newest: ReceivedPush? { ring.isEmpty ? nil : ring[index(at: ring.count - 1)] }

    /// The push with this number; nil when it is not stored.
    subscript(number: Int) -> ReceivedPush? {
        index(of: number).map { ring[$0] }
    }

    /// Returns stored pushes, oldest first, without copying the others.
    ///
    /// - Parameters:
    ///   - number: The number after which pushes are included.
    ///   - end: The number before which pushes are included.
    ///   - limit: The maximum number of pushes, the newest of those.
    /// - Returns: The pushes.
    func pushes(after number: Int = -1, before end: Int = .max, limit: Int = .max) -> [ReceivedPush] {
        let upper = position(of: end)
        let lower = max(number < .max ? position(of: number + 1) : ring.count, upper - min(limit, upper))
        return (lower..<max(lower, upper)).map { ring[index(at: $0)] }
    }

    /// Restores earlier pushes, oldest first, as many of the newest as the limit allows.
    mutating func restore(_ pushes: [ReceivedPush], lastNumber: Int) {
        (ring, start) = (pushes.suffix(limit), 0)
        self.lastNumber = min(max(lastNumber, ring.last?.number ?? 0, 0), PushLog.highestNumber)
    }

    /// The limit for numbers in a damaged file, so that counting on from them cannot overflow.
    private static let highestNumber = Int.max / 2

    /// Adds a push, whose number must be higher than all before.
    ///
    /// - Returns: The numbers of the pushes that were forgotten to make room; nil for none.
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

    /// Forgets the pushes that are too old at a time in seconds since 1970.
    ///
    /// - Returns: The range that contains the numbers of all forgotten pushes and of no stored one; nil for none.
    mutating func prune(at now: Int64) -> ClosedRange<Int>? {
        guard !ring.isEmpty, ring[start].arrival < now - longestAge else { return nil }
        let all = pushes
        let stored = all.drop { $0.arrival < now - longestAge }
        let forgotten = all[0].number...all[stored.startIndex - 1].number
        (ring, start) = (Array(stored), 0)
        return forgotten
    }

    /// Records a delivery event of a push; does nothing for a forgotten push.
    mutating func record(_ event: DeliveryEvent, on number: Int) {
        guard let index = index(of: number), ring[index].deliveries.count < PushLog.deliveryLimit else { return }
        ring[index].record(event)
    }

    /// Records that the answer to a push was not written.
    mutating func loseAnswer(of number: Int, to loss: AnswerLoss) {
        if let index = index(of: number) { ring[index].loseAnswer(to: loss) }
    }

    /// Forgets the pushes that match a condition.
    ///
    /// - Returns: The forgotten pushes, and their numbers, as a range for each run between two stored pushes.
    mutating func remove(
        where isUnwanted: (ReceivedPush) -> Bool
    ) -> (pushes: [ReceivedPush], numbers: [ClosedRange<Int>]) {
        var stored: [ReceivedPush] = []
        var removed: [ReceivedPush] = []
        var ranges: [ClosedRange<Int>] = []
        var isInRange = false
        for push in pushes {
            guard isUnwanted(push) else {
                stored.append(push)
                isInRange = false
                continue
            }
            removed.append(push)
            if isInRange, let last = ranges.popLast() {
                ranges.append(last.lowerBound...push.number)
            } else {
                ranges.append(push.number...push.number)
                isInRange = true
            }
        }
        (ring, start) = (stored, 0)
        return (removed, ranges)
    }

    /// Returns the index of the push with this number; nil when it is not stored.
    private func index(of number: Int) -> Int? {
        let position = position(of: number)
        guard position < ring.count, ring[index(at: position)].number == number else { return nil }
        return index(at: position)
    }

    /// Returns the number of pushes with lower numbers by binary search; numbers ascend, with gaps after removals.
    private func position(of number: Int) -> Int {
        var positions = 0..<ring.count
        while !positions.isEmpty {
            let middle = positions.lowerBound + positions.count / 2
            positions =
                ring[index(at: middle)].number < number
                ? middle + 1..<positions.upperBound : positions.lowerBound..<middle
        }
        return positions.lowerBound
    }

    /// Returns the index of a push by its position from the oldest.
    private func index(at position: Int) -> Int { (start + position) % ring.count }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The most recent pushes, limited by number and age, and the pinned ones, without I/O or a clock.
struct PushLog {
    /// The maximum number of delivery events stored for one push.
    private static let deliveryLimit = 100
    /// The maximum number of delivery events stored for a broadcast, which has some for each device.
    private static let broadcastDeliveryLimit = 400

    private let limit: Int
    /// The number of milliseconds after which a push is forgotten.
    private let longestAge: Int64
    /// The pinned pushes that are older than those in the ring, oldest first.
    private var kept: [ReceivedPush] = []
    /// Whether pushes are stored only because of a pin that has been removed.
    private(set) var hasUnpinned = false
    /// The pushes, oldest first; once full, a ring buffer in which each new push replaces the oldest.
    private var ring: [ReceivedPush] = []
    /// The index of the oldest push.
    private var start = 0
    /// The highest number of a push so far, which is the number of pushes received in total.
    private(set) var lastNumber = 0
    /// The number of pinned pushes.
    private(set) var pinCount = 0

    init(limit: Int, longestAge: Duration) {
        self.limit = max(1, limit)
        self.longestAge = Int64(millisecondsOf: max(1, longestAge.components.seconds))
    }

    /// The stored pushes, oldest first.
    var pushes: [ReceivedPush] {
        let recent = start == 0 ? ring : Array(ring[start...] + ring[..<start])
        return kept.isEmpty ? recent : kept + recent
    }

    /// The number of stored pushes.
    var count: Int { kept.count + ring.count }
    /// The push that was received first; nil when none is stored.
    var oldest: ReceivedPush? { kept.first ?? (ring.isEmpty ? nil : ring[start]) }
    /// The push that was received last; nil when none is stored.
    var newest: ReceivedPush? { ring.isEmpty ? kept.last : ring[index(at: ring.count - 1)] }

    /// The push with this number; nil when it is not stored.
    subscript(number: Int) -> ReceivedPush? {
        index(of: number).map { ring[$0] } ?? kept.first { $0.number == number }
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
        let recent = (lower..<max(lower, upper)).map { ring[index(at: $0)] }
        guard recent.count < limit, !kept.isEmpty else { return recent }
        return kept.filter { $0.number > number && $0.number < end }.suffix(limit - recent.count) + recent
    }

    /// Restores earlier pushes, oldest first: as many of the newest as the limit allows, and the pinned ones.
    ///
    /// - Returns: The numbers of the pushes that the limit does not allow.
    mutating func restore(_ pushes: [ReceivedPush], lastNumber: Int) -> [ClosedRange<Int>] {
        (ring, start) = (pushes.suffix(limit), 0)
        kept = pushes.dropLast(limit).filter(\.labels.isPinned)
        hasUnpinned = false
        self.lastNumber = min(max(lastNumber, ring.last?.number ?? 0, 0), PushLog.highestNumber)
        countPins()
        var forgotten: [ClosedRange<Int>] = []
        var next = 1
        for push in kept + ring.prefix(1) {
            if next < push.number { forgotten.append(next...push.number - 1) }
            next = push.number + 1
        }
        return forgotten
    }

    /// The limit for numbers in a damaged file, so that counting on from them cannot overflow.
    private static let highestNumber = Int.max / 2

    /// Adds a push, whose number must be higher than all before.
    ///
    /// - Returns: The numbers of the pushes that were forgotten to make room; nil for none.
    mutating func append(_ push: ReceivedPush) -> ClosedRange<Int>? {
        lastNumber = push.number
        if push.labels.isPinned { pinCount += 1 }
        guard ring.count == limit else {
            ring.append(push)
            return nil
        }
        let forgotten = ring[start].number
        let isKept = ring[start].labels.isPinned
        if isKept { kept.append(ring[start]) }
        ring[start] = push
        start = (start + 1) % limit
        return isKept ? nil : forgotten...forgotten
    }

    /// Forgets the pushes that are stored only because of a pin that has been removed.
    ///
    /// - Returns: Their numbers.
    mutating func forgetUnpinned() -> [ClosedRange<Int>] {
        let unpinned = kept.filter { !$0.labels.isPinned }
        kept.removeAll { !$0.labels.isPinned }
        hasUnpinned = false
        return unpinned.map { $0.number...$0.number }
    }

    /// Forgets the pushes that are too old at a time in milliseconds since 1970, except the pinned ones.
    ///
    /// - Returns: The ranges that contain the numbers of all forgotten pushes and of no stored one.
    mutating func prune(at now: Int64) -> [ClosedRange<Int>] {
        guard !ring.isEmpty, ring[start].arrival < now - longestAge else { return [] }
        let recent = start == 0 ? ring : Array(ring[start...] + ring[..<start])
        let stored = recent.drop { $0.arrival < now - longestAge }
        let old = recent[..<stored.startIndex]
        kept += old.filter(\.labels.isPinned)
        (ring, start) = (Array(stored), 0)
        return PushLog.ranges(of: old) { !$0.labels.isPinned }
    }

    /// Records a delivery event of a push; does nothing for a forgotten push.
    mutating func record(_ event: DeliveryEvent, on number: Int) {
        update(number) { push in
            let limit = push.isBroadcast ? PushLog.broadcastDeliveryLimit : PushLog.deliveryLimit
            guard push.deliveries.count < limit else { return }
            // A broadcast has events of its first devices only.
            if push.isBroadcast, event.replacedBy != nil,
                !push.deliveries.contains(where: { $0.device == event.device })
            {
                return
            }
            push.record(event)
        }
    }

    /// Adds a finding to a push that has none of the same rule.
    ///
    /// - Returns: Whether it was added.
    mutating func add(_ finding: PushLint.Finding, to number: Int) -> Bool {
        var isAdded = false
        update(number) { push in
            guard !push.observations.contains(where: { $0.rule == finding.rule }) else { return }
            push.observations.append(finding)
            isAdded = true
        }
        return isAdded
    }

    /// Records that the answer to a push was not written.
    mutating func loseAnswer(of number: Int, to loss: AnswerLoss) {
        update(number) { $0.loseAnswer(to: loss) }
    }

    /// Sets the tags of a push, and whether it is pinned.
    mutating func label(_ number: Int, tags: [String]?, isPinned: Bool?) {
        update(number) { push in
            if let tags { push.labels.tags = tags }
            if let isPinned { push.labels.isPinned = isPinned }
        }
        hasUnpinned = hasUnpinned || kept.contains { !$0.labels.isPinned }
        if isPinned != nil { countPins() }
    }

    /// Sets the nickname of the pushes to a device, whose token is in lower case.
    mutating func setName(_ name: String?, ofDevice token: String) {
        for index in ring.indices where ring[index].deviceToken.lowercased() == token {
            ring[index].labels.deviceName = name
        }
        for index in kept.indices where kept[index].deviceToken.lowercased() == token {
            kept[index].labels.deviceName = name
        }
    }

    private mutating func update(_ number: Int, _ change: (inout ReceivedPush) -> Void) {
        if let index = index(of: number) {
            change(&ring[index])
        } else if let index = kept.firstIndex(where: { $0.number == number }) {
            change(&kept[index])
        }
    }

    private mutating func countPins() {
        pinCount = pushes.count { $0.labels.isPinned }
    }

    /// Forgets the pushes that match a condition.
    ///
    /// - Returns: The forgotten pushes, and their numbers, as a range for each run between two stored pushes.
    mutating func remove(
        where isUnwanted: (ReceivedPush) -> Bool
    ) -> (pushes: [ReceivedPush], numbers: [ClosedRange<Int>]) {
        let all = pushes
        let unwanted = all.map(isUnwanted)
        let numbers = Set(zip(all, unwanted).compactMap { push, isUnwanted in isUnwanted ? push.number : nil })
        let stored = all.filter { !numbers.contains($0.number) }
        let keptCount = unwanted.prefix(kept.count).count { !$0 }
        (kept, ring, start) = (Array(stored.prefix(keptCount)), Array(stored.dropFirst(keptCount)), 0)
        countPins()
        let removed = all.filter { numbers.contains($0.number) }
        return (removed, PushLog.ranges(of: all[...]) { numbers.contains($0.number) })
    }

    /// Returns the numbers of the pushes that match a condition, as a range for each run between two others.
    private static func ranges(
        of pushes: ArraySlice<ReceivedPush>,
        where isIncluded: (ReceivedPush) -> Bool
    ) -> [ClosedRange<Int>] {
        var ranges: [ClosedRange<Int>] = []
        var isInRange = false
        for push in pushes {
            guard isIncluded(push) else {
                isInRange = false
                continue
            }
            if isInRange, let last = ranges.popLast() {
                ranges.append(last.lowerBound...push.number)
            } else {
                ranges.append(push.number...push.number)
                isInRange = true
            }
        }
        return ranges
    }

    /// Returns the index in the ring of the push with this number; nil when it is not there.
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

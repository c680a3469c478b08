// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

@Suite struct PushLogTests {
    private func log(limit: Int = 3, of numbers: ClosedRange<Int>) -> PushLog {
        var log = PushLog(limit: limit, longestAge: .seconds(10))
        for number in numbers { _ = log.append(.sample(number, at: Int64(number) * 1_000)) }
        return log
    }

    @Test func `a full log forgets its oldest push`() {
        var log = log(of: 1...3)
        #expect(log.append(.sample(4)) == 1...1)
        #expect(log.append(.sample(5)) == 2...2)
        #expect(log.pushes.map(\.number) == [3, 4, 5])
        #expect(log.lastNumber == 5)
        #expect((2...6).map { log[$0]?.number } == [nil, 3, 4, 5, nil])
    }

    @Test func `a part of the pushes is found by their numbers`() {
        var log = log(limit: 4, of: 1...6)
        _ = log.remove { $0.number == 4 }
        #expect(log.pushes.map(\.number) == [3, 5, 6])
        _ = log.append(.sample(9))
        _ = log.append(.sample(10))
        #expect(log.pushes().map(\.number) == [5, 6, 9, 10])
        #expect(log.oldest?.number == 5 && log.newest?.number == 10 && log.count == 4)
        for (after, end, limit, numbers) in [
            (5, 10, 4, [6, 9]), (4, 6, 9, [5]), (-1, .max, 3, [6, 9, 10]), (6, 9, 1, []), (9, 4, 1, []),
            (.max, .max, .max, []), (0, 0, 7, []), (7, 11, .max, [9, 10]),
        ] {
            #expect(log.pushes(after: after, before: end, limit: limit).map(\.number) == numbers)
        }
        _ = log.remove { _ in true }
        #expect(log.oldest == nil && log.newest == nil && log.pushes(limit: 2).isEmpty)
    }

    @Test func `pushes that are too old are forgotten`() {
        var log = log(of: 1...5)
        #expect(log.prune(at: 13_000).isEmpty)
        #expect(log.prune(at: 15_000) == [3...4])
        #expect(log.pushes.map(\.number) == [5])
    }

    @Test func `removed pushes are reported in ranges between stored ones`() {
        var log = log(limit: 6, of: 1...6)
        let (pushes, numbers) = log.remove { ![3, 6].contains($0.number) }
        #expect(pushes.map(\.number) == [1, 2, 4, 5])
        #expect(numbers == [1...2, 4...5])
        #expect((1...6).map { log[$0]?.number } == [nil, nil, 3, nil, nil, 6])
    }

    @Test func `the newest pushes are restored, and a number from a damaged file cannot overflow`() {
        var log = PushLog(limit: 2, longestAge: .seconds(10))
        #expect(log.restore([.sample(1), .sample(2), .sample(3)], lastNumber: 1) == [1...1])
        #expect(log.pushes.map(\.number) == [2, 3])
        #expect(log.lastNumber == 3)
        #expect(log.restore([], lastNumber: .max).isEmpty)
        #expect(log.lastNumber < .max)
    }

    @Test func `a push has at most a hundred delivery events`() {
        var log = log(of: 1...1)
        for time in 0..<200 { log.record(DeliveryEvent(.delivered, at: Int64(time)), on: 1) }
        log.record(DeliveryEvent(.delivered, at: 0), on: 2)
        #expect(log[1]?.deliveries.count == 100)
    }

    @Test func `pinned pushes are kept while newer ones are forgotten`() {
        var log = log(of: 1...3)
        log.label(1, tags: ["a", "b"], isPinned: true)
        log.label(3, tags: nil, isPinned: true)
        #expect(log.pinCount == 2 && log[1]?.labels.tags == ["a", "b"])
        #expect((4...7).map { log.append(.sample($0, at: Int64($0) * 1_000)) } == [nil, 2...2, nil, 4...4])
        #expect(
            log.pushes.map(\.number) == [1, 3, 5, 6, 7]
                && (1...5).map { log[$0] != nil } == [true, false, true, false, true]
        )
        log.record(DeliveryEvent(.delivered, at: 0), on: 1)
        #expect(log[1]?.deliveries.count == 1)
        #expect(log.prune(at: 17_000) == [5...6])
        #expect(log.pushes.map(\.number) == [1, 3, 7])
        let stored = log.pushes
        var restored = PushLog(limit: 1, longestAge: .seconds(10))
        #expect(restored.restore(stored, lastNumber: 7) == [2...2, 4...6] && restored.pinCount == 2)
        #expect(restored.pushes.map(\.number) == [1, 3, 7])
        restored.label(1, tags: [], isPinned: false)
        #expect(restored.pinCount == 1 && restored.pushes.map(\.number) == [1, 3, 7])
        #expect(restored.hasUnpinned && restored.append(.sample(8, at: 8_000)) == 7...7)
        #expect(restored.forgetUnpinned() == [1...1] && !restored.hasUnpinned)
        let (removed, numbers) = restored.remove { $0.number == 3 }
        #expect(removed.map(\.number) == [3] && numbers == [3...3] && restored.pinCount == 0)
    }

    @Test func `the pushes of a device have its nickname`() {
        var log = log(of: 1...2)
        log.label(1, tags: nil, isPinned: true)
        _ = log.append(.sample(3, to: "AB"))
        _ = log.append(.sample(4, to: "ab"))
        log.setName("Anna", ofDevice: "ab")
        #expect(log.pushes.map(\.labels.deviceName) == [nil, nil, "Anna", "Anna"])
        log.setName(nil, ofDevice: "ab")
        #expect(log.pushes.allSatisfy { $0.labels.deviceName == nil })
    }
}

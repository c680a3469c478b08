// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

@Suite struct PushLogTests {
    private func log(limit: Int = 3, of numbers: ClosedRange<Int>) -> PushLog {
        var log = PushLog(limit: limit, longestAge: .seconds(10))
        for number in numbers { _ = log.append(.sample(number, at: Int64(number))) }
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
        #expect(log.prune(at: 13) == nil)
        #expect(log.prune(at: 15) == 3...4)
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
        log.restore([.sample(1), .sample(2), .sample(3)], lastNumber: 1)
        #expect(log.pushes.map(\.number) == [2, 3])
        #expect(log.lastNumber == 3)
        log.restore([], lastNumber: .max)
        #expect(log.lastNumber < .max)
    }

    @Test func `a push has at most a hundred delivery events`() {
        var log = log(of: 1...1)
        for time in 0..<200 { log.record(DeliveryEvent(.delivered, at: Int64(time)), on: 1) }
        log.record(DeliveryEvent(.delivered, at: 0), on: 2)
        #expect(log[1]?.deliveries.count == 100)
    }
}

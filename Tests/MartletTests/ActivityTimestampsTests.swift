// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import Martlet

@Suite struct ActivityTimestampsTests {
    private typealias Slot = ActivityTimestamps.Slot

    private let first = ActivityTimestamps.Address.channel("first", app: "com.example.app")
    private let second = ActivityTimestamps.Address.channel("second", app: "com.example.app")

    /// Microseconds since 1970 of a time in seconds.
    private func time(_ seconds: Double) -> Int64 { Int64(seconds * 1_000_000) }

    @Test func `the timestamps of start, update and end increase`() {
        var timestamps = ActivityTimestamps()
        let expected: [(ActivityTimestamps.Event, Int64)] = [(.start, 998), (.update, 1_000), (.end, 1_002)]
        for (event, timestamp) in expected {
            let slot = timestamps.next(event, for: first, at: time(1_000.9), within: .seconds(60))
            #expect(slot == Slot(timestamp: timestamp, delay: .zero, isHeld: event == .update))
        }
    }

    @Test func `updates within a second get successive seconds per activity`() {
        var timestamps = ActivityTimestamps()
        let slots = (0..<3).map { _ in timestamps.next(.update, for: first, at: time(1_000.25), within: .seconds(60)) }
        #expect(
            slots == [
                Slot(timestamp: 1_000, delay: .zero), Slot(timestamp: 1_001, delay: .milliseconds(750)),
                Slot(timestamp: 1_002, delay: .milliseconds(1_750)),
            ]
        )
        let other = timestamps.next(.update, for: second, at: time(1_000.5), within: .seconds(60))
        #expect(other == Slot(timestamp: 1_000, delay: .zero))
        // An end is sent with the last update. A second end does not wait longer.
        for _ in 0..<2 {
            let end = timestamps.next(.end, for: first, at: time(1_000.25), within: .seconds(60))
            #expect(end == Slot(timestamp: 1_004, delay: .milliseconds(1_750), isHeld: false))
        }
        let later = timestamps.next(.update, for: second, at: time(1_001), within: .seconds(60))
        #expect(later == Slot(timestamp: 1_001, delay: .zero))
    }

    @Test func `an update that would wait too long is refused without a second`() {
        var timestamps = ActivityTimestamps()
        _ = timestamps.next(.update, for: first, at: time(1_000), within: .seconds(2))
        #expect(timestamps.next(.update, for: first, at: time(1_000), within: .seconds(1)) == nil)
        let slot = timestamps.next(.update, for: first, at: time(1_000), within: .seconds(2))
        #expect(slot == Slot(timestamp: 1_001, delay: .seconds(1)))
    }

    @Test func `a timestamp of the caller's takes its second, unless it is ahead of the clock`() {
        var timestamps = ActivityTimestamps()
        _ = timestamps.chosen(1_000, for: first, at: time(1_000.5))
        _ = timestamps.chosen(4_000, for: first, at: time(1_000.5))
        let slot = timestamps.next(.update, for: first, at: time(1_000.5), within: .seconds(60))
        #expect(slot == Slot(timestamp: 1_001, delay: .milliseconds(500)))
    }

    /// Three updates at once, with the timestamps 1 000, 1 001 and 1 002.
    private func threeUpdates(_ timestamps: inout ActivityTimestamps) throws -> [Slot] {
        let slots = (0..<3).map { _ in timestamps.next(.update, for: first, at: time(1_000.5), within: .seconds(60)) }
        return try slots.map { try #require($0) }
    }

    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    func `updates that were not delivered release their seconds in any order`(order: [Int]) throws {
        var timestamps = ActivityTimestamps()
        let slots = try threeUpdates(&timestamps)
        for index in order { timestamps.settle(slots[index], for: first, isUsed: false) }
        #expect(timestamps.count == 0)
        let next = timestamps.next(.update, for: first, at: time(1_000.5), within: .seconds(60))
        #expect(next == Slot(timestamp: 1_000, delay: .zero))
    }

    @Test func `a second before one that is held or used is not assigned again`() throws {
        var timestamps = ActivityTimestamps()
        let slots = try threeUpdates(&timestamps)
        timestamps.settle(slots[0], for: first, isUsed: false)
        var next = timestamps.next(.update, for: first, at: time(1_000.5), within: .seconds(60))
        #expect(next?.timestamp == 1_003, "1 002 is held")
        timestamps.settle(try #require(next), for: first, isUsed: false)
        timestamps.settle(slots[1], for: first, isUsed: true)
        timestamps.settle(slots[2], for: first, isUsed: false)
        next = timestamps.next(.update, for: first, at: time(1_000.5), within: .seconds(60))
        #expect(next?.timestamp == 1_002, "1 001 is used")
    }

    @Test func `a timestamp of the caller's that is not stored releases nothing`() throws {
        var timestamps = ActivityTimestamps()
        let slots = try threeUpdates(&timestamps)
        let chosen = timestamps.chosen(1_002, for: first, at: time(1_000.5))
        timestamps.settle(chosen, for: first, isUsed: false)
        let next = timestamps.next(.update, for: first, at: time(1_000.5), within: .seconds(60))
        #expect(next?.timestamp == 1_003)
        // A result that is reported twice changes nothing.
        for _ in 0..<2 { timestamps.settle(slots[2], for: first, isUsed: true) }
        timestamps.settle(slots[2], for: first, isUsed: false)
        #expect(timestamps.next(.update, for: first, at: time(1_000.5), within: .seconds(60))?.timestamp == 1_004)
    }

    @Test func `timestamps increase without a delay after the clock is set back`() {
        var timestamps = ActivityTimestamps()
        _ = timestamps.next(.update, for: first, at: time(9_000), within: .seconds(60))
        for timestamp in 9_001...9_003 as ClosedRange<Int64> {
            let slot = timestamps.next(.update, for: first, at: time(1_000), within: .seconds(60))
            #expect(slot == Slot(timestamp: timestamp, delay: .zero))
        }
        let other = timestamps.next(.update, for: second, at: time(1_000), within: .seconds(60))
        #expect(other == Slot(timestamp: 1_000, delay: .zero))
    }

    @Test func `updates wait as usual after a small step back of the clock`() {
        var timestamps = ActivityTimestamps()
        _ = timestamps.next(.update, for: first, at: time(1_000.1), within: .seconds(60))
        for timestamp in 1_001...1_003 as ClosedRange<Int64> {
            let slot = timestamps.next(.update, for: first, at: time(999.9), within: .seconds(60))
            #expect(slot == Slot(timestamp: timestamp, delay: .milliseconds((timestamp - 1_000) * 1_000 + 100)))
        }
    }

    @Test func `activities that the clock has passed are forgotten, and no others`() {
        var timestamps = ActivityTimestamps()
        for number in 0..<5_000 {
            let address = ActivityTimestamps.Address.channel(ChannelID("\(number)"), app: "com.example.app")
            _ = timestamps.next(.update, for: address, at: time(Double(number / 100)), within: .seconds(60))
        }
        #expect(timestamps.count <= 2_000)
        let slot = timestamps.next(
            .update,
            for: .channel("4999", app: "com.example.app"),
            at: time(49),
            within: .seconds(60)
        )
        #expect(slot == Slot(timestamp: 50, delay: .seconds(1)))
    }

    @Test(arguments: [1, 2]) func `the phone ignores one of two updates in a second, and no end`(processes: Int) {
        var broken: [String] = []
        for seed in 1...5_000 as ClosedRange<UInt64> {
            do throws(SimulatedActivity.Violation) {
                var activity = SimulatedActivity(seed: seed, processes: processes)
                try activity.run()
            } catch {
                broken.append("seed \(seed): \(error)")
            }
        }
        #expect(broken.isEmpty, "\(broken.count) of 5 000; the first: \(broken.prefix(10))")
    }
}

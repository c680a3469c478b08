// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct ConnectionSlotsTests {
    private func idle(_ id: Int, _ host: String, since seconds: Int64) -> ConnectionSlots<Int>.Idle {
        .init(id: id, host: host, since: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
    }

    @Test func `the host with most idle connections loses its oldest first`() {
        var slots = ConnectionSlots<Int>(limit: 5)
        let all = [
            idle(1, "a", since: 1), idle(2, "b", since: 2), idle(3, "b", since: 3), idle(4, "b", since: 4),
            idle(5, "c", since: 5),
        ]
        var candidates: [Int?] = []
        for _ in 0..<6 { candidates.append(slots.nextCandidate(at: .zero, among: { all })) }
        #expect(candidates == [2, 3, 1, 4, 5, nil])
    }

    @Test func `an outdated order of candidates is determined again`() {
        var slots = ConnectionSlots<Int>(limit: 2)
        let first = slots.nextCandidate(at: .zero, among: { [idle(1, "a", since: 1), idle(2, "a", since: 2)] })
        #expect(first == 1)
        slots.putBack(1)
        let later = MonotonicTime(nanoseconds: 20_000_000)
        #expect(slots.nextCandidate(at: later, among: { [idle(1, "a", since: 3), idle(2, "a", since: 2)] }) == 2)
    }

    @Test func `connections are scanned at most a hundred times a second`() {
        var slots = ConnectionSlots<Int>(limit: 1)
        var scans = 0
        for millisecond in 0..<1_000 {
            let now = MonotonicTime(nanoseconds: Int64(millisecond) * 1_000_000)
            let candidate = slots.nextCandidate(at: now) {
                scans += 1
                return []
            }
            #expect(candidate == nil)
        }
        #expect(scans == 100)
    }
}

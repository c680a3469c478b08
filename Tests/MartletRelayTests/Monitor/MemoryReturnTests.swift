// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

@Suite struct MemoryReturnTests {
    private static let megabyte = 1 << 20

    /// The samples, in megabytes, at which memory is returned, down to 40 MB.
    private func returns(in samples: [Int]) -> [Int] {
        var decision = MemoryReturn(residentBytes: 30 * Self.megabyte)
        return samples.indices.filter { index in
            guard decision.isDue(at: samples[index] * Self.megabyte) else { return false }
            decision.finished(at: 40 * Self.megabyte)
            return true
        }
    }

    @Test func `memory is returned once it has grown much and grows no more`() {
        #expect(returns(in: [30, 60, 94, 94, 94]) == [])
        #expect(returns(in: [30, 200, 400, 400, 40, 40]) == [3])
        #expect(returns(in: [30, 200, 400, 390, 60, 100, 104, 104, 110, 110]) == [3, 7, 9])
    }

    @Test func `memory that is freed after a return is returned, too`() {
        var decision = MemoryReturn(residentBytes: 30 * Self.megabyte)
        let first = [200, 200].map { decision.isDue(at: $0 * Self.megabyte) }
        #expect(first == [false, true])
        // Connections still use most of it.
        decision.finished(at: 150 * Self.megabyte)
        let isDueAgain = decision.isDue(at: 150 * Self.megabyte)
        #expect(isDueAgain)
    }

    @Test func `memory that stays in use is returned less and less often`() {
        var decision = MemoryReturn(residentBytes: 30 * Self.megabyte)
        let returns = (0..<300).filter { _ in
            guard decision.isDue(at: 200 * Self.megabyte) else { return false }
            decision.finished(at: 199 * Self.megabyte)
            return true
        }
        #expect(returns.count < 15, "\(returns)")
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletCore

/// Tests of numbers in sentences.
@Suite struct CountTextTests {
    @Test(arguments: [(0, "0"), (7, "7"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000")])
    func `digits are in groups of three`(number: Int, text: String) {
        #expect(number.grouped == text)
    }

    @Test func `the extreme numbers have texts`() {
        #expect(Int64.min.grouped == "-9,223,372,036,854,775,808")
        #expect(UInt64.max.grouped == "18,446,744,073,709,551,615")
    }

    @Test func `one thing is in the singular`() {
        #expect([0, 1, 2, 8_788].map { $0.counted("push") } == ["0 pushes", "1 push", "2 pushes", "8,788 pushes"])
        #expect(1.counted("day") == "1 day" && (-1).counted("day") == "-1 days" && 2.counted("day") == "2 days")
        #expect([1, 3].map { $0.counted("push was", "pushes were") } == ["1 push was", "3 pushes were"])
    }
}

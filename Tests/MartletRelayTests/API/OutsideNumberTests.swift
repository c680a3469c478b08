// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Numbers of clocks and of other relays, which may be any.
@Suite struct OutsideNumberTests {
    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e400", "\"x\""])
    func `extreme numbers of another relay can be added up`(number: String) throws {
        let text =
            #"{"sent":\#(number),"in-flight":\#(number),"connections":\#(number),"outcomes":{"dead":\#(number)}}"#
        let facts = LaneCounts(try JSONReader.read(Array(text.utf8)))
        let sum = facts + facts
        let isLarge = number == "9223372036854775807"
        #expect(sum.sent == (isLarge ? 1 << 54 : 0) && sum.outcomes[.dead] == sum.sent && sum.inFlight == sum.sent)
    }

    @Test(arguments: [0, 1_000, 253_402_300_799_000, .max] as [Int64])
    func `a clock that is set ahead allows the pushes of one second`(time: Int64) {
        var limit = RateLimit(rate: 1_000_000, at: 0)
        var count = 0
        while count <= 1_000_000, limit.take(at: time) { count += 1 }
        #expect(count == 1_000_000)
    }
}

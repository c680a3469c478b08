// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

@Suite struct CallSlotsTests {
    private var slots = CallSlots<String>(limit: 2)

    @Test mutating func `calls of one app wait in order, and those of another do not`() {
        let begun = [slots.begin(of: "a"), slots.begin(of: "a"), slots.begin(of: "a"), slots.begin(of: "b")]
        #expect(begun == [true, true, false, true])
        slots.wait("third", of: "a")
        slots.wait("fourth", of: "a")
        let next = [slots.end(of: "a"), slots.end(of: "a"), slots.end(of: "a"), slots.end(of: "b")]
        #expect(next == ["third", "fourth", nil, nil])
        // One call of the app is still under way.
        let further = [slots.begin(of: "a"), slots.begin(of: "a")]
        #expect(further == [true, false])
    }

    @Test mutating func `waiting calls begin together after a failure`() {
        let begun = [slots.begin(of: "a"), slots.begin(of: "a")]
        slots.wait("third", of: "a")
        slots.wait("fourth", of: "a")
        let together = slots.beginWaiting(of: "a")
        #expect(begun == [true, true] && together == ["third", "fourth"])
        // Four calls are under way, two more than the limit.
        let isBegun = slots.begin(of: "a")
        slots.wait("fifth", of: "a")
        let next = [slots.end(of: "a"), slots.end(of: "a"), slots.end(of: "a"), slots.end(of: "a")]
        #expect(!isBegun && next == [nil, nil, "fifth", nil])
        let further = [slots.begin(of: "a"), slots.begin(of: "a")]
        #expect(further == [true, false])
    }
}

// SPDX-License-Identifier: Apache-2.0

import Synchronization
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

    @Test func `a long call waits for the others of its caller, in order`() async throws {
        let calls = LongCalls()
        await calls.begin(of: "a")
        await calls.begin(of: "b")
        let begun = Mutex(0)
        async let second: Void = {
            await calls.begin(of: "a")
            begun.withLock { $0 += 1 }
        }()
        #expect(begun.withLock { $0 } == 0)
        calls.end(of: "b")
        #expect(begun.withLock { $0 } == 0)
        calls.end(of: "a")
        await second
        #expect(begun.withLock { $0 } == 1)
        calls.end(of: "a")
        await calls.begin(of: "a")
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletSimulator

@Suite struct RecentValuesTests {
    @Test func `the value that was set least recently makes room`() {
        var values = RecentValues<String, Int>(capacity: 2)
        let replaced = [("a", 1), ("b", 2), ("a", 3), ("c", 4)].map { values.updateValue($1, forKey: $0) }
        #expect(replaced == [nil, nil, 1, nil])
        #expect(values["a"] == 3 && values["b"] == nil && values["c"] == 4)
    }

    @Test func `a removed value leaves room, and its key can be set again`() {
        var values = RecentValues<String, Int>(capacity: 2)
        for (value, key) in ["a", "b"].enumerated() { values.updateValue(value, forKey: key) }
        values.removeValue(forKey: "a")
        values.updateValue(2, forKey: "c")
        values.updateValue(3, forKey: "a")
        #expect(values["a"] == 3 && values["b"] == nil && values["c"] == 2)
    }

    @Test func `values are removed by their keys`() {
        var values = RecentValues<String, Int>(capacity: 2)
        for (value, key) in ["a1", "b1"].enumerated() { values.updateValue(value, forKey: key) }
        values.removeValues { $0.hasPrefix("a") }
        #expect(values["a1"] == nil && values["b1"] == 1 && values.count == 1)
        values.updateValue(2, forKey: "c1")
        #expect(values["b1"] == 1 && values["c1"] == 2)
    }

    @Test func `old values are removed in the order in which they were set`() {
        var values = RecentValues<String, Int>(capacity: 10)
        for (value, key) in ["a", "b", "c", "a"].enumerated() { values.updateValue(value, forKey: key) }
        values.removeOldest { $0 < 2 }
        #expect(values["a"] == 3 && values["b"] == nil && values["c"] == 2)
        values.removeOldest { _ in true }
        #expect(values.count == 0)
    }

    @Test func `one key that is set again and again needs no more room`() {
        var values = RecentValues<Int, Int>(capacity: 3)
        values.updateValue(-1, forKey: -1)
        for value in 0..<10_000 { values.updateValue(value, forKey: value % 2) }
        #expect(values.count == 3 && values[-1] == -1 && values[0] == 9_998 && values[1] == 9_999)
    }
}

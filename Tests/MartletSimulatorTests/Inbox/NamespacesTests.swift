// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

@Suite struct NamespacesTests {
    private var generator = SplitMix64(state: 1)

    @Test mutating func `a push belongs to the namespace in its header, or at the start of its device token`() throws {
        var namespaces = Namespaces()
        let made = try #require(namespaces.make(lasting: 60, at: 100_000, using: &generator))
        #expect(made.name.count == 8 && made.end == 160_000)
        #expect(namespaces.namespace(header: nil, deviceToken: made.name.uppercased() + "5d3a") == made.name)
        #expect(namespaces.namespace(header: "other", deviceToken: made.name + "5d3a") == "other")
        #expect(namespaces.namespace(header: nil, deviceToken: "5d3a") == nil)
    }

    @Test mutating func `a namespace ends after its time, or when it is removed`() throws {
        var namespaces = Namespaces()
        let first = try #require(namespaces.make(lasting: 60, at: 0, using: &generator))
        let second = try #require(namespaces.make(lasting: 90, at: 0, using: &generator))
        #expect(namespaces.removeEnded(at: 59_999).isEmpty)
        #expect(namespaces.removeEnded(at: 60_000) == [first.name])
        #expect(namespaces.namespace(header: nil, deviceToken: first.name) == nil)
        let results = [namespaces.remove(second.name), namespaces.remove(second.name)]
        #expect(results == [true, false])
    }

    @Test mutating func `the number of namespaces is limited`() {
        var namespaces = Namespaces()
        for _ in 0..<10_000 { _ = namespaces.make(lasting: 60, at: 0, using: &generator) }
        #expect(namespaces.make(lasting: 60, at: 0, using: &generator) == nil)
    }
}

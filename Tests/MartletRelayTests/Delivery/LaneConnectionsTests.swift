// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import Testing

@testable import MartletRelay

@Suite struct LaneConnectionsTests {
    @Test func `open connections and failures are counted`() {
        var connections = LaneConnections()
        connections.record(.connected(connection: 1))
        connections.record(.connected(connection: 2))
        connections.record(.goAway(connection: 1, .internalServerError))
        connections.record(.goAway(connection: 2, nil))
        #expect(connections.count == 2)
        #expect(connections.goAways == ["InternalServerError": 1, "": 1])
    }
}

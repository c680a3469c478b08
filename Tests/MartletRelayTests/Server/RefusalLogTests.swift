// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

@Suite struct RefusalLogTests {
    @Test func `each cause has its own limit, and omitted lines are counted later`() {
        var log = RefusalLog()
        let taken = [
            log.take(.noCredentials, at: 0), log.take(.noCredentials, at: 1), log.take(.expired, at: 2),
            log.take(.noCredentials, at: 3),
        ]
        #expect(taken == [0, nil, 0, nil])
        let early = log.takeOmitted(at: 30_000)
        #expect(early.isEmpty)
        let omitted = log.takeOmitted(at: 31_000)
        #expect(omitted.map(\.cause) == [.noCredentials] && omitted.map(\.count) == [2])
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

@Suite struct ServerCountsTests {
    @Test func `requests are counted by caller and outcome`() {
        var counts = ServerCounts()
        for status in [200, 202, 403, 503] {
            counts.answered("POST", "/v1/pushes", status: status, .zero, by: "a")
        }
        counts.answered("GET", "/livez", status: 200, .zero, by: nil)
        #expect(ServerCounts.Outcome.allCases.map { counts.requests(of: "a", $0) } == [2, 1, 1])
        counts.forgetCallers(except: ["b"])
        #expect(ServerCounts.Outcome.allCases.map { counts.requests(of: "a", $0) } == [0, 0, 0])
        #expect(ServerCounts.Outcome.allCases.map { counts.requests(of: CallerCounter.other, $0) } == [2, 1, 1])
    }
}

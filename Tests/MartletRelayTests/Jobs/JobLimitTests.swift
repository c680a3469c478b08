// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletRelay

/// The maximum number of jobs of an app that are being expanded.
@Suite(.timeLimit(.minutes(10))) struct JobLimitTests {
    @Test func `a job that has ended makes room for one other job`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let body = #"{"to":{"all":true},"not-before":\#(clock.now + 600),"payload":{"aps":{"alert":"Hi"}}}"#
        var last = await bench.relay.ask("POST", "/v1/pushes", body)
        for _ in 1..<RelayAPI.Service.jobLimit {
            last = await bench.relay.ask("POST", "/v1/pushes", body)
            #expect(last.status == 202, "\(last.text)")
        }
        let id = try #require(last.json["id"]?.stringValue)
        #expect(await bench.relay.ask("DELETE", "/v1/apps/orders/jobs/" + id).status == 200)
        #expect(await bench.relay.ask("POST", "/v1/pushes", body).status == 202)
        #expect(await bench.relay.ask("POST", "/v1/pushes", body).status == 429)
        await bench.stop()
    }
}

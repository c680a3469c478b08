// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// A push whose credentials Apple refuses, among others that it accepts.
@Suite(.timeLimit(.minutes(10))) struct OddPushTests {
    @Test func `a push with refused credentials does not delay others`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger())
        #expect(await bench.push().json["state"] == "delivered")
        let order = #"{"to":"5d3a6a1c000403","payload":{"aps":{"alert":"Hi"}}}"#
        let odd = await bench.ask("POST", "/v1/pushes", order)
        let id = try #require(odd.json["id"]?.stringValue, "\(odd.text)")
        guard
            case .found = await bench.apple.wait(
                for: try PushQuery("device:5d3a6a1c000403"),
                count: 1,
                timeout: .seconds(300)
            )
        else {
            Issue.record("it never reached Apple")
            return
        }
        for _ in 0..<3 { #expect(await bench.push().json["state"] == "delivered") }
        #expect(await bench.ask("GET", "/v1/pushes/\(id)").json["state"] == "accepted")
        #expect(await bench.ask("DELETE", "/v1/pushes/\(id)").json["state"] == "cancelled")
        #expect(!lines.objects.contains { $0["msg"] == "lane down" })
        await bench.stop()
    }

    @Test func `a lane that is down logs its pause, and pushes can be cancelled`() async throws {
        let lines = LogLines()
        let fault = SimulatedAPNs.Fault(.respond(.invalidProviderToken))
        let bench = try await RelayBench(faults: [fault], log: lines.logger())
        var ids: [String] = []
        for number in 0..<3 {
            let order = #"{"to":"5d3a6a1c\#(number)0","payload":{"aps":{"alert":"Hi"}}}"#
            let answer = await bench.ask("POST", "/v1/pushes?wait=0", order)
            ids.append(try #require(answer.json["id"]?.stringValue))
        }
        guard case .found = await bench.apple.wait(for: try PushQuery(""), count: 2, timeout: .seconds(300)) else {
            Issue.record("nothing reached Apple")
            return
        }
        try await eventually("the lane is logged as down") { lines.objects.contains { $0["msg"] == "lane down" } }
        let line = try #require(lines.objects.first { $0["msg"] == "lane down" })
        #expect((1...2).contains(line["seconds"]?.integerValue ?? 0), "\(line)")
        for id in ids {
            var answer = RelayBench.Answer(status: 0, text: "")
            // A trial may be under way.
            try await eventually("the push can be cancelled") {
                answer = await bench.ask("DELETE", "/v1/pushes/\(id)")
                return answer.status != 409
            }
            #expect(answer.json["state"] == "cancelled", "\(answer.text)")
        }
        await bench.stop()
    }
}

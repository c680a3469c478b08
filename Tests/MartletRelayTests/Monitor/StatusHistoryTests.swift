// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

@Suite struct StatusHistoryTests {
    private static let lane = Lane(app: "orders", environment: .production)

    @Test func `the samples of an hour are stored, with rates between them`() {
        var history = StatusHistory()
        var now: Int64 = 1_000_000
        for index in 0..<400 {
            #expect(history.wants(at: now) && !history.wants(at: now - 1) || index == 0)
            let sample = StatusHistory.LaneSample(
                backlog: index,
                oldest: Int64(index),
                sent: index * 45,
                delivered: index * 20
            )
            history.add([Self.lane: sample], at: now)
            now += 10_000
        }
        let json = history.json(of: [Self.lane])
        let samples = json["samples"]?.elements ?? []
        #expect(json["lanes"] == ["orders production"] && samples.count == 360)
        let rate = JSONNumber(4.5).map(JSONValue.number) ?? .null
        #expect(
            samples.last?["lanes"] == [
                [
                    "backlog": 399, "oldest-seconds": 399, "sent-per-second": rate, "delivered-per-second": 2,
                    "failed-per-second": 0,
                ]
            ]
        )
        #expect(samples.first?["lanes"]?.elements?.first?["sent-per-second"] == 0)
    }

    @Test func `a lane without samples has no figures`() {
        var history = StatusHistory()
        history.add([:], at: 1_000)
        #expect(history.json(of: [Self.lane])["samples"]?.elements?.first?["lanes"] == [[:]])
    }
}

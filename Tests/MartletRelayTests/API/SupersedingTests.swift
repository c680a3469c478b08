// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// Pushes that replace earlier ones, over the interface in JSON.
@Suite(.timeLimit(.minutes(10))) struct SupersedingTests {
    private static let lane = Lane(app: "orders", environment: .production)
    private static let place = "/v1/apps/orders/lanes/production"

    private static func score(_ score: Int, _ members: String = #""supersede":true"#) -> String {
        #"{"to":"5d3a6a1c","collapse-id":"score","payload":{"aps":{"alert":"\#(score)"}},\#(members)}"#
    }

    @Test func `a superseded push is reported to its callers and listeners`() async throws {
        let bench = try await RelayBench()
        _ = await bench.ask("POST", Self.place + "/pause")
        let events = try await bench.parts.intake.listen(for: RelayBench.listener(to: "orders"), after: nil)
        let first = await bench.ask("POST", "/v1/pushes", Self.score(1, #""priority":5"#))
        let id = try #require(first.json["id"]?.stringValue)
        async let waiting = bench.ask("GET", "/v1/pushes/\(id)?wait=60")
        let second = await bench.ask("POST", "/v1/pushes", Self.score(2))
        #expect(second.status == 202 && second.json["state"] == "accepted", "\(second.text)")
        let answer = await waiting
        #expect(answer.json["state"] == "superseded" && answer.json["attempts"] == 0, "\(answer.text)")
        #expect(answer.json["cause"] == "a newer push of its line replaced it while it waited")
        for await event in events where event != ServerSentEvent.keepAlive {
            let text = String(decoding: event, as: UTF8.self)
            #expect(text.contains(id) && text.contains("superseded"), "\(text)")
            break
        }
        let counts = await bench.parts.dispatcher.snapshot.counts
        #expect(counts.outcomes[Self.lane] == [.superseded: 1])
        #expect(await bench.ask("DELETE", "/v1/pushes/\(id)").status == 409)
        _ = await bench.ask("POST", Self.place + "/resume")
        let last = await bench.ask("GET", "/v1/pushes/\(second.json["id"]?.stringValue ?? "")?wait=60")
        #expect(last.json["state"] == "delivered", "\(last.text)")
        #expect(await bench.apple.pushCount == 1)
        await bench.stop()
    }

    @Test func `of the superseding pushes of a batch, only the last is sent`() async throws {
        let bench = try await RelayBench()
        _ = await bench.ask("POST", Self.place + "/pause")
        let answers = await bench.batch((1...10).map { Self.score($0) })
        let ids = answers.compactMap { $0["id"]?.stringValue }
        #expect(ids.count == 10)
        _ = await bench.ask("POST", Self.place + "/resume")
        var states: [String?] = []
        for id in ids { states.append(await bench.ask("GET", "/v1/pushes/\(id)?wait=60").json["state"]?.stringValue) }
        #expect(states == [String?](repeating: "superseded", count: 9) + ["delivered"])
        #expect(await bench.apple.pushCount == 1)
        await bench.stop()
    }

    @Test func `only snapshots without a Live Activity can supersede others`() async throws {
        let bench = try await RelayBench()
        func body(_ kind: String) -> String {
            #"{"to":"5d3a6a1c","collapse-id":"a","supersede":true,"snapshot":\#(SurfaceExample.json(of: kind))}"#
        }
        let refused = await bench.ask("POST", "/v1/pushes", body("liveActivity"))
        #expect(refused.status == 400 && refused.json["errors"]?.elements?.first?["pointer"] == "/supersede")
        #expect(refused.text.contains("a second apart"), "\(refused.text)")
        let answer = await bench.ask("POST", "/v1/pushes?wait=60", body("widget"))
        #expect(answer.json["state"] == "delivered", "\(answer.text)")
        await bench.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// A relay whose wall clock is set forward and back.
@Suite(.timeLimit(.minutes(10))) struct ClockJumpTests {
    private func send(_ bench: RelayBench, _ more: String = "") async throws -> String {
        let body = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}\#(more)}"#
        let answer = await bench.ask("POST", "/v1/pushes", body)
        return try #require(answer.json["id"]?.stringValue, "\(answer)")
    }

    private func state(of id: String, in bench: RelayBench, waiting: Bool = true) async -> String? {
        await bench.ask("GET", "/v1/pushes/\(id)" + (waiting ? "?wait=30" : "")).json["state"]?.stringValue
    }

    @Test func `no push is lost or sent twice when the clock jumps`() async throws {
        let clock = TestClock()
        let lines = LogLines()
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger(.warning))
        let hour: Int64 = 3_600
        let first = try await send(bench)
        #expect(await state(of: first, in: bench) == "delivered")
        let tomorrow = try await send(bench, #","not-before":\#(clock.now + hour)"#)
        let stale = try await send(
            bench,
            #","not-before":\#(clock.now + hour),"expiration":\#(clock.now + 2 * hour)"#
        )
        #expect(await state(of: tomorrow, in: bench, waiting: false) == "accepted")

        clock.advance(by: 24 * hour)
        #expect(await state(of: tomorrow, in: bench) == "delivered")
        #expect(await state(of: stale, in: bench) == "expired")
        let collapsing = #","collapse-id":"one""#
        let ahead = try await send(bench, collapsing)
        #expect(await state(of: ahead, in: bench) == "delivered")
        let waiting = try await send(bench, #","not-before":\#(clock.now + 60)"#)

        clock.advance(by: -hour)
        let back = try await send(bench, collapsing)
        #expect(await state(of: back, in: bench) == "delivered")
        let soon = try await send(bench, #","not-before":\#(clock.now + 600),"expiration":\#(clock.now + hour)"#)
        #expect(await state(of: soon, in: bench, waiting: false) == "accepted")
        #expect(await state(of: waiting, in: bench, waiting: false) == "accepted")
        // The outbox is still checked, and the log still written.
        await bench.relay.context.recordOutbox(OutboxError(.full, "no room"))
        await bench.relay.context.recordOutbox(nil)
        await bench.relay.context.recordOutbox(OutboxError(.full, "still none"))
        #expect(lines.objects.contains { $0["error"]?.stringValue == "no room" }, "\(lines.all)")
        await bench.relay.context.recordOutbox(nil)

        clock.advance(by: 601)
        #expect(await state(of: soon, in: bench) == "delivered")
        #expect(await state(of: waiting, in: bench, waiting: false) == "accepted")
        clock.advance(by: hour)
        #expect(await state(of: waiting, in: bench) == "delivered")
        let arrived = await bench.apple.pushes.map(\.id)
        #expect(arrived == [first, tomorrow, ahead, back, soon, waiting])
        #expect(await bench.ask("GET", "/v1/status").json["lanes"]?.elements?.first?["backlog"] == 0)
        await bench.stop()
    }

    @Test func `a clock that is set ahead or back deletes no outcomes`()
        async throws
    {
        let clock = TestClock()
        let lines = LogLines()
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger(.warning)) { $0.retention = 1_000 }
        let id = try await send(bench)
        #expect(await state(of: id, in: bench) == "delivered")
        await bench.parts.maintenance.run()
        clock.advance(by: 45 * 86_400)
        await bench.parts.maintenance.run()
        #expect(await state(of: id, in: bench, waiting: false) == "delivered")
        let jumps = lines.objects.filter { $0["msg"] == "clock jumped" }.map { $0["seconds"] }
        #expect(jumps == [.whole(45 * 86_400)], "\(lines.all)")
        clock.advance(by: -46 * 86_400)
        let metrics = await bench.ask("GET", "/metrics").text
        let ages = metrics.split(separator: "\n").filter { $0.hasPrefix("martlet_relay_provider_token_age_seconds{") }
        #expect(ages.count == 1 && ages.allSatisfy { $0.hasSuffix(" 0") }, "\(ages)")
        await bench.stop()
    }

    @Test func `checks and lines in the log go on after a clock was set back`() async throws {
        var throttle = LogThrottle()
        let lines = [10_000_000, 10_000_500, 6_400_000, 6_400_001].map { throttle.take(at: $0) }
        #expect(lines == [0, nil, 1, nil])
        var schedule = WebhookSchedule()
        let lane = Lane(app: "orders", environment: .production)
        var history = StatusHistory()
        history.add([lane: .init(backlog: 0, oldest: 0, sent: 0)], at: 10_000_000)
        #expect(history.wants(at: 6_400_000) && !history.wants(at: 10_001_000))
        var calls = [schedule.mayCall(at: 100_000_000)]
        schedule.ended(succeeded: false, at: 100_000_000)
        calls += [100_001_000, 20_000_000].map { schedule.mayCall(at: $0) }
        #expect(calls == [true, false, true])
        let clock = TestClock()
        let bench = try await RelayBench(clock: clock.wall)
        clock.advance(by: -3_600)
        await bench.parts.outbox.close(isInOrder: true)
        await bench.parts.maintenance.checkOutbox()
        #expect(await bench.ask("GET", "/readyz", key: nil).status == 503)
        await bench.stop()
    }
}

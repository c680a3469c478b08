// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of stopping a relay.
@Suite(.timeLimit(.minutes(10))) struct RelayStopTests {
    @Test func `a push in flight at the stop has an unknown attempt`() async throws {
        let bench = try await RelayBench(faults: [SimulatedAPNs.Fault(.hang)]) { $0.answerTime = .zero }
        let client = try await bench.client()
        let receipt = try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
        let query = try PushQuery("topic:com.example.orders")
        guard case .found = await bench.apple.wait(for: query, count: 1, timeout: .seconds(300)) else {
            Issue.record("it never reached Apple")
            return
        }
        await client.close()
        await bench.relay.stop(within: .milliseconds(10))
        let outbox = try await SQLiteOutbox(file: bench.directory.path + "/relay.sqlite")
        let lane = Lane(app: "orders", environment: .production)
        let again = try await outbox.claim(lane, .immediate, limit: 10, at: .max / 2)
        #expect(again.pushes.map(\.push.id) == [receipt.id] && again.pushes.map(\.unknownTries) == [1])
        await outbox.close(isInOrder: true)
        await bench.apple.stop()
    }

    @Test func `a background task of a stopped relay logs no error`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger(.debug))
        await bench.stop()
        await bench.parts.maintenance.checkOutbox()
        await bench.relay.context.recordOutbox(OutboxError(.closed, "the outbox is closed"))
        let messages = lines.objects.compactMap { $0["msg"]?.stringValue }
        #expect(messages.contains("relay stopped") && !messages.contains("outbox unavailable"), "\(messages)")
    }
}

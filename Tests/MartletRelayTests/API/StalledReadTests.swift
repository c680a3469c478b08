// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

@testable import MartletRelay

/// Requests that read from a store that does not answer.
@Suite(.timeLimit(.minutes(10))) struct StalledReadTests {
    private static let id = "123e4567-e89b-42d3-a456-426655440000"

    @Test func `a read that the store does not answer is refused in time`() async throws {
        let bench = try await RelayBench { $0.loadLimits.answerTime = 100 }
        let outbox = StalledOutbox()
        let configuration = await bench.relay.context.configuration
        let started = try await PushRelay.start(configuration, over: outbox)
        let relay = RelayBench(bench, started)
        for path in ["/v1/pushes/\(Self.id)", "/v1/pushes?id=\(Self.id)"] {
            let refused = await relay.ask("GET", path)
            #expect(refused.status == 503 && refused.json["retry-after"] == 5, "\(refused.text)")
            #expect(refused.text.contains("has not answered since"), "\(refused.text)")
        }
        outbox.gate.open()
        try await eventually("the store answers") { await relay.ask("GET", "/v1/pushes/\(Self.id)").status == 404 }
        await relay.relay.stop()
        await bench.stop()
    }

    @Test func `the number of reads under way has a bound`() {
        let reads = OutboxReads()
        #expect((0..<OutboxReads.limit).allSatisfy { _ in reads.begin() })
        #expect(!reads.begin())
        reads.end()
        #expect(reads.begin())
    }
}

/// An outbox that answers reads of pushes once a gate is open.
private final class StalledOutbox: ModelBackedOutbox {
    let model = ModelOutbox(on: ModelOutbox.Disk(), limit: 1_000)
    let gate = Gate()

    func status(of id: APNsID, of app: String) async -> PushStatus? {
        await gate.wait()
        return model.status(of: id, of: app)
    }
}

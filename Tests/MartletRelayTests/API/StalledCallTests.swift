// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

@testable import MartletRelay

/// Requests that read from or change a store that does not answer.
@Suite(.timeLimit(.minutes(10))) struct StalledCallTests {
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
        outbox.reads.open()
        try await eventually("the store answers") { await relay.ask("GET", "/v1/pushes/\(Self.id)").status == 404 }
        await relay.relay.stop()
        await bench.stop()
    }

    @Test func `a change that the store does not answer is refused in time`() async throws {
        let bench = try await RelayBench {
            $0.loadLimits.answerTime = 100
            $0.callers[0].scopes.insert(.installations)
        }
        let outbox = StalledOutbox()
        outbox.reads.open()
        let push = OutboxPush(
            lane: Lane(app: "orders", environment: .production),
            id: try APNsID(Self.id),
            destination: .device(RelayBench.token),
            headers: PushHeaders(topic: "com.example.orders"),
            payload: [],
            notBefore: 1 << 41
        )
        #expect(try await outbox.accept([push], at: 1_000) == [.accepted])
        let configuration = await bench.relay.context.configuration
        let started = try await PushRelay.start(configuration, over: outbox)
        let relay = RelayBench(bench, started)
        let changes = [
            ("DELETE", "/v1/pushes/\(Self.id)", "GET /v1/pushes/{id} shows"),
            ("POST", "/v1/apps/orders/lanes/production/purge", "GET /v1/status shows"),
            ("POST", "/v1/apps/orders/dead-letters:requeue", "GET /v1/apps/{app}/dead-letters shows"),
            ("DELETE", "/v1/apps/orders/users/anna", "repeat the call"),
        ]
        for (method, path, remedy) in changes {
            let refused = await relay.ask(method, path)
            #expect(refused.status == 503 && refused.json["retry-after"] == 5, "\(refused.text)")
            let detail = refused.json["detail"]?.stringValue ?? ""
            #expect(detail.contains("has not answered since"), "\(refused.text)")
            #expect(detail.contains("it is not known whether the change was made: \(remedy)"), "\(refused.text)")
        }
        outbox.changes.open()
        try await eventually("the push is cancelled") {
            await relay.ask("GET", "/v1/pushes/\(Self.id)").json["state"] == "cancelled"
        }
        await relay.relay.stop()
        await bench.stop()
    }

    @Test(
        arguments: [
            (OutboxError(.unreachable, "no response within 3500 ms"), "unknown"),
            (OutboxError(.unavailable, "canceling statement (57014)", isOutcomeUnknown: true), "unknown"),
            (OutboxError(.unavailable, "cannot execute UPDATE in a read-only transaction"), "failed"),
        ]
    )
    func `a change that may have been made is refused with the remedy`(
        error: OutboxError,
        result: String
    ) async throws {
        let bench = try await RelayBench()
        let lines = LogLines()
        let configuration = await bench.relay.context.configuration
        let log = lines.logger(.error)
        let started = try await PushRelay.start(configuration, over: FailingOutbox(error), log: log)
        let relay = RelayBench(bench, started)
        let refused = await relay.ask("POST", "/v1/apps/orders/dead-letters:requeue")
        let detail = refused.json["detail"]?.stringValue ?? ""
        #expect(refused.status == 503 && detail.hasPrefix("\(error)"), "\(refused.text)")
        let remedy = "it is not known whether the change was made: GET /v1/apps/{app}/dead-letters shows"
        #expect(detail.contains(remedy) == (result == "unknown"), "\(detail)")
        #expect(refused.json["result"] == (result == "unknown" ? "unknown" : nil), "\(refused.text)")
        await relay.relay.stop()
        await bench.stop()
        let entries = lines.objects.filter { $0["msg"] == "audit" }
        #expect(entries.map { $0["result"] } == [.string(result)], "\(lines.all)")
    }

    @Test func `a long read whose caller has got an error is not made`() async throws {
        let bench = try await RelayBench { $0.loadLimits.answerTime = 100 }
        let context = await bench.relay.context
        await context.longReads.begin(of: "own")
        let refused = await context.readAlone(for: "own") { () async throws(OutboxError) -> Void in
            Issue.record("the read is made")
        }
        #expect(throws: OutboxError.self) { try refused.get() }
        context.longReads.end(of: "own")
        // Begins after the read has ended.
        await context.longReads.begin(of: "own")
        context.longReads.end(of: "own")
        await bench.stop()
    }

    @Test func `the number of calls under way has a bound`() {
        let calls = OutboxCalls()
        #expect((0..<OutboxCalls.limit).allSatisfy { _ in calls.begin() })
        #expect(!calls.begin())
        calls.end()
        #expect(calls.begin())
    }
}

/// An outbox that cannot queue dead letters again.
private final class FailingOutbox: ModelBackedOutbox {
    let model = ModelOutbox(on: ModelOutbox.Disk(), limit: 1_000)
    private let error: OutboxError

    init(_ error: OutboxError) {
        self.error = error
    }

    func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) async throws(OutboxError) -> Int {
        throw error
    }
}

/// An outbox that answers reads of pushes once a gate is open, and changes once another one is.
private final class StalledOutbox: ModelBackedOutbox {
    let model = ModelOutbox(on: ModelOutbox.Disk(), limit: 1_000)
    let reads = Gate()
    let changes = Gate()

    func status(of id: APNsID, of app: String) async -> PushStatus? {
        await reads.wait()
        return model.status(of: id, of: app)
    }

    func cancel(_ id: APNsID, of app: String, at now: Int64) async -> PushStatus? {
        await changes.wait()
        return model.cancel(id, of: app, at: now)
    }

    func purge(_ lane: Lane, upTo last: Int64?, limit: Int, at now: Int64) async -> PurgedPushes {
        await changes.wait()
        return model.purge(lane, upTo: last, limit: limit, at: now)
    }

    func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) async -> Int {
        await changes.wait()
        return model.requeueDeadLetters(ids, of: app, at: now)
    }

    func erasePushes(
        _ selection: PushSelection,
        of app: String,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) async -> ErasedPushes {
        await changes.wait()
        return model.erasePushes(selection, of: app, before: cursor, limit: limit, at: now)
    }
}

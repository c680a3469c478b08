// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletTransport
import OutboxModel
import Synchronization
import TestSupport
import Testing

@testable import MartletRelay

/// The look-ups of users before their pushes are accepted, and the times of acceptance.
@Suite(.timeLimit(.minutes(10))) struct AudienceLookupTests {
    private static let alert = #""payload":{"aps":{"alert":"Hi"}}"#
    private static let toAnna = #"{"to":{"user":"anna"},\#(alert)}"#
    /// A time in milliseconds that no test waits for.
    private static let hour: Int64 = 3_600_000

    /// Starts a relay over an outbox, next to the relay of a bench.
    private func start(
        over outbox: any OutboxStore,
        _ bench: RelayBench,
        clock: WallClock = .system
    ) async throws -> RelayBench {
        let relay = try await PushRelay.start(bench.relay.context.configuration, over: outbox, clock: clock)
        return RelayBench(bench, relay)
    }

    @Test func `a look-up that the store does not answer is refused in time`() async throws {
        let bench = try await RelayBench {
            $0.loadLimits.commitTime = 50
            $0.loadLimits.answerTime = 100
        }
        let outbox = LookupOutbox()
        let relay = try await start(over: outbox, bench)
        for body in [Self.toAnna, Self.toAnna] {
            let refused = await relay.ask("POST", "/v1/pushes", body)
            #expect(refused.status == 503 && refused.json["retry-after"] == 5, "\(refused.text)")
            #expect(refused.text.contains("has not answered since"), "\(refused.text)")
        }
        #expect(outbox.lookupCount == 1, "the second request is refused before its look-up")
        #expect(await relay.parts.intake.load.incoming == 1, "the look-up still takes up capacity")
        outbox.gate.open()
        try await eventually("the look-up ends") { await relay.parts.intake.load.incoming == 0 }
        let later = await relay.ask("POST", "/v1/pushes", Self.toAnna)
        #expect(later.status == 200 && later.json["left-out"] == ["no-installation": 1], "\(later.text)")
        await relay.relay.stop()
        await bench.stop()
    }

    @Test func `look-ups beyond the capacity are refused`() async throws {
        let bench = try await RelayBench {
            $0.loadLimits.incoming = 2
            $0.loadLimits.commitTime = Self.hour
            $0.loadLimits.answerTime = Self.hour
        }
        let outbox = LookupOutbox()
        let relay = try await start(over: outbox, bench)
        let body = #"{"to":{"users":["anna","bob"]},\#(Self.alert)}"#
        async let first = relay.ask("POST", "/v1/pushes", body)
        try await eventually("the first look-up has begun") { await relay.parts.intake.load.incoming == 2 }
        let refused = await relay.ask("POST", "/v1/pushes", Self.toAnna)
        #expect(refused.status == 503 && refused.json["retry-after"] == 5, "\(refused.text)")
        #expect(refused.text.contains("more pushes arrive than can be stored"), "\(refused.text)")
        outbox.gate.open()
        let answer = await first
        #expect(answer.status == 200 && answer.json["left-out"] == ["no-installation": 2], "\(answer.text)")
        await relay.relay.stop()
        await bench.stop()
    }

    @Test func `the users of a batch are looked up together`() async throws {
        let bench = try await RelayBench()
        let outbox = LookupOutbox()
        outbox.gate.open()
        let relay = try await start(over: outbox, bench)
        let line = { (user: Int) in #"{"to":{"user":"user \#(user)"},\#(Self.alert)}"# }
        let answers = await relay.batch((0..<1_000).map(line))
        #expect(answers.count == 1_000)
        #expect(answers.allSatisfy { $0 == ["pushes": [], "left-out": ["no-installation": 1]] })
        #expect(outbox.lookupCount == 1_000 / Installation.usersPerStep)
        await relay.relay.stop()
        await bench.stop()
    }

    @Test func `each push of a long list is answered with its stored time`() async throws {
        let clock = TestClock()
        let bench = try await RelayBench(clock: clock.wall)
        let outbox = SlowOutbox(clock: clock)
        let relay = try await start(over: outbox, bench, clock: clock.wall)
        let tokens = (0..<2_500).map { #""5d3a\#(String(10_000 + $0))00a""# }.joined(separator: ",")
        let body = #"{"to":[\#(tokens)],"not-before":\#(clock.now + 86_400),\#(Self.alert)}"#
        let answer = await relay.ask("POST", "/v1/pushes", body)
        let pushes = answer.json["pushes"]?.elements ?? []
        try #require(answer.status == 202 && pushes.count == 2_500, "\(answer.text.prefix(300))")
        var times: Set<Int64> = []
        for push in pushes {
            let id = try APNsID(try #require(push["id"]?.stringValue))
            let stored = outbox.model.status(of: id, of: "orders")?.acceptedAt
            #expect(stored != nil && push["accepted-at"]?.integerValue == stored)
            times.insert(try #require(stored))
        }
        #expect(times.count > 1, "they are stored in several commits")
        await relay.relay.stop()
        await bench.stop()
    }
}

/// An outbox that counts the look-ups of audiences, and answers them once a gate is open.
private final class LookupOutbox: ModelBackedOutbox {
    private struct Installations: WrappedInstallationStore {
        let store: any InstallationStore
        let outbox: LookupOutbox

        func members(of queries: [AudienceQuery], in app: String) async throws(OutboxError) -> [[AudienceMember]] {
            outbox.count.withLock { $0 += 1 }
            await outbox.gate.wait()
            return try await store.members(of: queries, in: app)
        }
    }

    let model = ModelOutbox(on: ModelOutbox.Disk(), limit: 1_000)
    let gate = Gate()
    private let count = Mutex(0)
    var lookupCount: Int { count.withLock { $0 } }
    var installations: any InstallationStore { Installations(store: model.installations, outbox: self) }
}

/// An outbox whose every commit takes ten seconds.
private final class SlowOutbox: ModelBackedOutbox {
    let model = ModelOutbox(on: ModelOutbox.Disk(), limit: 10_000)
    private let clock: TestClock

    init(clock: TestClock) {
        self.clock = clock
    }

    func accept(_ pushes: [HashedPush], at now: Int64) -> [Acceptance] {
        clock.advance(by: 10)
        return model.accept(pushes, at: now)
    }
}

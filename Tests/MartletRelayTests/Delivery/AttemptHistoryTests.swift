// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// The failed attempts of a push, from the answer of Apple to the answer of the relay.
@Suite(.timeLimit(.minutes(10))) struct AttemptHistoryTests {
    private static let lane = Lane(app: "orders", environment: .production)

    private func failure(_ result: SendResult, at now: Int64) -> FailedAttempt? {
        FailedAttempt(result, node: "relay-1", keyID: "ABCDE12345", at: now)
    }

    @Test func `an attempt has Apple's answer, or the error`() {
        let refused = SendResult.refused(status: 503, reason: .serviceUnavailable, timestamp: nil, retryAfter: nil)
        let results: [(SendResult, Int?, String)] = [
            (refused, 503, "ServiceUnavailable"),
            (.refused(status: 502, reason: nil, timestamp: nil, retryAfter: nil), 502, ""),
            (.neverSent(reason: "ConnectionFailed", retryAfter: nil), nil, "ConnectionFailed"),
            (.unknown, nil, "NoAnswer"), (.lost, nil, "ConnectionLost"),
        ]
        for (result, status, reason) in results {
            let attempt = failure(result, at: 7)
            #expect(attempt?.status == status && attempt?.reason == reason && attempt?.time == 7)
        }
        #expect(failure(.accepted(uniqueID: nil), at: 7) == nil)
    }

    @Test func `attempts of a lane that is down are stored when it returns its pushes`() throws {
        var machine = DeliveryMachine(seed: 1)
        machine.add(Self.lane, at: 0)
        let action = try #require(machine.takeActions(at: 0).claims.first { $0.urgency == .immediate })
        let claimed = ClaimedPush(number: 1, push: .sample(1, Self.lane), acceptedAt: 0, attempts: 0, unknownTries: 0)
        machine.claimed(Claim(pushes: [claimed], nextDue: nil), action, at: 0)
        #expect(machine.takeActions(at: 0).sends.map(\.number) == [1])
        let result = SendResult.neverSent(reason: "ConnectionFailed", retryAfter: 1_000)
        machine.answered(1, result, failure: failure(result, at: 5), at: 5)
        let settlement = try #require(machine.takeActions(at: 6).settlements.first)
        #expect(settlement.outcome == nil)
        let attempt = try #require(failure(result, at: 5))
        #expect(settlement.history.attempts == [attempt])
    }

    @Test func `a refused push is shown with its attempt and the cause of its end`() async throws {
        let match = SimulatedAPNs.Fault.Match(devicePrefix: "0400")
        let bench = try await RelayBench(faults: [SimulatedAPNs.Fault(.respond(.badCollapseID), with: match)]) {
            $0.node = "relay-1"
            $0.http = RelayConfiguration.Address(port: 0)
        }
        let refused = await bench.push(to: "04000000")
        #expect(refused.json["state"] == "refused" && refused.json["history"] == nil, "\(refused.text)")
        let id = refused.json["id"]?.stringValue ?? ""
        let shown = await bench.ask("GET", "/v1/pushes/\(id)")
        #expect(shown.json["cause"] == "Apple refused the push for good", "\(shown.text)")
        let attempts = shown.json["history"]?["attempts"]?.elements ?? []
        #expect(attempts.count == 1 && shown.json["history"]?["omitted"] == nil)
        #expect(attempts.first?["status"] == 400 && attempts.first?["reason"] == "BadCollapseId")
        #expect(attempts.first?["node"] == "relay-1" && attempts.first?["key-id"]?.stringValue == bench.key.keyID)
        let (time, end) = (attempts.first?["time"]?.integerValue, shown.json["ended-at"]?.integerValue)
        #expect((time ?? .max) <= (end ?? 0), "\(shown.text)")
        #expect(!shown.text.contains("04000000") && !shown.text.contains("Secret"))

        let key = try bench.directory.write(RelayBench.callerKey, to: "caller.key")
        let url = "http://127.0.0.1:\(await bench.relay.httpPort ?? 0)"
        let search = ["relay", "search", "--id", id, "--url", url, "--key-file", key]
        let run = try await ProgramRun(MartletProcess.program, search)
        #expect(run.status == 0 && run.text.contains("cause: Apple refused the push for good\n"), "\(run.text)")
        #expect(run.text.contains("relay-1  \(bench.key.keyID)"), "\(run.text)")

        let delivered = await bench.push()
        let other = await bench.ask("GET", "/v1/pushes/\(delivered.json["id"]?.stringValue ?? "")")
        #expect(other.json["state"] == "delivered" && other.json["cause"] == nil && other.json["history"] == nil)
        await bench.stop()
    }

    @Test func `a dead letter is shown with its attempts`() async throws {
        let bench = try await RelayBench()
        _ = await bench.ask("POST", "/v1/apps/orders/lanes/production/pause")
        let (outbox, now) = (bench.parts.outbox, bench.parts.now)
        let push = OutboxPush.sample(1, Self.lane)
        _ = try await outbox.accept([push], at: now)
        let claimed = try await outbox.claim(Self.lane, .immediate, limit: 1, at: now).pushes
        let dead = Outcome(.dead, reason: "NoAnswer", attempts: 16, unknownTries: 16)
        var settlement = Settlement(try #require(claimed.first), .ended(dead))
        for time in 1...16 as ClosedRange<Int64> {
            settlement.history.append(try #require(failure(.unknown, at: time)))
        }
        try await outbox.settle([settlement], at: now)

        let list = "/v1/apps/orders/dead-letters"
        let shown = await bench.ask("GET", "\(list)/\(push.id)").json
        #expect(shown["cause"] == "the relay abandoned the push after 16 attempts")
        #expect(shown["history"]?["attempts"]?.elements?.map { $0["time"] } == [1, 10, 11, 12, 13, 14, 15, 16])
        #expect(shown["history"]?["omitted"] == 8)
        #expect(await bench.ask("GET", "/v1/pushes/\(push.id)").json["history"] == shown["history"])
        #expect(await bench.ask("GET", list).json["dead-letters"]?.elements?.map { $0["history"] } == [nil])
        await bench.stop()
    }
}

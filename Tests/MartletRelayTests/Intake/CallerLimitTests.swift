// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Limits of what one caller may have open, and the end of what it has open when it expires.
@Suite(.timeLimit(.minutes(10))) struct CallerLimitTests {
    private static let key = "authorization: Bearer " + RelayBench.callerKey
    private static let batchHead =
        "POST /v1/pushes:batch HTTP/1.1\r\nhost: a\r\n\(key)\r\ntransfer-encoding: chunked\r\n\r\n"

    /// A push of the app that was delivered.
    private static func delivered(_ app: String, _ number: Int) -> PushStatus {
        PushStatus(
            id: APNsID(milliseconds: 0, randomBits: (0, UInt64(number))),
            lane: Lane(app: app, environment: .production),
            acceptedAt: 0,
            state: .ended(Outcome(.delivered, attempts: 1), at: 0)
        )
    }

    /// Stores events of an app in a relay.
    private static func record(_ count: Int, of app: String, in intake: isolated Intake) {
        for number in 0..<count { intake.events.record(delivered(app, number)) }
    }

    private static func listen(_ intake: isolated Intake, after lastID: String?) -> Result<OutcomeStream, APIProblem> {
        do throws(APIProblem) {
            return .success(try intake.listen(for: RelayBench.listener(to: "orders"), after: lastID))
        } catch {
            return .failure(error)
        }
    }

    private static func count(of text: String, in bytes: [UInt8]) -> Int {
        String(decoding: bytes, as: UTF8.self).split(separator: text, omittingEmptySubsequences: false).count - 1
    }

    // MARK: Replays

    @Test func `stored events are encoded in pieces, as the client reads them`() async throws {
        let bench = try await RelayBench()
        await Self.record(150, of: "orders", in: bench.parts.intake)
        await Self.record(150, of: "rides", in: bench.parts.intake)
        var reader = try await Self.listen(bench.parts.intake, after: "1-0").get().makeAsyncIterator()
        let first = await reader.next() ?? []
        #expect(Self.count(of: "event: gap", in: first) == 1)
        #expect(Self.count(of: "event: outcome", in: first) == OutcomeEvents.replayPieceLimit)
        // An event that happens meanwhile comes after the stored ones, once.
        await Self.record(1, of: "orders", in: bench.parts.intake)
        let second = await reader.next() ?? []
        #expect(Self.count(of: "event: outcome", in: second) == 50 && Self.count(of: "event: gap", in: second) == 0)
        var third = await reader.next() ?? []
        while third == ServerSentEvent.keepAlive { third = await reader.next() ?? [] }
        #expect(Self.count(of: "event: outcome", in: third) == 1 && Self.count(of: "-301\n", in: third) == 1)
        await bench.stop()
    }

    @Test func `a replay reports events that are dropped while it is read`() {
        var events = OutcomeEvents(run: 7)
        for number in 0..<300 { events.record(Self.delivered("orders", number)) }
        let listener = events.listen(for: RelayBench.listener(to: "orders")) { _ in }.number
        let start = events.replay(after: "7-10")
        #expect(start.count == 290 && !start.hasGap)
        for number in 0..<20_000 { events.record(Self.delivered("rides", number)) }
        let piece = events.piece(of: start, for: listener)
        #expect(piece.map { Self.count(of: "event: gap", in: $0.bytes) } == 1)
        #expect(piece?.rest.isOver == true)
    }

    @Test func `a replay ends with its listener`() {
        var events = OutcomeEvents(run: 7)
        for number in 0..<300 { events.record(Self.delivered("orders", number)) }
        let listener = events.listen(for: RelayBench.listener(to: "orders")) { _ in }.number
        let start = events.replay(after: "7-0")
        #expect(events.piece(of: start, for: listener) != nil)
        events.finish()
        #expect(events.piece(of: start, for: listener) == nil)
    }

    @Test(arguments: [("7-300", 0, false), ("7-299", 1, false), ("7-9223372036854775807", 0, false), ("x", 300, true)])
    func `a replay begins after the last event`(lastID: String, count: Int, hasGap: Bool) {
        var events = OutcomeEvents(run: 7)
        for number in 0..<300 { events.record(Self.delivered("orders", number)) }
        let replay = events.replay(after: lastID)
        #expect(replay.count == count && replay.hasGap == hasGap)
    }

    @Test func `long replays of a caller are limited by time`() async throws {
        let clock = TestClock()
        let bench = try await RelayBench(clock: clock.wall)
        await Self.record(101, of: "orders", in: bench.parts.intake)
        for _ in 0..<ReplayBudget.burst {
            _ = try await Self.listen(bench.parts.intake, after: "1-0").get()
            try await eventually("the listener has left", in: bench.parts.intake) { $0.events.listenerCount == 0 }
        }
        guard case .failure(let problem) = await Self.listen(bench.parts.intake, after: "1-0") else {
            Issue.record("a further replay was not refused")
            return
        }
        #expect(problem.status == 429 && problem.retryAfter == 3 && problem.detail.contains("replays"))
        // A stream of events from now on replays nothing.
        _ = try await Self.listen(bench.parts.intake, after: nil).get()
        clock.advance(by: 3)
        _ = try await Self.listen(bench.parts.intake, after: "1-0").get()
        await bench.stop()
    }

    @Test func `a clock that is set back delays replays for a bounded time`() {
        var budget = ReplayBudget()
        for _ in 0..<ReplayBudget.burst { #expect(budget.take(for: "a", at: 1_000_000_000) == nil) }
        #expect(budget.take(for: "b", at: 1_000_000_000) == nil)
        #expect(budget.take(for: "a", at: 0) == 3)
        #expect(budget.take(for: "a", at: 3_000) == nil)
    }

    // MARK: Batches

    private func bench(clock: WallClock = .system, expires: Int64? = nil) async throws -> (RelayBench, UInt16) {
        let bench = try await RelayBench(clock: clock) {
            $0.http = RelayConfiguration.Address(port: 0)
            $0.callers[0].expiresAt = expires.map { Date(timeIntervalSince1970: Double($0)) }
        }
        let port = try #require(await bench.relay.httpPort)
        return (bench, port)
    }

    @Test func `open batches have a bound for each caller`() async throws {
        let (bench, port) = try await bench()
        var batches: [RawClient] = []
        for _ in 0..<OpenBatches.limitPerCaller {
            let client = try RawClient(port: port)
            client.send(Self.batchHead)
            batches.append(client)
        }
        try await eventually("all batches are open", in: bench.parts.intake) {
            $0.openBatches.count(of: "back end") == OpenBatches.limitPerCaller
        }
        let further = try RawClient(port: port)
        further.send(Self.batchHead)
        let answer = await further.read()
        #expect(answer.hasPrefix("HTTP/1.1 429") && answer.contains("retry-after: 5\r\n"), "\(answer)")
        batches = []
        try await eventually("the batches of closed connections are closed", in: bench.parts.intake) {
            $0.openBatches.count(of: "back end") == 0
        }
        await bench.stop()
    }

    // MARK: Expiry

    @Test func `event streams and batches end when their caller expires`() async throws {
        let clock = TestClock()
        let (bench, port) = try await bench(clock: clock.wall, expires: clock.now + 60)
        let listening = try RawClient(port: port)
        listening.send("GET /v1/events HTTP/1.1\r\nhost: a\r\n\(Self.key)\r\n\r\n")
        try await eventually("the caller listens for events", in: bench.parts.intake) { $0.events.listenerCount == 1 }
        let batch = try RawClient(port: port)
        let line = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"# + "\n"
        let chunk = "\(String(line.utf8.count, radix: 16))\r\n\(line)\r\n"
        batch.send(Self.batchHead + chunk)
        #expect(await batch.read(until: "accepted\"}\n").contains(#""state":"accepted""#))
        clock.advance(by: 61)
        await bench.parts.maintenance.run()
        #expect(await listening.read().hasSuffix("0\r\n\r\n"))
        // The batch ends with its next line, though the client has not ended it.
        batch.send(chunk)
        let rest = await batch.read()
        #expect(rest.contains(#""status":403"#) && rest.hasSuffix("0\r\n\r\n"), "\(rest)")
        await bench.stop()
    }
}

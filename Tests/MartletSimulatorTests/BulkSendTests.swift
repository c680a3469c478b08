// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import Synchronization
import Testing

@testable import MartletSimulator

@Suite(.timeLimit(.minutes(10))) struct BulkSendTests {
    private let topic: Topic = "com.example.app"

    private func client(
        of apns: SimulatedAPNs,
        _ change: (inout PushClient.Configuration) -> Void = { _ in }
    ) async throws -> PushClient {
        var configuration = apns.clientConfiguration
        change(&configuration)
        return try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: configuration
        )
    }

    private func token(_ number: Int) throws -> DeviceToken {
        try DeviceToken(bytes: [UInt8(number >> 8), UInt8(number & 255)])
    }

    /// Counts how many devices were read from it.
    private final class Devices: Sequence, Sendable {
        let tokens: [DeviceToken]
        private let reads = Atomic<Int>(0)

        init(_ tokens: [DeviceToken]) {
            self.tokens = tokens
        }

        var readCount: Int { reads.load(ordering: .relaxed) }

        func makeIterator() -> AnyIterator<DeviceToken> {
            AnyIterator {
                let index = self.reads.load(ordering: .relaxed)
                guard index < self.tokens.count else { return nil }
                self.reads.add(1, ordering: .relaxed)
                return self.tokens[index]
            }
        }
    }

    @Test func `a bulk send through the preset flaky delivers nearly all pushes`() async throws {
        let preset = try #require(SimulatedAPNs.Fault.presets.first { $0.name == "flaky" })
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(storedPushes: 10_000, faults: preset.faults, seed: 7)
        )
        let client = try await client(of: apns)
        let tokens = try (0..<3_000).map { try token($0) }
        let report = await client.send(.alert("Hello"), to: tokens, topic: topic).report()
        #expect(report.count == 3_000 && report.acceptedCount >= 2_850, "\(report.acceptedCount)")
        #expect(report.acceptedCount + report.unknown.count == 3_000, "\(report.failures.prefix(3))")
        #expect(!report.unknown.isEmpty, "some answers are lost")
        #expect(await apns.pushes.count { $0.status == 200 } == report.acceptedCount, "no push is accepted twice")
        await client.close()
        await apns.stop()
    }

    @Test func `each device gets its own badge, and unregistered tokens are listed`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(storedPushes: 10_000))
        let client = try await client(of: apns)
        let tokens = try (0..<5_000).map { try token($0) }
        for number in [7, 8] {
            await apns.unregister(tokens[number], since: Date(timeIntervalSince1970: 1_790_000_000))
        }
        await apns.register(tokens[9], for: ["com.example.other"])
        let recipients = tokens.map { token in
            let badge = Int(token.hex.suffix(2), radix: 16)
            return Recipient(token, notification: badge == 0 ? nil : .alert("Hello", badge: badge))
        }
        let report = await client.send(.alert("Hello", badge: 0), to: recipients, topic: topic, inFlight: 300).report()
        #expect(report.count == 5_000 && report.acceptedCount == 4_997)
        #expect(Set(report.unregisteredTokens.map(\.token)) == [tokens[7], tokens[8]])
        let dead = try #require(report.unregisteredTokens.first)
        #expect(dead.isStillUnregistered(registeredAt: Date(timeIntervalSince1970: 1_790_000_000)))
        #expect(!dead.isStillUnregistered(registeredAt: Date(timeIntervalSince1970: 1_790_000_000.001)))
        #expect(
            !dead.isStillUnregistered(registeredAt: Date(timeIntervalSince1970: 1_790_000_000) + 86_400),
            "registered tomorrow"
        )
        #expect(report.failures.first { $0.token == tokens[9] }?.error.reason == .deviceTokenNotForTopic)
        #expect(report.unknown.isEmpty)
        try report.throwIfAllFailed()
        for push in await apns.pushes {
            let badge = try JSONReader.read(push.payload)["aps"]?["badge"]?.integerValue
            #expect(badge == Int64(push.deviceToken.suffix(2), radix: 16))
        }
        await client.close()
        await apns.stop()
    }

    @Test func `throwIfAllFailed throws if all pushes failed`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let tokens = [try token(1), try token(2)]
        for token in tokens { await apns.unregister(token) }
        let report = await client.send(.alert("Hello"), to: tokens, topic: topic).report()
        #expect(report.acceptedCount == 0)
        #expect(throws: APNsError.self) { try report.throwIfAllFailed() }
        let nobody = await client.send(.alert("Hello"), to: [DeviceToken](), topic: topic).report()
        #expect(nobody.count == 0)
        try nobody.throwIfAllFailed()
        await client.close()
        await apns.stop()
    }

    @Test func `a push that cannot be sent is an outcome of each device`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let large = PushNotification.alert(PushNotification.Alert(body: String(repeating: "x", count: 5_000)))
        let recipients = [Recipient(try token(1)), Recipient(try token(2), notification: .alert("Hello"))]
        let report = await client.send(large, to: recipients, topic: topic).report()
        #expect(report.acceptedCount == 1)
        #expect(report.failures.map(\.error.code) == [.invalid])
        #expect(report.failures.map(\.token) == [recipients[0].token])
        await client.close()
        await apns.stop()
    }

    @Test func `a cancelled task sends no more and accounts for each device that was read`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let devices = Devices(try (0..<20_000).map { try token($0) })
        let task = Task {
            var outcomes: [BulkOutcome] = []
            for await outcome in client.send(.alert("Hello"), to: devices, topic: topic, inFlight: 100) {
                outcomes.append(outcome)
                if outcomes.count == 50 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return outcomes
        }
        let outcomes = await task.value
        #expect(devices.readCount < 20_000)
        #expect(outcomes.map(\.index).sorted() == Array(0..<devices.readCount))
        #expect(outcomes.count { $0.error == nil } == Int(await apns.pushCount))
        #expect(outcomes.compactMap(\.error).allSatisfy { $0.code == .cancelled && $0.outcome == .neverSent })
        await client.close()
        await apns.stop()
    }

    @Test func `leaving the loop stops the sending, and a second loop receives the rest`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let devices = Devices(try (0..<20_000).map { try token($0) })
        let sending = client.send(.alert("Hello"), to: devices, topic: topic, inFlight: 200)
        var indices: [Int] = []
        for await outcome in sending {
            indices.append(outcome.index)
            if indices.count == 70 { break }
        }
        var accepted = indices.count
        for await outcome in sending {
            indices.append(outcome.index)
            if outcome.error == nil { accepted += 1 }
        }
        #expect(devices.readCount < 20_000)
        #expect(indices.sorted() == Array(0..<devices.readCount))
        #expect(accepted == Int(await apns.pushCount))
        await client.close()
        await apns.stop()
    }

    @Test func `slow reading of outcomes slows down the reading of devices`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let devices = Devices(try (0..<3_000).map { try token($0) })
        var taken = 0
        for await _ in client.send(.alert("Hello"), to: devices, topic: topic, inFlight: 20) {
            // The outcome at hand has left the window, so that another device may have been read.
            taken += 1
            #expect(devices.readCount <= taken + 20)
        }
        #expect(taken == 3_000)
        await client.close()
        await apns.stop()
    }

    @Test func `a lazy sequence that is not Sendable can be sent to`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let tokens = try (0..<20).map { try token($0) }
        let lazy = tokens.lazy.map { Recipient($0, notification: .alert("Hello", badge: $0.hex.count)) }
        let report = await client.send(.alert("Hello"), to: lazy, topic: topic, inFlight: 3).report()
        #expect(report.acceptedCount == 20)
        let evenTokens = await client.send(.alert("Hello"), to: tokens.lazy.filter { $0.hex.last == "2" }, topic: topic)
            .report()
        #expect(evenTokens.acceptedCount == 2)
        await client.close()
        await apns.stop()
    }

    @Test func `a single device from a slow source is sent to immediately`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let (tokens, source) = AsyncStream.makeStream(of: DeviceToken.self)
        var outcomes = client.send(.alert("Hello"), to: tokens, topic: topic).makeAsyncIterator()
        for number in 0..<5 {
            source.yield(try token(number))
            #expect(await outcomes.next()?.index == number)
        }
        source.finish()
        #expect(await outcomes.next() == nil)
        await client.close()
        await apns.stop()
    }

    @Test func `an error of the source is thrown after all outcomes`() async throws {
        struct SourceError: Error {}
        let apns = try await SimulatedAPNs.start()
        let client = try await client(of: apns)
        let (tokens, source) = AsyncThrowingStream.makeStream(of: DeviceToken.self)
        for number in 0..<40 { source.yield(try token(number)) }
        source.finish(throwing: SourceError())
        var count = 0
        await #expect(throws: SourceError.self) {
            for try await _ in client.send(.alert("Hello"), to: tokens, topic: topic, inFlight: 7) { count += 1 }
        }
        #expect(count == 40)
        await client.close()
        await apns.stop()
    }

    /// Resets, goodbyes, bursts of refusals and dead devices all at once, over several threads and connections.
    @Test func `each device has one outcome under many faults`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(streamsBeforeToken: 100, seed: 7))
        let client = try await client(of: apns) { configuration in
            configuration.eventLoops = 2
            configuration.connectionLimit = 8
        }
        let tokens = try (0..<10_000).map { try token($0) }
        let dead = Set(stride(from: 0, to: tokens.count, by: 20))
        for number in dead { await apns.unregister(tokens[number], since: Date(timeIntervalSince1970: 1_790_000_000)) }
        await apns.setFaults(
            [
                SimulatedAPNs.Fault(.resetStream(code: 7), probability: 0.01),
                SimulatedAPNs.Fault(.resetConnection, count: 3, after: 1_500, every: 2_000),
                SimulatedAPNs.Fault(.goAway(debugData: #"{"reason":"Shutdown"}"#), after: 999, every: 1_000),
                SimulatedAPNs.Fault(.respond(.tooManyRequests, retryAfter: 0), count: 200, after: 3_000),
            ],
            seed: 7
        )
        var seen = Set<Int>()
        var accepted = 0
        for await outcome in client.send(.alert("Hello"), to: tokens, topic: topic) {
            #expect(outcome.token == tokens[outcome.index])
            #expect(seen.insert(outcome.index).inserted, "\(outcome.index) has two outcomes")
            switch outcome.error {
            case nil:
                accepted += 1
                #expect(!dead.contains(outcome.index))
            case let error? where error.status == 410:
                #expect(dead.contains(outcome.index))
            case let error?:
                #expect(error.outcome == .unknown || error.reason == .tooManyRequests, "\(error)")
            }
        }
        #expect(seen.count == tokens.count)
        #expect(accepted > tokens.count / 2)
        let counters = await client.counters
        #expect(counters.accepted == accepted && counters.sends == tokens.count)
        await client.close()
        await apns.stop()
    }
}

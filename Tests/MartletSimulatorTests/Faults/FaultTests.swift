// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Faults and Martlet's client.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FaultTests {
    private let token: DeviceToken
    private let topic: Topic = "com.example.app"

    init() throws {
        token = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
    }

    /// A simulator for which this goes wrong, and a client that has sent one push before.
    private func bench(
        _ faults: [SimulatedAPNs.Fault],
        isEncrypted: Bool = false,
        _ configuration: PushClient.Configuration = .init()
    ) async throws -> (SimulatedAPNs, PushClient) {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: isEncrypted))
        var configuration = configuration
        configuration.additionalAuthorities = apns.clientConfiguration.additionalAuthorities
        let client = try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: configuration
        )
        try await client.send(.alert("first"), to: token, topic: topic)
        await apns.setFaults(faults, seed: 1)
        return (apns, client)
    }

    private func failure(_ client: PushClient, to token: DeviceToken? = nil, _ options: SendOptions = .init()) async
        -> APNsError?
    {
        do {
            try await client.send(.alert("Hello"), to: token ?? self.token, topic: topic, options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test func `an answer of any kind is given, and marked in the list`() async throws {
        let (apns, client) = try await bench([SimulatedAPNs.Fault(.respond(.topicDisallowed), count: 1)])
        #expect(await failure(client)?.reason == .topicDisallowed)
        #expect(await failure(client) == nil)
        #expect(await apns.pushes.map(\.wasFaulted) == [false, true, false])
        #expect(await apns.pushes.map(\.status) == [200, 400, 200])
        await client.close()
        await apns.stop()
    }

    @Test func `temporary errors are retried after the requested time`() async throws {
        let (apns, client) = try await bench([
            SimulatedAPNs.Fault(.respond(.serviceUnavailable, retryAfter: 0), count: 2)
        ])
        let receipt = try await client.send(.alert("Hello"), to: token, topic: topic)
        #expect(receipt.attempts == 3)
        #expect(await apns.pushes.map(\.status) == [200, 503, 503, 200])
        await client.close()
        await apns.stop()
    }

    @Test func `a refused stream is sent again, and the outcome of a broken one is unknown`() async throws {
        let (apns, client) = try await bench([
            SimulatedAPNs.Fault(.resetStream(code: 7), count: 1),
            SimulatedAPNs.Fault(.resetStream(code: 2), count: 1, after: 2),
        ])
        #expect(try await client.send(.alert("Hello"), to: token, topic: topic).attempts == 2)
        let error = try #require(await failure(client))
        #expect(error.outcome == .unknown)
        #expect(await apns.pushes.map(\.status) == [200, 0, 200, 0])
        await client.close()
        await apns.stop()
    }

    @Test(arguments: [SimulatedAPNs.Fault.Action.close, .resetConnection])
    func `a push fails with its connection, and the next uses another one`(action: SimulatedAPNs.Fault.Action)
        async throws
    {
        let (apns, client) = try await bench([SimulatedAPNs.Fault(action, count: 1)], isEncrypted: true)
        let error = try #require(await failure(client))
        #expect(error.outcome == .unknown)
        #expect(await failure(client) == nil)
        #expect(Set(await apns.pushes.map(\.connection)).count == 2)
        await client.close()
        await apns.stop()
    }

    @Test(arguments: [("", 0), (#"{"reason":"Shutdown"}"#, 0), ("no JSON at all", 2)] as [(String, UInt32)])
    func `open requests are answered after a GOAWAY`(debugData: String, code: UInt32) async throws {
        let (apns, client) = try await bench([SimulatedAPNs.Fault(.goAway(code: code, debugData: debugData), count: 1)])
        #expect(await failure(client) == nil)
        #expect(await failure(client) == nil)
        #expect(await apns.pushes.map(\.connection) == [1, 1, 2])
        await client.close()
        await apns.stop()
    }

    @Test func `open requests are answered during a graceful shutdown`() async throws {
        let (apns, client) = try await bench([
            SimulatedAPNs.Fault(.drain(debugData: #"{"reason":"Shutdown"}"#), count: 1)
        ])
        for _ in 0..<3 { #expect(await failure(client) == nil) }
        // A push may go out before the client has read the first GOAWAY, which allows it.
        let connections = await apns.pushes.map(\.connection)
        #expect([[1, 1, 2, 2], [1, 1, 1, 2]].contains(connections), "\(connections)")
        await client.close()
        await apns.stop()
    }

    @Test func `requests that a GOAWAY excludes are sent again`() async throws {
        let (apns, client) = try await bench([SimulatedAPNs.Fault(.goAway(includesRequest: false), count: 1)])
        let receipt = try await client.send(.alert("Hello"), to: token, topic: topic)
        #expect(receipt.attempts == 2)
        #expect(await apns.pushes.map(\.connection) == [1, 1, 2])
        await client.close()
        await apns.stop()
    }

    @Test func `a push without an answer fails at its deadline`() async throws {
        let (apns, client) = try await bench([SimulatedAPNs.Fault(.hang, count: 1)])
        let error = try #require(await failure(client, SendOptions(timeout: .milliseconds(200))))
        #expect(error.code == .timedOut && error.outcome == .unknown)
        #expect(await failure(client) == nil)
        await client.close()
        await apns.stop()
    }

    @Test func `a delayed answer belongs to its own push`() async throws {
        let (apns, client) = try await bench([SimulatedAPNs.Fault(.delay(.milliseconds(50)), count: 1)])
        async let late = client.send(.alert("late"), to: token, topic: topic)
        async let quick = client.send(.alert("quick"), to: token, topic: topic)
        let first = try await late
        let second = try await quick
        #expect(first.id != second.id)
        // Either of the two is delayed. Answers are read in a callback of the socket, which has to know the time.
        #expect(max(first.timing.onWire, second.timing.onWire) >= .milliseconds(50))
        await client.close()
        await apns.stop()
    }

    @Test func `a client connects again after refused connections`() async throws {
        let (apns, client) = try await bench(
            [SimulatedAPNs.Fault(.refuseConnections(2), count: 1), SimulatedAPNs.Fault(.goAway(), count: 1)],
            isEncrypted: true
        )
        #expect(await failure(client) == nil)
        #expect(await failure(client) == nil)
        #expect(await client.counters.connectionsFailed == 2)
        await client.close()
        await apns.stop()
    }

    @Test func `a client observes a lowered stream limit of the server`() async throws {
        let (apns, client) = try await bench([
            SimulatedAPNs.Fault(.limitStreams(1), count: 1), SimulatedAPNs.Fault(.limitWindow(16), count: 1),
        ])
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await client.send(.alert("Hello"), to: token, topic: topic) } }
            try await group.waitForAll()
        }
        #expect(await apns.pushCount == 51)
        #expect(await apns.pushes.allSatisfy { $0.status == 200 })
        await client.close()
        await apns.stop()
    }

    @Test func `too many pushes to one device are refused`() async throws {
        let (apns, client) = try await bench(
            [SimulatedAPNs.Fault(.throttle(perDevice: 2))],
            PushClient.Configuration(retry: .none)
        )
        var refused = 0
        for _ in 0..<10 where await failure(client)?.reason == .tooManyRequests { refused += 1 }
        #expect(refused >= 6, "\(refused)")
        await client.close()
        await apns.stop()
    }

    @Test func `a skewed clock and a bad key have different errors`() async throws {
        let (apns, client) = try await bench([SimulatedAPNs.Fault(.skewClock(.seconds(7_200)), count: 1)])
        let error = try #require(await failure(client))
        #expect(error.reason == .expiredProviderToken)
        #expect(error.description.contains("clock"), "\(error)")
        await client.close()
        await apns.stop()
    }

    @Test func `a client replaces an expired provider token`() async throws {
        let preset = try #require(SimulatedAPNs.Fault.presets.first { $0.name == "token-expired" })
        let (apns, client) = try await bench(preset.faults, isEncrypted: true)
        for _ in 0..<3 { #expect(await failure(client) == nil) }
        #expect(
            await apns.pushes.map { $0.reason?.rawValue ?? "accepted" } == [
                "accepted", "ExpiredProviderToken", "accepted", "accepted", "accepted",
            ]
        )
        let rules = Set(await apns.pushes.flatMap(\.findings).map(\.rule))
        #expect(rules == ["answered-by-fault", "device-token-repeated"], "the new provider token is not early")
        await client.close()
        await apns.stop()
    }

    @Test func `the suffix of a device token selects the answer to a client`() async throws {
        let (apns, client) = try await bench([], .init(retry: .none))
        let gone = try #require(await failure(client, to: DeviceToken(hex: "5d3a00dead")))
        #expect(gone.status == 410 && gone.unregisteredAt != nil)
        #expect(await failure(client, to: try DeviceToken(hex: "5d3a000429"))?.reason == .tooManyRequests)
        #expect(await failure(client, to: try DeviceToken(hex: "5d3a00c105"))?.outcome == .unknown)
        await client.close()
        await apns.stop()
    }

    @Test(arguments: SimulatedAPNs.Fault.presets) func `every push settles under each preset`(
        _ preset: SimulatedAPNs.Fault.Preset
    )
        async throws
    {
        let (apns, client) = try await bench(
            preset.faults,
            PushClient.Configuration(sendTimeout: .seconds(3))
        )
        let tokens = Array(repeating: token, count: 30)
        let report = await client.send(.alert("Hello"), to: tokens, topic: topic).report()
        #expect(report.count == 30)
        let isOutage = ["down", "key-refused"].contains(preset.name)
        #expect((report.acceptedCount == 0) == isOutage, "\(report.acceptedCount)")
        await client.close(within: .zero)
        await apns.stop()
    }

    @Test func `requests that a GOAWAY excludes are not processed`() async throws {
        let fault = SimulatedAPNs.Fault(.goAway(includesRequest: false), count: 1)
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(isEncrypted: false, streamsBeforeToken: 10, faults: [fault])
        )
        let raw = try RawClient(port: await apns.port)
        raw.send(RawHTTP2.greeting)
        for stream in [1, 3, 5] { raw.send(RawHTTP2.headers(RawHTTP2.request, stream: UInt32(stream), isLast: false)) }
        for stream in [1, 3, 5] {
            raw.send(RawHTTP2.frame(.data, flags: RawHTTP2.endsStream, stream: UInt32(stream), [0x7B, 0x7D]))
        }
        let frames = RawHTTP2.frames(in: await raw.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == .goAway } })
        #expect(frames.last { $0.kind == .goAway }?.payload.prefix(4) == [0, 0, 0, 0])
        #expect(await apns.pushCount == 1)
        await apns.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import TestSupport
import Testing

@testable import Martlet

/// The timestamps of snapshots that a client writes, by a clock that stands still.
@Suite struct ActivitySlotTests {
    private static let now: Int64 = 1_790_000_000

    private let client: PushClient
    private let token: DeviceToken
    private let snapshot = SurfaceSnapshot.example(of: .liveActivity)
    private let topic: Topic = "com.example.app"

    init() throws {
        client = try PushClient(
            .production,
            authentication: .token(.ephemeral()),
            configuration: PushClient.Configuration(sendTimeout: .seconds(3)),
            clock: WallClock { ActivitySlotTests.now }
        )
        token = try DeviceToken(hex: "5d3a6a1c")
    }

    private func timestamp(of payload: [UInt8]) throws -> Int64? {
        try JSONReader.read(payload)["aps"]?["timestamp"]?.integerValue
    }

    private func render(_ destination: SurfaceDestination, at date: Date? = nil) throws -> SnapshotRenderer.Push {
        var delivery = SurfaceDelivery()
        delivery.timestamp = date
        return try client.renderer.render(snapshot, to: destination, topic: topic, delivery: delivery)
    }

    @Test func `a request for a later second has its delay`() throws {
        let start = try render(.activityStart(token))
        #expect(try timestamp(of: start.body) == Self.now - 2 && start.delay == .zero)
        for second in 0..<3 as Range<Int64> {
            let update = try render(.activity(token))
            #expect(try timestamp(of: update.body) == Self.now + second && update.delay == .seconds(second))
        }
        let error = #expect(throws: APNsError.self) { try render(.activity(token)) }
        #expect(error?.code == .overloaded)
        let broadcast = try render(.channelEnd("Y2hhbm5lbA=="))
        #expect(try timestamp(of: broadcast.body) == Self.now + 2 && broadcast.delay == .zero)
    }

    @Test func `a timestamp of the caller's is sent as it is, in whole seconds`() throws {
        let request = try render(.activity(token), at: Date(timeIntervalSince1970: 5.9))
        #expect(try timestamp(of: request.body) == 5 && request.delay == .zero)
    }

    @Test func `a description takes no second from the updates that are sent`() throws {
        for _ in 0..<3 {
            let description = try client.describe(snapshot, to: .activity(token), topic: topic)
            #expect(try timestamp(of: description.body) == Self.now)
        }
        #expect(try render(.activity(token)).delay == .zero)
    }

    @Test(arguments: [Double.nan, .infinity, -1, -1e300, 1e300, 9_007_199_254_740_992])
    func `a timestamp out of range is an error that names it, and takes no second`(seconds: Double) async throws {
        let date = Date(timeIntervalSince1970: seconds)
        var errors: [APNsError] = []
        for destination in [SurfaceDestination.activity(token), .activityStart(token), .channel("Y2hhbm5lbA==")] {
            do { _ = try render(destination, at: date) } catch let error as APNsError { errors.append(error) }
        }
        var delivery = SurfaceDelivery()
        delivery.timestamp = date
        do throws(APNsError) {
            _ = try client.describe(snapshot, to: .activity(token), topic: topic, delivery: delivery)
        } catch { errors.append(error) }
        do throws(APNsError) {
            try await client.send(.end(), toActivity: token, topic: topic, timestamp: date)
        } catch { errors.append(error) }
        do throws(APNsError) {
            try await client.broadcast(.end(), to: "Y2hhbm5lbA==", topic: topic, timestamp: date)
        } catch { errors.append(error) }
        #expect(errors.count == 6)
        for error in errors {
            #expect(error.code == .invalid)
            #expect(error.description.contains("timestamp must be from 0 to 9007199254740991 seconds after 1970"))
            #expect(error.description.contains("(found \(seconds))"))
        }
        #expect(try render(.activity(token)).delay == .zero)
    }

    // MARK: Results

    /// The result of the first update.
    enum FirstResult: CaseIterable {
        case accepted, refused, unanswered, tooLarge, outOfRange, cancelled, closed

        /// Whether the phone may have received it.
        var isUsed: Bool { self == .accepted || self == .unanswered }
    }

    @Test(.timeLimit(.minutes(10)), arguments: FirstResult.allCases)
    func `an update that was not delivered releases its second`(result: FirstResult) async throws {
        let plan: [ScriptedServer.Reaction] =
            switch result {
            case .refused: [.answer(400, body: #"{"reason":"BadDeviceToken"}"#)]
            case .unanswered: [.cut]
            default: []
            }
        let server = try await ScriptedServer.start(plan)
        let client = try PushClient(
            await server.endpoint,
            authentication: .token(.ephemeral()),
            configuration: PushClient.Configuration(retry: .none),
            clock: WallClock { ActivitySlotTests.now }
        )
        if result == .closed { await client.close() }
        let text = result == .tooLarge ? String(repeating: "x", count: 5_000) : "x"
        let update = try LiveActivityUpdate.update(
            ["text": text],
            staleDate: result == .outOfRange ? .distantPast : nil
        )
        let isCancelled = Gate()
        let sending = Task {
            if result == .cancelled { await isCancelled.wait() }
            return try await client.send(update, toActivity: token, topic: topic)
        }
        if result == .cancelled { sending.cancel() }
        isCancelled.open()
        let isAccepted = (try? await sending.value) != nil
        #expect(isAccepted == (result == .accepted))
        let next = try client.renderer.render(snapshot, to: .activity(token), topic: topic, delivery: SurfaceDelivery())
        #expect(try timestamp(of: next.body) == Self.now + (result.isUsed ? 1 : 0))
        #expect(next.delay == (result.isUsed ? .seconds(1) : .zero))
        await client.close()
        await server.stop()
    }

    @Test(.timeLimit(.minutes(10))) func `a refused snapshot or broadcast releases its second`()
        async throws
    {
        let refusal = ScriptedServer.Reaction.answer(400, body: #"{"reason":"BadDeviceToken"}"#)
        let server = try await ScriptedServer.start([refusal, refusal])
        let client = try PushClient(
            await server.endpoint,
            authentication: .token(.ephemeral()),
            configuration: PushClient.Configuration(retry: .none),
            clock: WallClock { ActivitySlotTests.now }
        )
        let channel: ChannelID = "Y2hhbm5lbA=="
        await #expect(throws: APNsError.self) { try await client.send(snapshot, to: .activity(token), topic: topic) }
        await #expect(throws: APNsError.self) {
            try await client.broadcast(.update(["a": 1]), to: channel, topic: topic)
        }
        for destination in [SurfaceDestination.activity(token), .channel(channel)] {
            let next = try client.renderer.render(snapshot, to: destination, topic: topic, delivery: SurfaceDelivery())
            #expect(try timestamp(of: next.body) == Self.now && next.delay == .zero)
        }
        await client.close()
        await server.stop()
    }
}

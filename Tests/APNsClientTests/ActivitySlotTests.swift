import APNs
import Foundation
import LiveSurfaces
import Testing

@testable import APNsClient

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

    private func forwardable(_ destination: SurfaceDestination, at date: Date? = nil) throws -> ForwardedRequest {
        var delivery = SurfaceDelivery()
        delivery.timestamp = date
        return try client.forwardable(snapshot, to: destination, topic: topic, delivery: delivery)
    }

    @Test func `a request that is sent later says how long it has to wait`() throws {
        let start = try forwardable(.activityStart(token))
        #expect(try timestamp(of: start.body) == Self.now - 2 && start.delay == .zero)
        for second in 0..<3 as Range<Int64> {
            let update = try forwardable(.activity(token))
            #expect(try timestamp(of: update.body) == Self.now + second && update.delay == .seconds(second))
        }
        let error = #expect(throws: APNsError.self) { try forwardable(.activity(token)) }
        #expect(error?.code == .overloaded)
        let broadcast = try forwardable(.channelEnd("Y2hhbm5lbA=="))
        #expect(try timestamp(of: broadcast.body) == Self.now + 1 && broadcast.delay == .zero)
    }

    @Test func `a timestamp of the caller's is sent as it is, in whole seconds`() throws {
        let request = try forwardable(.activity(token), at: Date(timeIntervalSince1970: 5.9))
        #expect(try timestamp(of: request.body) == 5 && request.delay == .zero)
    }

    @Test func `a description takes no second from the updates that are sent`() throws {
        for _ in 0..<3 {
            let description = try client.describe(snapshot, to: .activity(token), topic: topic)
            #expect(try timestamp(of: description.body) == Self.now)
        }
        #expect(try forwardable(.activity(token)).delay == .zero)
    }
}

// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletSimulator
import Testing

/// Tests of the pushes for services that move from `@mobile-surfaces/push`.
@Suite(.timeLimit(.minutes(10))) struct SurfaceCompatibilityTests {
    private let topic: Topic = "com.example.app"

    /// Sends a snapshot, and returns the push as the simulator received it.
    private func push(
        _ snapshot: SurfaceSnapshot,
        to destination: SurfaceDestination,
        _ compatibility: SurfaceCompatibility,
        alert: LiveActivityAlert? = nil
    ) async throws -> (priority: String?, payload: JSONValue) {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let delivery = SurfaceDelivery(alert: alert, compatibility: compatibility)
        try await client.send(snapshot, to: destination, topic: topic, delivery: delivery)
        let push = try #require(await apns.pushes.first)
        await client.close()
        await apns.stop()
        return (push.headers.priority, try JSONReader.read(push.payload))
    }

    private let activity = SurfaceSnapshot.example(of: .liveActivity)
    private let token: DeviceToken

    init() throws {
        token = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
    }

    @Test func `a start equals the request of the package`() async throws {
        let start = try await push(activity, to: .activityStart(token), .mobileSurfaces)
        #expect(start.priority == "5")
        let aps = try #require(start.payload["aps"])
        #expect(aps["attributes-type"] == "MobileSurfacesActivityAttributes")
        #expect(aps["alert"] == ["title": "On its way", "body": "Two stops before you"])
        #expect(
            aps.members?.map(\.name) == [
                "timestamp", "event", "content-state", "attributes-type", "attributes", "alert",
            ]
        )
    }

    @Test func `a start has the caller's alert, or none`() async throws {
        let compatibility = SurfaceCompatibility.mobileSurfaces.union(.startWithoutAlert)
        let alert = LiveActivityAlert(title: "Order 17", body: "Follow it here", sound: nil)
        let own = try await push(activity, to: .activityStart(token), compatibility, alert: alert)
        #expect(own.payload["aps"]?["alert"] == ["title": "Order 17", "body": "Follow it here"])
        let none = try await push(activity, to: .activityStart(token), compatibility)
        #expect(
            none.payload["aps"]?.members?.map(\.name) == [
                "timestamp", "event", "content-state", "attributes-type", "attributes",
            ]
        )
        let ours = try await push(activity, to: .activityStart(token), [], alert: alert)
        #expect(ours.payload["aps"]?["alert"] == own.payload["aps"]?["alert"])
    }

    @Test func `an end is dismissed at its own time`() async throws {
        let end = try await push(activity, to: .activityEnd(token), .mobileSurfaces)
        let aps = try #require(end.payload["aps"])
        #expect(aps["dismissal-date"] == aps["timestamp"])
        #expect(end.priority == "5")
        let ours = try await push(activity, to: .activityEnd(token), [])
        #expect(ours.payload["aps"]?["dismissal-date"] == 1)
    }

    @Test func `an alert has the package's sidecar and spelling`() async throws {
        let alert = try await push(activity, to: .device(token), .mobileSurfaces)
        #expect(alert.payload["liveSurface"]?["schemaVersion"] == nil)
        #expect(alert.payload["liveSurface"]?["kind"] == "surface_snapshot")
        let notification = try await push(.example(of: .notification), to: .device(token), .mobileSurfaces)
        #expect(notification.payload["aps"]?["interruption-level"] == "timeSensitive")
        #expect(notification.payload["liveSurface"]?["schemaVersion"] == "5")
    }

    @Test func `each difference is turned off alone`() async throws {
        let start = try await push(activity, to: .activityStart(token), .silentStart)
        #expect(start.priority == "10")
        #expect(start.payload["aps"]?["attributes-type"] == "SurfaceActivityAttributes")
        #expect(start.payload["aps"]?["alert"]?["sound"] == nil)
        let update = try await push(activity, to: .activity(token), .mobileSurfaces)
        let ours = try await push(activity, to: .activity(token), [])
        #expect(update.priority == ours.priority)
        #expect(update.payload["aps"]?["content-state"] == ours.payload["aps"]?["content-state"])
    }
}

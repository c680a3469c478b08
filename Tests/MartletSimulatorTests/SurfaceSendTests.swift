// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletSimulator
import Testing

/// Snapshots through the client to the simulator, as they arrive there.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SurfaceSendTests {
    private static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    private let topic: Topic = "com.example.app"

    /// A snapshot to send, with the expected push.
    struct Sending: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var kind: SurfaceKind
        var destination: @Sendable (DeviceToken) -> SurfaceDestination
        var pushType: String
        var topicSuffix = ""
        var priority: String
        var payload: String
    }

    private static let state =
        #"{"headline":"On its way","subhead":"Two stops before you","progress":0.5,"stage":"inProgress"}"#
    private static let sidecar = #""snapshotId":"order-17-KIND@3","surfaceId":"order-17-KIND","state":"active""#

    private static func silent(_ kind: SurfaceKind) -> Sending {
        Sending(
            testDescription: "\(kind.rawValue) to a device",
            kind: kind,
            destination: { .device($0) },
            pushType: "background",
            priority: "5",
            payload:
                #"{"aps":{"content-available":1},"surfaceSnapshot":\#(SurfaceSnapshot.example(of: kind).jsonText)}"#
        )
    }

    private static let sendings: [Sending] = [
        silent(.widget), silent(.control), silent(.lockAccessory), silent(.standBy),
        Sending(
            testDescription: "a notification",
            kind: .notification,
            destination: { .device($0) },
            pushType: "alert",
            priority: "10",
            payload: #"{"schemaVersion":"5","aps":{"alert":{"title":"On its way","body":"Two stops before you"},"#
                + #""sound":"default","category":"surface-update","thread-id":"order-17","#
                + #""interruption-level":"time-sensitive"},"liveSurface":{"schemaVersion":"5","#
                + #""kind":"surface_snapshot","#
                + sidecar + #","deepLink":"shop://orders/17","category":"surface-update"}}"#
        ),
        Sending(
            testDescription: "a Live Activity as an alert",
            kind: .liveActivity,
            destination: { .device($0) },
            pushType: "alert",
            priority: "10",
            payload: #"{"aps":{"alert":{"title":"On its way","body":"Two stops before you"},"sound":"default"},"#
                + #""liveSurface":{"schemaVersion":"5","kind":"surface_snapshot",\#(sidecar),"#
                + #""deepLink":"shop://orders/17"}}"#
        ),
        Sending(
            testDescription: "the start of a Live Activity",
            kind: .liveActivity,
            destination: { .activityStart($0) },
            pushType: "liveactivity",
            topicSuffix: ".push-type.liveactivity",
            priority: "10",
            payload: #"{"aps":{"timestamp":TIME,"event":"start","content-state":\#(state),"#
                + #""attributes-type":"SurfaceActivityAttributes","#
                + #""attributes":{"surfaceId":"order-17-KIND","modeLabel":"Delivery"},"#
                + #""alert":{"title":"On its way","body":"Two stops before you","sound":"default"}}}"#
        ),
        Sending(
            testDescription: "an update of a Live Activity",
            kind: .liveActivity,
            destination: { .activity($0) },
            pushType: "liveactivity",
            topicSuffix: ".push-type.liveactivity",
            priority: "5",
            payload: #"{"aps":{"timestamp":TIME,"event":"update","content-state":\#(state)}}"#
        ),
        Sending(
            testDescription: "the end of a Live Activity",
            kind: .liveActivity,
            destination: { .activityEnd($0) },
            pushType: "liveactivity",
            topicSuffix: ".push-type.liveactivity",
            priority: "5",
            payload: #"{"aps":{"timestamp":TIME,"event":"end","content-state":\#(state),"dismissal-date":1}}"#
        ),
    ]

    @Test(arguments: sendings) func `a snapshot arrives as its kind and destination demand`(_ sending: Sending)
        async throws
    {
        let (apns, client) = try await bench()
        let snapshot = SurfaceSnapshot.example(of: sending.kind)
        let receipt = try await client.send(
            snapshot,
            to: sending.destination(DeviceToken(hex: Self.token)),
            topic: topic
        )
        let push = try #require(await apns.pushes.first)
        #expect(push.status == 200 && push.findings.isEmpty, "\(push.findings)")
        #expect(push.headers.pushType == sending.pushType)
        #expect(push.headers.topic == topic.rawValue + sending.topicSuffix)
        #expect(push.headers.priority == sending.priority)
        #expect(push.headers.id == receipt.id.description)
        let expiration = try #require(push.headers.expiration.flatMap(Int64.init))
        #expect((3_500...3_700).contains(expiration - push.time / 1_000))
        let timestamp = try JSONReader.read(push.payload)["aps"]?["timestamp"]?.integerValue
        let expected = sending.payload.replacing("KIND", with: sending.kind.rawValue)
            .replacing("TIME", with: String(timestamp ?? 0))
        #expect(String(decoding: push.payload, as: UTF8.self) == expected)
        await client.close()
        await apns.stop()
    }

    @Test func `a channel gets updates and the end`() async throws {
        let (apns, client) = try await bench()
        let channel = try await client.channels(of: topic).create()
        let snapshot = SurfaceSnapshot.example(of: .liveActivity)
        try await client.send(snapshot, to: .channel(channel), topic: topic)
        try await client.send(snapshot, to: .channelEnd(channel), topic: topic)
        let pushes = await apns.pushes
        #expect(pushes.map(\.status) == [200, 200])
        #expect(
            pushes.allSatisfy { $0.channel == channel && $0.headers.expiration == "0" && $0.headers.priority == "5" }
        )
        let events = try pushes.map { try JSONReader.read($0.payload)["aps"]?["event"]?.stringValue }
        #expect(events == ["update", "end"])
        await client.close()
        await apns.stop()
    }

    @Test func `another try has the same identifier, another destination another`() async throws {
        let (apns, client) = try await bench()
        let snapshot = SurfaceSnapshot.example(of: .notification)
        let token = try DeviceToken(hex: Self.token)
        let first = try await client.send(snapshot, to: .device(token), topic: topic).id
        let second = try await client.send(snapshot, to: .device(token), topic: topic).id
        let other = try await client.send(snapshot, to: .device(DeviceToken(hex: "5d3a6a1c8f9a42d6")), topic: topic).id
        #expect(first == second && first != other)
        guard case .widget(var widget) = SurfaceSnapshot.example(of: .widget),
            case .standBy(var standBy) = SurfaceSnapshot.example(of: .standBy)
        else { return }
        (widget.id, standBy.id) = ("order@1", "order@1")
        let ofWidget = try await client.send(.widget(widget), to: .device(token), topic: topic).id
        let ofStandBy = try await client.send(.standBy(standBy), to: .device(token), topic: topic).id
        #expect(ofWidget != ofStandBy, "one event may have the same name on several surfaces")
        let own = try APNsID("123e4567-e89b-12d3-a456-4266554400a0")
        let delivery = SurfaceDelivery(id: own)
        #expect(try await client.send(snapshot, to: .device(token), topic: topic, delivery: delivery).id == own)
        await client.close()
        await apns.stop()
    }

    @Test func `invalid snapshots and those of a wrong kind are not sent`() async throws {
        let (apns, client) = try await bench()
        let token = try DeviceToken(hex: Self.token)
        let wrong = await #expect(throws: APNsError.self) {
            try await client.send(.example(of: .widget), to: .activity(token), topic: topic)
        }
        #expect(wrong?.code == .invalid && wrong?.description.contains("widget") == true)
        guard case .notification(var notification) = SurfaceSnapshot.example(of: .notification) else { return }
        notification.surface.title = ""
        let invalid = await #expect(throws: APNsError.self) {
            try await client.send(.notification(notification), to: .device(token), topic: topic)
        }
        #expect(invalid?.description.contains("notification.title") == true)
        #expect(await apns.pushes.isEmpty)

        let example = SurfaceSnapshot.example(of: .notification)
        let description = try client.describe(example, to: .device(token), topic: topic)
        try await client.send(example, to: .device(token), topic: topic)
        #expect(await apns.pushes.first?.payload == description.body)
        #expect(description.findings.isEmpty)
        await client.close()
        await apns.stop()
    }

    private func bench() async throws -> (SimulatedAPNs, PushClient) {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let endpoint = await apns.endpoint
        return (apns, try PushClient(endpoint, authentication: .token(.ephemeral())))
    }
}

extension SurfaceSnapshot {
    fileprivate var jsonText: String { String(decoding: json.encoded(), as: UTF8.self) }
}

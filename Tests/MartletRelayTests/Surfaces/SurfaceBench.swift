// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import OutboxModel
import TestSupport

@testable import MartletRelay

/// A relay with phones and surfaces, over a file or over the model of an outbox.
struct SurfaceBench {
    /// The kinds of outboxes.
    enum Store: CaseIterable, Sendable {
        case file
        case model
    }

    static let surface = "order-7"

    private(set) var phones: EnrollmentBench
    /// The place of the model; nil for a file.
    private let disk: ModelOutbox.Disk?
    /// The maximum number of pushes in the model.
    private let limit: Int

    var relay: RelayBench { phones.relay }
    private var surfaces: any SurfaceStore { relay.parts.outbox.surfaces }

    init(over store: Store = .file, limit: Int = 10_000, log: Logger = .silent) async throws {
        self.limit = limit
        phones = try await EnrollmentBench(log: log)
        guard store == .model else {
            disk = nil
            return
        }
        disk = ModelOutbox.Disk()
        try await restart()
    }

    /// Stops the relay, and starts another one over the same outbox.
    mutating func restart() async throws {
        let configuration = await relay.relay.context.configuration
        await relay.relay.stop()
        let started: PushRelay
        if let disk {
            started = try await PushRelay.start(configuration, over: ModelOutbox(on: disk, limit: limit))
        } else {
            started = try await PushRelay.start(configuration)
        }
        phones = EnrollmentBench(over: RelayBench(relay, started))
    }

    func stop() async { await relay.stop() }

    // MARK: The back end

    /// States the content of a surface of the user anna, or of another audience, as the interface does.
    func put(
        _ title: String,
        for audience: SurfaceAudience = .users(["anna"]),
        kinds: [SurfaceKind] = [.liveActivity],
        on channel: SurfaceChannel? = nil,
        isUrgent: Bool = true,
        endsAt: Int64? = nil
    ) async throws {
        var content = try SurfaceContent(stored: Self.request(title, kinds: kinds, on: channel))
        content.isUrgent = isUrgent
        let stored = try await surfaces.surface(Self.surface, of: "orders")
        content.unchanged = content.unchangedKinds(of: stored)
        let surface = MartletOutbox.Surface(
            app: "orders",
            id: Self.surface,
            caller: "back end",
            audience: audience,
            request: content.stored,
            fingerprint: try content.fingerprint(),
            endsAt: endsAt,
            channel: channel?.id.rawValue
        )
        _ = try await surfaces.put(surface, if: .none, limit: 100, at: relay.parts.now)
        await relay.parts.surfaces.wake()
    }

    func withdraw() async throws {
        _ = try await surfaces.withdraw(Self.surface, of: "orders", if: .none, at: relay.parts.now)
        await relay.parts.surfaces.wake()
    }

    /// The stored request of a surface.
    static func request(
        _ title: String,
        kinds: [SurfaceKind] = [.liveActivity],
        on channel: SurfaceChannel? = nil
    ) -> [UInt8] {
        let snapshots = kinds.map { snapshot(of: $0, title).json }
        return JSONValue.members([
            "snapshots": .array(snapshots), "priority": 10, "channel": channel?.json,
        ]).encoded()
    }

    /// Creates a channel of the app.
    func createChannel(storesBroadcasts: Bool = false) async throws -> SurfaceChannel {
        let body = #"{"message-storage-policy":\#(storesBroadcasts ? 1 : 0)}"#
        let answer = await relay.ask("POST", "/v1/apps/orders/channels", body)
        guard let id = answer.json["channel"]?.stringValue else { throw UnexpectedAnswer(text: answer.text) }
        return .test(ChannelID(id), storesBroadcasts: storesBroadcasts)
    }

    /// The snapshot of a Live Activity or of a widget.
    static func snapshot(of kind: SurfaceKind, _ title: String) -> SurfaceSnapshot {
        func snapshot<Content: LiveSurfaces.Surface>(_ surface: Content) -> Snapshot<Content> {
            Snapshot(
                id: "\(Self.surface)@\(title)",
                surfaceID: Self.surface,
                updatedAt: "2026-05-12T18:31:00.000Z",
                state: .active,
                surface: surface
            )
        }
        guard kind == .liveActivity else {
            return .widget(
                snapshot(
                    WidgetSurface(
                        title: title,
                        body: "Two stops",
                        progress: 0.5,
                        deepLink: "shop://orders/7",
                        family: .systemMedium
                    )
                )
            )
        }
        return .liveActivity(
            snapshot(
                LiveActivitySurface(
                    title: title,
                    body: "Two stops",
                    progress: 0.5,
                    deepLink: "shop://orders/7",
                    modeLabel: "Delivery",
                    stage: .inProgress
                )
            )
        )
    }

    /// Whether the status has an incident of refused broadcasts.
    func hasRefusedBroadcasts() async -> Bool {
        let incidents = await relay.ask("GET", "/v1/status").json["incidents"]?.elements ?? []
        return incidents.contains { $0["kind"] == "broadcasts-refused" }
    }

    // MARK: Phones

    /// Enrolls a phone with a device token and a token that starts Live Activities; returns its secret.
    func enroll(_ user: String = "anna", device: String, start: String, _ more: String = "") async throws -> String {
        let tokens = #"{"device":"\#(device)","start":{"SurfaceActivityAttributes":"\#(start)"}}"#
        return try await phones.enroll(user, #","tokens":\#(tokens)\#(more)"#).secret
    }

    /// Reports that a push has started an activity of the surface, with its token.
    func report(_ token: String, with secret: String) async throws {
        let activity = #"{"surface":"\#(Self.surface)","token":"\#(token)","started-by":"push"}"#
        try await report(#"{"\#(token)":\#(activity)}"#, secret)
    }

    /// Reports that a push has started an activity of the surface on a channel, which has no token.
    func reportActivityOnChannel(with secret: String) async throws {
        try await report(#"{"6F1C":{"surface":"\#(Self.surface)","started-by":"push"}}"#, secret)
    }

    /// Enrolls the phone of anna that starts Live Activities with `b1`, and brings the surface to it on a channel.
    func goLive(on channel: SurfaceChannel) async throws {
        let secret = try await enroll(device: "a1", start: "b1", #","system-version":"26.1""#)
        try await put("Packed", on: channel)
        try await expect(["start Packed"], by: "b1")
        try await reportActivityOnChannel(with: secret)
    }

    private func report(_ activities: String, _ secret: String) async throws {
        let answer = await phones.phone("PATCH", #"{"activities":\#(activities)}"#, with: secret)
        guard answer.status == 200 else { throw UnexpectedAnswer(text: answer.text) }
    }

    struct UnexpectedAnswer: Error {
        let text: String
    }

    /// The pushes that Apple has received for a token: the event of a Live Activity, or the push type, and the title.
    func received(by token: String) async -> [String] { await received { $0.deviceToken == token } }

    /// The broadcasts that Apple has received for a channel, without repetitions for phones that have joined late: the
    /// event and the title.
    func received(on channel: SurfaceChannel) async -> [String] {
        await received { $0.channel == channel.id }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private func received(where isWanted: (ReceivedPush) -> Bool) async -> [String] {
        await relay.apple.pushes.filter(isWanted).map { push in
            let payload = (try? JSONReader.read(push.payload)) ?? .null
            let aps = payload["aps"]
            let title = [
                aps?["content-state"]?["headline"], aps?["alert"]?["title"],
                payload["surfaceSnapshot"]?["widget"]?["title"],
            ].compactMap { $0?.stringValue }.first
            return "\(aps?["event"]?.stringValue ?? push.headers.pushType ?? "") \(title ?? "")"
        }
    }

    /// Waits until Apple has received these broadcasts for a channel.
    func expect(_ pushes: [String], on channel: SurfaceChannel) async throws {
        try await eventually("\(channel.id) gets \(pushes)") { await received(on: channel) == pushes }
    }

    /// Waits until Apple has received these pushes for a token.
    func expect(_ pushes: [String], by token: String) async throws {
        try await eventually("\(token) gets \(pushes)") { await received(by: token) == pushes }
    }
}

extension EnrollmentBench {
    /// The bench over another relay with the same configuration.
    init(over relay: RelayBench) {
        self.relay = relay
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The pushes that were built for other installations, and the zones that were looked up for them.
struct BuiltPushes {
    /// Everything that decides about a push, except for the identifier and the token.
    fileprivate struct Key: Hashable {
        /// The ``StoredSurface/number``.
        let surface: Int64
        let kind: SurfaceKind
        let content: SurfacePlan.Send.Content
        let lane: Lane
        let bundleID: String
        /// The time at which the push is sent, in milliseconds since 1970.
        let time: Int64
    }

    fileprivate var zones = ZoneLookup()
    fileprivate var pushes: [Key: OutboxPush] = [:]
}

/// A builder of the pushes of one surface to one installation.
struct SurfacePushBuilder {
    /// The time for which APNs stores a push that shows no alert for a phone that is offline, in seconds.
    private static let backgroundLife: Int64 = 86_400
    /// The time for which APNs stores a broadcast for phones that are offline, in seconds: eight hours at most
    /// ("Sending channel management requests to APNs").
    private static let broadcastLife: Int64 = 8 * 3_600
    /// The time for which APNs stores a notification for a phone that is offline, in seconds.
    private static let notificationLife: Int64 = 3_600

    private let surface: StoredSurface
    private let stored: StoredInstallation
    private let attributesType: String
    private let notificationRevision: Int64
    private let app: RelayConfiguration.App
    private let lane: Lane
    private let renderer: SnapshotRenderer
    private let now: Int64

    /// Creates a builder.
    ///
    /// - Parameters:
    ///   - surface: The surface.
    ///   - stored: The installation.
    ///   - attributesType: The attributes type of the Live Activities that are started.
    ///   - notificationRevision: The revision with which the surface got its notification.
    ///   - apps: The apps in the current configuration.
    ///   - renderers: The renderers of the lanes.
    ///   - now: The time in milliseconds since 1970.
    /// - Throws: ``APIProblem`` when no app is configured for the phone.
    init(
        surface: StoredSurface,
        stored: StoredInstallation,
        attributesType: String,
        notificationRevision: Int64,
        apps: [RelayConfiguration.App],
        renderers: [Lane: SnapshotRenderer],
        now: Int64
    ) throws(APIProblem) {
        let installation = stored.installation
        let lane = Lane(app: surface.surface.app, environment: installation.environment)
        guard let app = apps.first(where: { $0.name == lane.app }), let renderer = renderers[lane],
            app.environments.contains(lane.environment), app.bundleIDs.contains(installation.bundleID)
        else {
            let bundle = ShownValue(installation.bundleID)
            throw APIProblem(400, "the app is not configured for \(bundle) in \(lane.environment.rawValue)")
        }
        self.surface = surface
        self.stored = stored
        self.attributesType = attributesType
        self.notificationRevision = notificationRevision
        self.app = app
        self.lane = lane
        self.renderer = renderer
        self.now = now
    }

    /// Builds a push.
    ///
    /// - Parameters:
    ///   - send: The push as it was decided.
    ///   - built: The pushes of the current state of the surface that were built before.
    /// - Returns: The push.
    /// - Throws: ``APIProblem`` when Apple would refuse the push.
    func push(of send: SurfacePlan.Send, _ built: inout BuiltPushes) throws(APIProblem) -> OutboxPush {
        let installation = stored.installation
        let timeZone = installation.attributes[.timeZone]
        var time = now
        // One that waits for the end of the quiet hours does not expire before it.
        if case .notification = send.content {
            time = app.quietHours?.end(at: now, in: built.zones.zone(named: timeZone)) ?? now
        }
        let key = BuiltPushes.Key(
            surface: surface.number,
            kind: send.snapshot.kind,
            content: send.content,
            lane: lane,
            bundleID: installation.bundleID,
            time: time
        )
        var push: OutboxPush
        if let known = built.pushes[key] {
            push = known
            push.id = send.id
            push.destination = send.destination.stored(bundle: installation.bundleID)
            push.orderKey = push.headers.orderKey(for: push.destination)
        } else {
            push = try build(send, at: time)
            if send.isShared { built.pushes[key] = push }
        }
        if case .broadcast = send.content { return push }
        push.user = installation.user
        push.installation = stored.number
        push.count(towards: alertLimit)
        _ = push.wait(for: app.quietHours, in: timeZone, &built.zones, at: now)
        return push
    }

    /// Builds a push that is sent at a time or later, without its receiver.
    private func build(_ send: SurfacePlan.Send, at time: Int64) throws(APIProblem) -> OutboxPush {
        let bundleID = stored.installation.bundleID
        let rendered: SnapshotRenderer.Push
        do throws(APNsError) {
            rendered = try render(send, Topic(bundleID), delivery(of: send, at: time))
        } catch {
            throw APIProblem(400, "\(error)")
        }
        var headers = rendered.headers
        headers.collapseID = collapseID(of: send)
        var push = try PushRequestBuilder.push(
            headers,
            rendered.body,
            to: send.destination,
            lane,
            bundleID,
            send.id,
            at: now
        )
        if case .broadcast = send.content {
            // Also one that APNs does not store for phones that are offline is sent until the next one is.
            push.expiresAt = now + AssumedActivity.policy.staleAfter * 1_000
        }
        return push
    }

    private func render(
        _ send: SurfacePlan.Send,
        _ topic: Topic,
        _ delivery: SurfaceDelivery
    ) throws(APNsError) -> SnapshotRenderer.Push {
        switch send.content {
        case .widgets:
            try renderer.render(.widgets(expiration: delivery.expiration), topic: topic, id: send.id)
        case .control:
            try renderer.render(.controls(expiration: delivery.expiration), topic: topic, id: send.id)
        case .start, .update, .end, .broadcast, .notification, .background:
            try renderer.render(send.snapshot, to: send.surfaceDestination, topic: topic, delivery: delivery)
        }
    }

    /// Returns the differences from the defaults of the kind, for a push that is sent at a time or later.
    private func delivery(of send: SurfacePlan.Send, at time: Int64) -> SurfaceDelivery {
        var delivery = SurfaceDelivery(id: send.id)
        let life: Int64
        switch send.content {
        case .start(let timestamp, let channel):
            if let channel { delivery.updateSource = .byChannel(channel.id) }
            delivery.timestamp = Date(secondsSince1970: timestamp)
            delivery.staleDate = Date(secondsSince1970: now / 1_000 + AssumedActivity.policy.staleAfter)
            delivery.attributesType = attributesType
            life = AssumedActivity.policy.startExpiration
        case .update(let update):
            delivery.use(update)
            // The content is sent again before it is marked as outdated.
            life = AssumedActivity.policy.staleAfter
        case .broadcast(let broadcast):
            delivery.use(broadcast.update)
            // APNs refuses a broadcast to be stored on a channel that stores none.
            guard broadcast.channel.storesBroadcasts else {
                delivery.expiration = .attemptOnce
                return delivery
            }
            life = Self.broadcastLife
        case .end(let timestamp):
            delivery.timestamp = Date(secondsSince1970: timestamp)
            life = AssumedActivity.policy.longestLife
        case .notification: life = Self.notificationLife
        case .background, .widgets, .control: life = Self.backgroundLife
        }
        delivery.expiration = PushNotification.Expiration(secondsSince1970: time / 1_000 + life)
        return delivery
    }

    /// Returns the collapse identifier: the kind and the identifier of the surface, or a hash of them if they are too
    /// long.
    ///
    /// Updates and ends have none, because APNs stores only the last push to the token of a Live Activity, or to the
    /// channel.
    private func collapseID(of send: SurfacePlan.Send) -> String? {
        switch send.content {
        case .update, .end, .broadcast: return nil
        case .start, .notification, .background, .widgets, .control:
            let text = "\(send.snapshot.kind.rawValue) \(surface.surface.id)"
            if let identifier = CollapseID(rawValue: text) { return identifier.rawValue }
            return (try? SHA256.hash(Array(text.utf8))).map { APNsID(hash: $0).description }
        }
    }

    /// The limit of alerts of the app; the notifications of one state to several phones of a user count once.
    private var alertLimit: AlertLimit? {
        let key = "surface\n\(surface.surface.id)\n\(notificationRevision)"
        guard let limit = app.alertsPerDay, let id = APNsID(app: app.name, idempotencyKey: key, "alert") else {
            return nil
        }
        return AlertLimit(perDay: limit, request: id)
    }
}

extension SurfacePlan.Send {
    /// Whether other installations get the same push: one with the current content of the surface, rather than the last
    /// one of the installation, that is not a broadcast to all of them.
    fileprivate var isShared: Bool {
        switch content {
        case .end, .broadcast: false
        case .start, .update, .notification, .background, .widgets, .control: true
        }
    }

    fileprivate var surfaceDestination: SurfaceDestination {
        switch (destination, content) {
        case (.channel(let channel), .broadcast(let broadcast)) where broadcast.isEnd: .channelEnd(channel)
        case (.channel(let channel), _): .channel(channel)
        case (.device(let token), .start): .activityStart(token)
        case (.device(let token), .update): .activity(token)
        case (.device(let token), .end): .activityEnd(token)
        case (.device(let token), .broadcast), (.device(let token), .notification), (.device(let token), .background),
            (.device(let token), .widgets), (.device(let token), .control):
            .device(token)
        }
    }
}

extension SurfaceDelivery {
    /// Takes the timestamp, the stale date and the priority of an update.
    fileprivate mutating func use(_ update: ActivitySession.Update) {
        timestamp = Date(secondsSince1970: update.timestamp)
        staleDate = Date(secondsSince1970: update.staleDate)
        priority = update.priority == 10 ? .immediate : .powerAware
    }
}

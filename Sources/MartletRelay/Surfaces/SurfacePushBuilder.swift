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

/// A builder of the pushes of one surface to one installation.
struct SurfacePushBuilder {
    /// The time for which APNs stores a push that shows no alert for a phone that is offline, in seconds.
    private static let backgroundLife: Int64 = 86_400
    /// The time for which APNs stores a notification for a phone that is offline, in seconds.
    private static let notificationLife: Int64 = 3_600
    private static let policy = ActivityPolicy()

    let surface: StoredSurface
    let stored: StoredInstallation
    /// The attributes type of the Live Activities that are started.
    let attributesType: String
    /// The app in the current configuration; nil when it was removed.
    let app: RelayConfiguration.App?
    let renderers: [Lane: SnapshotRenderer]
    /// The time in milliseconds since 1970.
    let now: Int64

    /// Builds a push.
    ///
    /// - Parameters:
    ///   - send: The push as it was decided.
    ///   - zones: The zones that were looked up before.
    /// - Returns: The push; nil for a notification that expires within the quiet hours of the app.
    /// - Throws: ``APIProblem`` when the app is not configured for the phone, or Apple would refuse the push.
    func push(of send: SurfacePlan.Send, _ zones: inout ZoneLookup) throws(APIProblem) -> OutboxPush? {
        let installation = stored.installation
        let lane = Lane(app: surface.surface.app, environment: installation.environment)
        guard let app, let renderer = renderers[lane], app.environments.contains(lane.environment),
            app.bundleIDs.contains(installation.bundleID)
        else {
            let bundle = ShownValue(installation.bundleID)
            throw APIProblem(400, "the app is not configured for \(bundle) in \(lane.environment.rawValue)")
        }
        let rendered: SnapshotRenderer.Push
        do throws(APNsError) {
            rendered = try render(send, by: renderer, Topic(installation.bundleID))
        } catch {
            throw APIProblem(400, "\(error)")
        }
        var headers = rendered.headers
        headers.collapseID = collapseID(of: send)
        var push = try PushRequestBuilder.push(
            headers,
            rendered.body,
            to: .device(send.token),
            lane,
            installation.bundleID,
            send.id,
            at: now
        )
        push.user = installation.user
        push.installation = stored.number
        push.count(towards: alertLimit(of: app))
        let reason = push.wait(for: app.quietHours, in: installation.attributes[.timeZone], &zones, at: now)
        return reason == nil ? push : nil
    }

    private func render(
        _ send: SurfacePlan.Send,
        by renderer: SnapshotRenderer,
        _ topic: Topic
    ) throws(APNsError) -> SnapshotRenderer.Push {
        let delivery = self.delivery(of: send)
        switch send.content {
        case .widgets:
            return try renderer.render(.widgets(expiration: delivery.expiration), topic: topic, id: send.id)
        case .control:
            return try renderer.render(.controls(expiration: delivery.expiration), topic: topic, id: send.id)
        case .start, .update, .end, .notification, .background:
            return try renderer.render(send.snapshot, to: send.destination, topic: topic, delivery: delivery)
        }
    }

    private func delivery(of send: SurfacePlan.Send) -> SurfaceDelivery {
        var delivery = SurfaceDelivery(id: send.id)
        let life: Int64
        switch send.content {
        case .start(let timestamp):
            delivery.timestamp = Date(secondsSince1970: timestamp)
            delivery.staleDate = Date(secondsSince1970: now / 1_000 + Self.policy.staleAfter)
            delivery.attributesType = attributesType
            life = Self.policy.startExpiration
        case .update(let update):
            delivery.timestamp = Date(secondsSince1970: update.timestamp)
            delivery.staleDate = Date(secondsSince1970: update.staleDate)
            delivery.priority = update.priority == 10 ? .immediate : .powerAware
            // The content is sent again before it is marked as outdated.
            life = Self.policy.staleAfter
        case .end(let timestamp):
            delivery.timestamp = Date(secondsSince1970: timestamp)
            life = Self.policy.longestLife
        case .notification: life = Self.notificationLife
        case .background, .widgets, .control: life = Self.backgroundLife
        }
        delivery.expiration = PushNotification.Expiration(secondsSince1970: now / 1_000 + life)
        return delivery
    }

    /// Returns the collapse identifier: the kind and the identifier of the surface, or a hash of them if they are too
    /// long.
    ///
    /// Updates and ends have none, because APNs stores only the last push to the token of a Live Activity.
    private func collapseID(of send: SurfacePlan.Send) -> String? {
        switch send.content {
        case .update, .end: return nil
        case .start, .notification, .background, .widgets, .control:
            let text = "\(send.snapshot.kind.rawValue) \(surface.surface.id)"
            if let identifier = CollapseID(rawValue: text) { return identifier.rawValue }
            return (try? SHA256.hash(Array(text.utf8))).map { APNsID(hash: $0).description }
        }
    }

    /// Returns the limit of alerts of the app; the notifications of one state to several phones of a user count once.
    private func alertLimit(of app: RelayConfiguration.App) -> AlertLimit? {
        let key = "surface\n\(surface.surface.id)\n\(surface.revision)"
        guard let limit = app.alertsPerDay, let id = APNsID(app: app.name, idempotencyKey: key, "alert") else {
            return nil
        }
        return AlertLimit(perDay: limit, request: id)
    }
}

extension SurfacePlan.Send {
    fileprivate var destination: SurfaceDestination {
        switch content {
        case .start: .activityStart(token)
        case .update: .activity(token)
        case .end: .activityEnd(token)
        case .notification, .background, .widgets, .control: .device(token)
        }
    }
}

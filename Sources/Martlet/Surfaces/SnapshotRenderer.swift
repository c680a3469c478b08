// SPDX-License-Identifier: Apache-2.0

package import LiveSurfaces
package import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A renderer of snapshots as pushes, which needs no network.
package struct SnapshotRenderer: Sendable {
    /// A push for a snapshot, without an identifier and a receiver.
    package struct Push: Sendable {
        /// The headers except for the identifier.
        package let headers: PushHeaders
        package let body: [UInt8]
        /// The delay after which the push may be sent, so that the timestamp of a Live Activity's update is not ahead
        /// of the clock.
        package let delay: Duration
    }

    private let timestamps: ActivityTimestampSource
    private let clock: WallClock
    private let timeout: Duration

    init(_ timestamps: ActivityTimestampSource, clock: WallClock, timeout: Duration) {
        self.timestamps = timestamps
        self.clock = clock
        self.timeout = timeout
    }

    /// Creates a renderer with timestamps of its own.
    ///
    /// - Parameters:
    ///   - clock: The clock for timestamps and expirations.
    ///   - timeout: The limit of the delay of a push.
    package init(clock: WallClock = .system, timeout: Duration) {
        self.init(ActivityTimestampSource(clock: clock), clock: clock, timeout: timeout)
    }

    /// Renders a snapshot as a push that is sent later.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - destination: The receiver, and the event for it.
    ///   - topic: The app's bundle identifier, without any suffix.
    ///   - delivery: The differences from the defaults of the kind.
    /// - Returns: The push.
    /// - Throws: ``APNsError`` with the code `invalid` when the snapshot violates a rule, or is of another kind than
    ///   the destination needs; with the code `overloaded` when the delay would exceed the timeout.
    package func render(
        _ snapshot: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        delivery: SurfaceDelivery
    ) throws(APNsError) -> Push {
        let id = try delivery.id(of: snapshot, to: destination)
        switch try plan(for: snapshot, to: destination, topic: topic, delivery, id) {
        case .device(let notification, _):
            return try push(notification, topic: topic, id, after: .zero)
        case .activity(let activity, let event, let address):
            let slot = try timestamps.slot(event, for: address, chosen: delivery.timestamp, within: timeout)
            do throws(APNsError) {
                let push: Push
                switch try request(for: activity, to: destination, topic: topic, delivery, id, at: slot.date) {
                case .push(let notification, _):
                    push = try self.push(notification, topic: topic, id, after: slot.delay)
                case .broadcast(let broadcast):
                    push = Push(headers: PushHeaders(broadcast), body: broadcast.payload, delay: slot.delay)
                }
                // The push is sent after this call, and its result is not reported back, so the timestamp counts as
                // used.
                timestamps.settle(slot, for: address)
                return push
            } catch {
                timestamps.settle(slot, for: address, after: error)
                throw error
            }
        }
    }

    /// Renders a notification as a push that is sent later.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - topic: The app's bundle identifier, without any suffix.
    ///   - id: The identifier of the push, for the error.
    /// - Returns: The push.
    /// - Throws: ``APNsError`` with the code `invalid` when the payload cannot be encoded.
    package func render(
        _ notification: PushNotification,
        topic: Topic,
        id: APNsID
    ) throws(APNsError) -> Push {
        try push(notification, topic: topic, id, after: .zero)
    }

    private func push(
        _ notification: PushNotification,
        topic: Topic,
        _ id: APNsID,
        after delay: Duration
    ) throws(APNsError) -> Push {
        let body = try writing(for: id, notification.payload.encoded)
        return Push(headers: PushHeaders(notification, topic: topic), body: body, delay: delay)
    }

    /// The kind of push for a snapshot.
    enum Plan {
        /// A push to a device, which has no timestamp.
        case device(PushNotification, DeviceToken)
        /// A push to a Live Activity, which is created when its timestamp is known.
        case activity(LiveActivitySnapshot, ActivityTimestamps.Event, ActivityTimestamps.Address)
    }

    /// A push to a Live Activity.
    enum ActivityRequest {
        case push(PushNotification, DeviceToken)
        case broadcast(LiveActivityBroadcast)
    }

    /// The expiration of pushes to surfaces, which are of no use after an hour.
    private var inAnHour: PushNotification.Expiration {
        PushNotification.Expiration(secondsSince1970: clock.secondsSince1970() + 3_600)
    }

    /// Checks a snapshot and selects the kind of push.
    func plan(
        for unchecked: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        _ delivery: SurfaceDelivery,
        _ id: APNsID
    ) throws(APNsError) -> Plan {
        let snapshot: SurfaceSnapshot
        do throws(SurfaceError) {
            snapshot = try unchecked.validated(categories: delivery.categories)
        } catch {
            throw APNsError(.invalid, id: id, description: "the snapshot cannot be sent: \(error)")
        }
        if case .device(let token) = destination {
            let notification = try writing(for: id) { () throws(PayloadError) in
                try silentOrAlert(of: snapshot, delivery, id)
            }
            return .device(notification, token)
        }
        guard case .liveActivity(let activity) = snapshot, let (event, address) = destination.activity(of: topic) else {
            let error = WrongSurfaceKind(wanted: .liveActivity, found: snapshot.kind)
            throw APNsError(.invalid, id: id, description: "the snapshot cannot be sent: \(error)")
        }
        return .activity(activity, event, address)
    }

    func request(
        for activity: LiveActivitySnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        _ delivery: SurfaceDelivery,
        _ id: APNsID,
        at timestamp: Date
    ) throws(APNsError) -> ActivityRequest {
        try writing(for: id) { () throws(PayloadError) -> ActivityRequest in
            switch destination {
            case .device(let token):
                .push(alert(activity.alertPayload, delivery, id), token)
            case .activityStart(let token):
                .push(try start(of: activity, at: timestamp, delivery, id), token)
            case .activity(let token), .activityEnd(let token, _):
                .push(try change(of: activity, at: timestamp, destination, delivery, id), token)
            case .channel(let channel), .channelEnd(let channel, _):
                .broadcast(
                    try LiveActivityBroadcast(
                        update(of: activity, at: timestamp, destination, delivery),
                        on: channel,
                        of: topic,
                        timestamp: timestamp,
                        priority: (delivery.priority ?? .powerAware).priority,
                        expiration: delivery.expiration ?? .attemptOnce
                    )
                )
            }
        }
    }

    /// Returns the push for a device: an alert, or a silent update of a surface.
    private func silentOrAlert(
        of snapshot: SurfaceSnapshot,
        _ delivery: SurfaceDelivery,
        _ id: APNsID
    ) throws(PayloadError) -> PushNotification {
        switch snapshot {
        case .notification(let notification): return alert(notification.payload, delivery, id)
        case .liveActivity(let activity): return alert(activity.alertPayload, delivery, id)
        default: break
        }
        return .background(
            custom: try PushNotification.CustomData(
                json: JSONValue.object([.init("surfaceSnapshot", snapshot.json)]).encoded()
            ),
            expiration: delivery.expiration ?? inAnHour,
            collapseID: delivery.collapseID,
            id: id
        )
    }

    private func alert(_ payload: JSONValue, _ delivery: SurfaceDelivery, _ id: APNsID) -> PushNotification {
        .opaque(
            delivery.compatibility.alert(payload).encoded(),
            pushType: .alert,
            priority: (delivery.priority ?? .immediate).priority,
            expiration: delivery.expiration ?? inAnHour,
            collapseID: delivery.collapseID,
            id: id
        )
    }

    private func start(
        of activity: LiveActivitySnapshot,
        at timestamp: Date,
        _ delivery: SurfaceDelivery,
        _ id: APNsID
    ) throws(PayloadError) -> PushNotification {
        let compatibility = delivery.compatibility
        let standardAlert = LiveActivityAlert(
            title: .plain(activity.surface.title),
            body: .plain(activity.surface.body),
            sound: compatibility.contains(.silentStart) ? nil : .default
        )
        let start = try LiveActivityStart(
            attributesType: delivery.sentAttributesType,
            attributes: activity.attributes.json,
            state: activity.contentState.json,
            alert: delivery.alert ?? standardAlert,
            updateSource: delivery.updateSource,
            staleDate: delivery.staleDate,
            relevanceScore: delivery.relevanceScore
        )
        return try .liveActivity(
            delivery.alert == nil && compatibility.contains(.startWithoutAlert) ? start.withoutAlert() : start,
            timestamp: timestamp,
            priority: delivery.priority ?? (compatibility.contains(.powerAwareStart) ? .powerAware : .immediate),
            expiration: delivery.expiration ?? inAnHour,
            id: id
        )
    }

    private func change(
        of activity: LiveActivitySnapshot,
        at timestamp: Date,
        _ destination: SurfaceDestination,
        _ delivery: SurfaceDelivery,
        _ id: APNsID
    ) throws(PayloadError) -> PushNotification {
        try .liveActivity(
            update(of: activity, at: timestamp, destination, delivery),
            timestamp: timestamp,
            priority: delivery.priority ?? .powerAware,
            expiration: delivery.expiration ?? inAnHour,
            id: id
        )
    }

    private func update(
        of activity: LiveActivitySnapshot,
        at timestamp: Date,
        _ destination: SurfaceDestination,
        _ delivery: SurfaceDelivery
    ) throws(PayloadError) -> LiveActivityUpdate {
        switch destination {
        case .activityEnd(_, let dismissal), .channelEnd(_, let dismissal):
            try .end(
                activity.contentState.json,
                dismissal: dismissal == .immediate && delivery.compatibility.contains(.dismissalAtEnd)
                    ? .at(timestamp) : dismissal,
                alert: delivery.alert,
                staleDate: delivery.staleDate,
                relevanceScore: delivery.relevanceScore
            )
        case .device, .activityStart, .activity, .channel:
            try .update(
                activity.contentState.json,
                alert: delivery.alert,
                staleDate: delivery.staleDate,
                relevanceScore: delivery.relevanceScore
            )
        }
    }
}
